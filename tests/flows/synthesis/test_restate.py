"""Residual risks and deferred questions that repeat a finding are told once."""

import pytest

from assent.flows.synthesis.restate import Restatements
from tests.flows.synthesis.reviews import finding

__all__: list[str] = []

KNOWN = Restatements(
    [
        finding(
            title="Rollback is not described",
            plain_title="Nobody can go back",
            why_it_matters="Operators guess. There is no way back: a release is needed.",
        ),
        finding(title="Late", why_it_matters="Start: late"),
    ]
)


@pytest.mark.parametrize(
    "text",
    [
        "Rollback is not described.",
        "rollback IS not   described",
        "If rollback is not described, the first night is long.",
        "Nobody can go back!",
        "There is no way back",
        "a release is needed",
        "Operators guess. There is no way back: a release is needed.",
        "late",
    ],
    ids=range(8),
)
def test_text_that_repeats_a_finding_is_a_restatement(text: str) -> None:
    """Its title, or a sentence of its reason, in whichever spelling."""
    assert KNOWN.repeats(text)


@pytest.mark.parametrize(
    "text",
    [
        "Rollback is described nowhere but in the annex",
        "The rollback described there is not tested",
        "Start",
        "It may be late",
        "Operators",
        "?!",
    ],
    ids=range(6),
)
def test_text_that_says_something_of_its_own_stays(text: str) -> None:
    """Likeness is a matter of reading, and a word alone is no sentence."""
    assert not KNOWN.repeats(text)
