"""A menu as a comment: its two parts, its letters, and a reply by letter."""

import pytest
from msgspec.structs import replace

from assent.protocol.approval import approval_prompt
from assent.protocol.ask import Again, Ask, AskId, Kind
from assent.protocol.error import GitHubError, UnrecognisedError
from assent.protocol.prompt import Prompt
from assent.surfaces.comment_text import Addressed, read_reply, render_body, render_echo
from tests.samples import NOON, digest_of, new_ask
from tests.surfaces.menus import BLOCK, FINDING, FINDING_LINES, ROUTING, ROUTING_LINES, WITHOUT_B

__all__: list[str] = []


def asked(prompt: Prompt) -> Ask:
    """Return an ask about a finding."""
    return new_ask(1, kind=Kind.FINDING, prompt=prompt, digest=digest_of(prompt))


def test_menu_is_posted_as_its_block_and_its_question() -> None:
    """Nothing stands between them, and how to answer comes after a line."""
    above, _, below = render_body(asked(FINDING), "n0nce", "c0ffee").partition("\n\n---\n")
    assert above.split("\n") == [*BLOCK, "", *FINDING_LINES]
    assert below.startswith("To answer, write a comment that begins with `/gate ")


def test_menu_without_a_block_is_its_question() -> None:
    """The routing question has none."""
    assert render_body(asked(ROUTING), "n0nce", "c0ffee").split("\n")[:6] == [*ROUTING_LINES, ""]


def test_nothing_of_a_block_reaches_into_the_question() -> None:
    """A fence that was never closed is closed, and a comment is shown."""
    body = render_body(asked(replace(FINDING, body="<!-- x\n```\nno end")), "n0nce", "c0ffee")
    shown = "\n".join(["&lt;!-- x", "```", "no end", "```", "", FINDING_LINES[0]])
    assert body.startswith(shown)
    assert body.count("<!--") == 1


def test_block_that_is_too_long_is_cut_and_the_question_stays_whole() -> None:
    """The sentence says that something is missing."""
    body = render_body(asked(replace(FINDING, body="x" * 80_000)), "n0nce", "c0ffee")
    assert len(body) <= 65_000
    assert "**Cut here:**" in body
    assert "\n\n" + "\n".join(FINDING_LINES) + "\n\n---\n" in body


def test_question_that_leaves_no_room_is_not_posted() -> None:
    """It could not be understood."""
    options = tuple(replace(option, label=option.label + "&" * 1_900) for option in FINDING.fields[0].options)
    wide = replace(FINDING.fields[0], options=tuple(replace(o, description="<b>" * 6_000) for o in options))
    with pytest.raises(GitHubError, match="too long for a comment"):
        render_body(asked(replace(FINDING, body="x" * 80_000, fields=(wide,))), "n0nce", "c0ffee")


@pytest.mark.parametrize("typed", ["C", "c.", "2", "Skip", "2. Skip — don't apply, don't append"])
def test_reply_by_letter_number_or_label_is_plainly_an_answer(typed: str) -> None:
    """The letter is the option's own, also where B is missing."""
    assert read_reply(asked(WITHOUT_B), typed, is_only=True) == Addressed(typed)
    assert read_reply(asked(WITHOUT_B), "B", is_only=True) is None


def test_echo_lists_the_options_with_their_letters() -> None:
    """And nothing of the context (G18)."""
    echo = render_echo(asked(WITHOUT_B), UnrecognisedError('I didn\'t recognize "B".'), 7)
    assert echo.split("\n")[:3] == ['I didn\'t recognize "B".', "", "A. Apply the proposed fix"]
    assert "\nC. Skip — don't apply, don't append (recommended)\n" in echo


def test_approval_that_is_asked_again_shows_the_earlier_no() -> None:
    """Who, when and why, and the asker's reason, marked as theirs, above what would be done."""
    prompt = approval_prompt("Drop it?", {"drop": "users"})
    earlier = Again("It is **Monday**\n<!-- x", AskId("ask_0"), "human:ana", NOON, "not on a Friday")
    ask = new_ask(1, kind=Kind.APPROVAL, prompt=prompt, digest=digest_of(prompt), again=earlier)
    lines = render_body(ask, "n0nce", "c0ffee").split("\n")
    assert lines[0].startswith("ana said no to this action at ")
    assert lines[0].endswith(' Reason: "not on a Friday".')
    assert lines[1] == "Asked again, in the asker's words:"
    assert [line[0] for line in lines[2:4]] == [":", ":"]
    assert "<!-- x" not in "\n".join(lines[:6])
    assert lines[5] == "Drop it?"
