"""Stories of the four ways to ask, on the command line: by id, shown, answered, and refused where they do not fit."""

import json
from collections.abc import Callable

import pytest

from tests.cli.shell import Result, Shell
from tests.proves import proves

__all__: list[str] = []

Call = Callable[..., Result]
SINGLE_CLOSED, SINGLE_FREE = "ask-single-question-closed", "ask-single-question-free"
MULTI_CLOSED, MULTI_FREE = "ask-multi-question-closed", "ask-multi-question-free"
DATABASES = ("-o", "PostgreSQL", "-o", "SQLite")
ROUND = {
    "title": "Setup",
    "fields": [
        {
            "name": "db",
            "text": "Which database?\nAs in staging, where PostgreSQL runs.",
            "options": [{"key": "pg", "label": "PostgreSQL"}, {"key": "lite", "label": "SQLite"}],
        },
        {
            "name": "day",
            "text": "Which day?",
            "options": [{"key": "mon", "label": "Monday"}, {"key": "fri", "label": "Friday"}],
        },
    ],
}


def opened(call: Call, *arguments: str) -> str:
    """Ask, and return the id."""
    asked = call("ask", *arguments, "--no-wait")
    assert asked.status == 0, asked.err
    return asked.out.strip()


@proves("C1", "C2")
def test_protocols_go_by_their_ids_in_asks_and_in_plans(call: Call, shell: Shell) -> None:
    """Four are asked by; the other two belong to a plan, and are sent there."""
    listed = call("ask", "--list-protocols").out
    assert [name in listed for name in (SINGLE_CLOSED, SINGLE_FREE, MULTI_CLOSED, MULTI_FREE)] == [True] * 4
    for name in ("yield-human-confirm", "yield-ai-confirm"):
        refused = call("ask", "Go on?", *DATABASES, "--protocol", name, "--no-wait")
        assert (refused.status, "see assent confirm" in refused.err) == (2, True)
    plan = shell.folder / "plan.xml"
    for name, is_known in (("yield-human-confirm", True), (SINGLE_CLOSED, False)):
        confirm = f'<confirm protocol="{name}" when="before" status="TODO"/>'
        plan.write_text(PLAN.replace("CONFIRM", confirm))
        assert (call("plan", "check", "plan.xml").status == 0) is is_known


PLAN = """\
<plan>
  <metadata>
    <track_id>add-cache</track_id><track_name>Cache</track_name><goal>Faster</goal>
    <created_at>2026-01-01T00:00:00Z</created_at><updated_at>2026-01-01T00:00:00Z</updated_at>
    <status>new</status><commit_mode>manual</commit_mode>
  </metadata>
  <phases><phase id="P1" name="Build">CONFIRM<goal>It works</goal>
    <tasks><task id="T1.1" name="Write it" status="TODO" priority="P0">Write.</task></tasks>
  </phase></phases>
</plan>
"""


@proves("C3", "C4", "C5", "C6")
def test_closed_question_is_lettered_and_takes_nothing_else(call: Call) -> None:
    """By letter in any case, by label; other words leave it open, the second time as the first."""
    ask = opened(call, "Which database?", *DATABASES, "--protocol", SINGLE_CLOSED, "--key", "db")
    shown = call("show", ask).out
    assert "A) PostgreSQL\n" in shown
    assert "B) SQLite\n" in shown
    assert "C)" not in shown
    for wrong in ("MySQL", "C", "MySQL"):
        refused = call("answer", ask, wrong)
        assert refused.status == 2
        assert f'I didn\'t recognize "{wrong}".' in refused.err
    assert opened(call, "Which database?", *DATABASES, "--protocol", SINGLE_CLOSED, "--key", "db") == ask
    assert call("answer", ask, "b)").status == 0
    assert json.loads(call("show", ask, "--json").out)["answer"]["values"] == {"q1": ["SQLite"]}


@proves("C4", "C6", "C16", "C18")
@pytest.mark.parametrize(
    ("protocol", "arguments", "sentence"),
    [
        (SINGLE_CLOSED, ("Why?",), "only options are answers"),
        (SINGLE_CLOSED, ("Which?", *DATABASES, "--free"), "takes any text"),
        (SINGLE_CLOSED, ("--file", "round.json"), "one question is asked at a time"),
        (MULTI_CLOSED, ("Which?", *DATABASES), "at least 2 questions"),
    ],
    ids=["no options", "free", "two questions", "one question"],
)
def test_question_that_does_not_fit_its_protocol_is_not_asked(
    call: Call, shell: Shell, protocol: str, arguments: tuple[str, ...], sentence: str
) -> None:
    """It is refused before anybody sees it."""
    (shell.folder / "round.json").write_text(json.dumps(ROUND))
    refused = call("ask", *arguments, "--protocol", protocol, "--no-wait")
    assert refused.status == 2
    assert sentence in refused.err
    assert call("inbox", "--json").out == '{"asks":[]}\n'


@proves("C8", "C9", "C10", "C11", "C12", "C13")
@pytest.mark.parametrize("label", ["其他（可填写）", "Another one"])
def test_free_question_ends_with_a_position_for_own_words(call: Call, label: str) -> None:
    """Two suggestions and the free one, under the asker's label; many suggestions are asked as they are."""
    ask = opened(call, "Which?", *DATABASES, "--protocol", SINGLE_FREE, "--other", label)
    assert f"  A) PostgreSQL\n  B) SQLite\n  C) {label}\n\n" in call("show", ask).out
    assert call("answer", ask, "C) MySQL").status == 0
    assert json.loads(call("show", ask, "--json").out)["answer"]["values"] == {"q1": ["MySQL"]}
    many = [part for name in "vwxyz" for part in ("-o", f"Option {name}")]
    assert "F) Other: type your answer\n" in call("show", opened(call, "Which?", *many, "--free")).out


@proves("C15", "C17", "C18", "C19", "C20")
def test_closed_round_is_shown_with_its_context_and_answered_by_label(call: Call, shell: Shell) -> None:
    """Each question by its number, with what helps to answer it; one that is wrong leaves all of it open."""
    (shell.folder / "round.json").write_text(json.dumps(ROUND))
    ask = opened(call, "--file", "round.json", "--protocol", MULTI_CLOSED)
    shown = call("show", ask).out
    assert (
        "Q1 Which database?\n: As in staging, where PostgreSQL runs.\n  A) PostgreSQL\n  B) SQLite\n\n"
        in shown
    )
    assert "Q2 Which day?\n  A) Monday\n  B) Friday\n\n" in shown
    assert "as in `q1: <answer>`" in shown
    assert call("answer", ask, "q1: b\nq2: Sunday").status == 2
    assert call("answer", ask, "Q1: b\n------\nq2: friday").status == 0
    values = json.loads(call("show", ask, "--json").out)["answer"]["values"]
    assert values == {"db": ["lite"], "day": ["fri"]}
