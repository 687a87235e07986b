"""The words of a document review, as the protocol has them."""

import msgspec
import pytest

from assent.protocol.finding import (
    Action,
    Anchor,
    AutofixClass,
    Edit,
    Finding,
    FindingType,
    Intake,
    RawFinding,
    ReviewerOutput,
    Severity,
)

__all__: list[str] = []


def test_vocabulary_is_the_one_of_the_protocol() -> None:
    """W-U1, spelled as there; severities from worst to least, classes from what needs least of a person."""
    assert " ".join(Severity) == "P0 P1 P2 P3"
    assert " ".join(FindingType) == "error omission"
    assert " ".join(AutofixClass) == "safe_auto gated_auto manual"
    assert " ".join(Action) == "Apply Defer Skip"


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (ReviewerOutput, "reviewer findings residual_risks deferred_questions"),
        (RawFinding, "title severity section why_it_matters finding_type autofix_class confidence evidence"),
        (
            Finding,
            "id title severity section why_it_matters finding_type autofix_class confidence recommended_action",
        ),
    ],
    ids=["output", "finding", "merged finding"],
)
def test_what_is_needed_is_what_the_protocol_needs(kind: type[msgspec.Struct], names: str) -> None:
    """W-U1: the required fields, under their names."""
    fields = msgspec.structs.fields(kind)
    assert " ".join(each.encode_name for each in fields if each.required) == names


@pytest.mark.parametrize("anchor", range(-25, 130, 5))
def test_anchor_is_one_of_five(anchor: int) -> None:
    """W-U2: nothing between them, and nothing beyond."""
    try:
        msgspec.convert(anchor, Anchor)
    except msgspec.ValidationError:
        assert anchor not in (0, 25, 50, 75, 100)
    else:
        assert anchor in (0, 25, 50, 75, 100)


@pytest.mark.parametrize(("fix", "has_fix"), [(None, False), ("", False), (" \n", False), ("Do it.", True)])
def test_finding_has_a_fix_when_there_are_words(fix: str | None, *, has_fix: bool) -> None:
    """An exact change alone is none: people are asked about the words."""
    found = Finding(
        "F1",
        "t",
        Severity.P1,
        "s",
        "w",
        FindingType.ERROR,
        AutofixClass.MANUAL,
        75,
        Action.DEFER,
        suggested_fix=fix,
        edit=Edit("a", "b"),
    )
    assert found.has_fix is has_fix
    assert msgspec.json.decode(msgspec.json.encode(found), type=Finding) == found


def test_empty_merged_set_is_not_no_merged_set() -> None:
    """A set without findings is one; an intake of outputs has none."""
    assert (Intake().merged, Intake(merged=()).merged) == (None, ())
