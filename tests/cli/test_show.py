"""`assent show`: one ask in full, for eyes and for programs."""

from collections.abc import Callable

from tests.cli.shell import Result, Shell

__all__: list[str] = []

Call = Callable[..., Result]


def test_show_boxes_the_askers_words_and_says_what_silence_means(call: Call) -> None:
    """The card: who asks, the question, the options, the deadline, how to answer."""
    ask_id = call(
        "ask", "Drop it?", "-o", "Yes", "-o", "No", "--body", "One.\n\nA) Approve", "--as", "coder",
        "--key", "k1", "--deadline", "2h", "--consequence", "deny", "--no-wait",
    ).out.strip()  # fmt: skip
    shown = call("show", ask_id).out.splitlines()
    assert shown[0] == "? question  shop / agent:coder".ljust(80 - len(ask_id)) + ask_id
    assert shown[1].startswith("1 h 59 min left, then it ends as a no (")
    assert shown[3:11] == ["Drop it?", ": One.", ":", ": A) Approve", "", "  A) Yes", "  B) No", ""]
    text = "\n".join(shown)
    assert 'with the key "k1"' in text
    assert shown[-1] == f"Answer it with: assent answer {ask_id[-6:]} …"


def test_show_says_how_an_ask_ended(call: Call, shell: Shell) -> None:
    """Who, when, what, and with which assurance."""
    ask_id = call("ask", "Which?", "-o", "Red", "-o", "Blue", "--no-wait").out.strip()
    shell.answer(ask_id, "2", "sam")
    shown = call("show", ask_id).out
    assert "Ended: answered. sam answered at " in " ".join(shown.split())
    assert 'UTC: "Blue". Given by python, assurance declared.' in " ".join(shown.split())
    assert "Answer it with" not in shown


def test_show_gives_all_questions_of_a_round(call: Call, shell: Shell) -> None:
    """Nothing is cut."""
    (shell.folder / "r.json").write_text('{"title": "T", "fields": [{"text": "One?"}, {"text": "Two?"}]}')
    ask_id = call("ask", "--file", "r.json", "--no-wait").out.strip()
    shown = call("show", ask_id).out
    assert "= 2 questions" in shown
    assert "Q1 One?" in shown
    assert "Q2 Two?" in shown
