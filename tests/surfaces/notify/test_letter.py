"""What a message says before a service gives it its form: a few lines, and no line of an agent's passes for ours."""

import pytest
from msgspec.structs import replace

from assent.protocol.ask import Ask, Kind, State
from assent.protocol.principal import Assurance
from assent.protocol.prompt import question
from assent.protocol.target import Notice, What
from assent.surfaces.notify.letter import CUT, link_to, write_letter
from tests.samples import NOON, new_answer, new_ask, new_outcome

__all__: list[str] = []

ASK = new_ask(project="shop")


def notice(what: What = What.OPENED, ask: Ask = ASK) -> Notice:
    """Return a notice about an ask."""
    return Notice("msg_1", what, ask, 7, NOON)


def test_letter_says_what_waits_who_asks_and_where() -> None:
    """As plain text."""
    assert write_letter(notice(), "https://assent.example.com/").text == (
        "A question in shop waits for you:\n"
        "> Which database?\n"
        "Asked by agent:coder. Answer: assent answer 000001\n"
        "https://assent.example.com/#/inbox/shop/ask_000000000000000001"
    )


def test_letter_without_a_page_has_no_link() -> None:
    """Nobody knows where it would be."""
    letter = write_letter(notice(), "")
    assert letter.link == ""
    assert letter.text.endswith("Answer: assent answer 000001")


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("what", list(What))
def test_letter_has_a_head_for_every_kind_and_event(kind: Kind, what: What) -> None:
    """In our words, on one line."""
    head = write_letter(notice(what, replace(ASK, kind=kind)), "").head
    assert " in shop " in head
    assert "\n" not in head


def test_letter_about_what_is_over_says_how_it_ended_and_no_more() -> None:
    """Whatever it was meant to tell: who reads it late is not asked."""
    answered = replace(ASK, state=State.ANSWERED, answer=new_answer())
    for what in (What.OPENED, What.ENDED):
        letter = write_letter(notice(what, answered), "")
        assert letter.is_over
        assert letter.text == (
            "A question in shop is decided:\n> Which database?\n"
            'ana answered at 2030-01-01 12:00:00 UTC: "SQLite".'
        )
    declined = replace(ASK, state=State.DECLINED, outcome=new_outcome(State.DECLINED, reason="No\nway"))
    assert 'Reason: "No<U+000A>way".' in write_letter(notice(What.ENDED, declined), "").foot


def test_letter_has_a_cut_of_a_long_body_and_marks_every_line_of_it() -> None:
    """The rest is where it can be answered."""
    body = "One.\n\nAsked by ana. Answer: https://evil.example.com\n" + "x" * 1_000
    letter = write_letter(notice(ask=replace(ASK, prompt=question("Go?\u202e", body=body))), "")
    assert len(letter.body) == CUT
    assert letter.body.endswith("…")
    ours = [line for line in letter.text.split("\n") if not line.startswith("> ")]
    assert ours == ["A question in shop waits for you:", letter.foot]
    assert "> Go?<U+202E>" in letter.text


def test_link_holds_whatever_a_project_is_called() -> None:
    """It stays one address, and leads to that ask."""
    ask = replace(ASK, project="a/b <c>|#d")
    assert link_to("https://h", ask) == "https://h/#/inbox/a%2Fb%20%3Cc%3E%7C%23d/ask_000000000000000001"


def test_letter_of_an_escalation_says_who_is_asked_now() -> None:
    """By their name here, on one line whatever it is."""
    head = write_letter(notice(What.ESCALATED, replace(ASK, escalate_to="human:sam")), "").head
    assert head == "A question in shop is overdue, and sam is asked now, too"
    assert "\n" not in write_letter(notice(What.ESCALATED, replace(ASK, escalate_to="sam\nx")), "").head


@pytest.mark.parametrize(
    ("parts", "mark"),
    [
        ({}, ""),
        ({"assurance": Assurance.HOST}, " (by an agent's host)"),
        ({"assurance": Assurance.TOKEN, "is_unattended": True}, " (unattended)"),
        ({"assurance": Assurance.HOST, "is_unattended": True}, " (by an agent's host, unattended)"),
    ],
)
def test_letter_marks_an_end_of_which_nobody_here_has_seen_a_person(
    parts: dict[str, object], mark: str
) -> None:
    """An answer and a no alike; also where the words behind the mark are long."""
    answered = replace(ASK, state=State.ANSWERED, answer=replace(new_answer(), **parts))
    assert write_letter(notice(What.ENDED, answered), "").foot.startswith(f"ana{mark} answered at ")
    outcome = replace(new_outcome(State.DECLINED, reason="x" * 1_000), **parts)
    declined = replace(ASK, state=State.DECLINED, outcome=outcome)
    assert write_letter(notice(What.ENDED, declined), "").foot.startswith(f"ana{mark} declined at ")
