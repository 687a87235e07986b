"""`assent plan`: what is wrong with a plan, a line each, and how far it is, as a tree."""

import json
from collections.abc import Callable

import pytest

from tests.cli.shell import Result, Shell, Terminal
from tests.protocol.plans import GOOD
from tests.proves import proves
from torture.hostile_cases import hidden_in

__all__: list[str] = []

Call = Callable[..., Result]


def write(shell: Shell, text: str = GOOD) -> None:
    """Put a plan into the folder."""
    (shell.folder / "plan.xml").write_bytes(text.encode())


def test_check_of_a_good_plan_says_so(call: Call, shell: Shell) -> None:
    """One line and exit status 0; no store is made."""
    write(shell)
    assert call("plan", "check", "plan.xml") == Result(
        0, "plan.xml: 1 phase, 2 tasks, 2 confirms; no errors\n", ""
    )
    assert [path.name for path in shell.folder.iterdir()] == ["plan.xml"]


@proves("C24", "C37")
def test_check_of_a_bad_plan_tells_file_line_and_reason(call: Call, shell: Shell) -> None:
    """A line for each thing, warnings among the errors, and exit status 1."""
    write(
        shell,
        GOOD.replace(' when="both"', "").replace(' ai-agent="critic"', "").replace('"P1" name', '"p" name'),
    )
    checked = call("plan", "check", "plan.xml")
    assert (checked.status, checked.err) == (1, "plan.xml: 2 errors, 1 warning\n")
    assert checked.out.splitlines() == [
        'plan.xml:13: warning: phase "p": an id of a phase looks like P1.',
        "plan.xml:15: error: this confirm has no when.",
        "plan.xml:25: error: this confirm has no ai-agent.",
    ]


def test_check_with_warnings_only_passes(call: Call, shell: Shell) -> None:
    """Warnings do not fail (C-U6)."""
    write(shell, GOOD.replace('"P1" name', '"p" name'))
    checked = call("plan", "check", "plan.xml")
    assert checked.status == 0
    assert checked.out.endswith("; no errors, 1 warning\n")


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("<plan>\n</plam>", 2, "this is not well-formed XML (mismatched tag)."),
        ("<!DOCTYPE plan><plan/>", 1, "a plan has no document type and no entities of its own."),
        ("", 1, "this is not well-formed XML (no element found)."),
    ],
)
def test_check_of_what_cannot_be_read_has_the_same_form(
    call: Call, shell: Shell, text: str, line: int, reason: str
) -> None:
    """Exit status 1; `show` says the same on standard error."""
    write(shell, text)
    checked = call("plan", "check", "plan.xml")
    assert (checked.status, checked.out) == (1, f"plan.xml:{line}: error: {reason}\n")
    assert call("plan", "show", "plan.xml") == Result(1, "", f"plan.xml:{line}: {reason}\n")


def test_file_that_is_not_there_has_the_same_form(call: Call) -> None:
    """And a folder, and a name that no file can have."""
    for name in ("none.xml", "."):
        checked = call("plan", "check", name)
        assert (checked.status, checked.out.startswith(f"{name}:1: error: it cannot be read: ")) == (1, True)
    assert call("plan", "show", "none.xml").status == 1


def test_check_as_json_tells_the_same(call: Call, shell: Shell) -> None:
    """For programs."""
    write(shell, GOOD.replace(' when="both"', ""))
    checked = call("plan", "check", "plan.xml", "--json")
    assert checked.status == 1
    assert checked.json == {
        "ok": False,
        "file": "plan.xml",
        "phases": 1,
        "tasks": 2,
        "confirms": 2,
        "problems": [{"line": 15, "level": "error", "message": "this confirm has no when."}],
    }
    write(shell)
    assert call("plan", "check", "plan.xml", "--json").json["ok"] is True


def test_show_draws_phases_tasks_subtasks_and_confirms_to_come(call: Call, shell: Shell) -> None:
    """A phase's status follows from its tasks; a `both` of which one half is done still has the other."""
    write(shell, GOOD.replace('"both" status="TODO"', '"both" status="DONE"'))
    assert call("plan", "show", "plan.xml").out == (
        "add-login Log in  in_progress\n"
        "└─ P1 Base  IN_PROGRESS\n"
        "   ├─ confirm after: a person  before DONE\n"
        "   ├─ T1.1 Table  DONE\n"
        "   │  ├─ T1.1.1 Columns  DONE\n"
        "   │  └─ T1.1.2 Index  CANCELLED\n"
        "   └─ T1.2 Form  TODO\n"
        "      └─ confirm after: reviewer critic  TODO\n"
        "\n"
        "1 phase, 2 tasks (1 TODO, 1 DONE); 2 confirms to come.\n"
    )


def test_show_of_a_plan_with_errors_shows_it_and_says_where_to_look(call: Call, shell: Shell) -> None:
    """A plan that is being written is looked at too."""
    write(shell, GOOD.replace(' priority="P1"', ""))
    shown = call("plan", "show", "plan.xml")
    assert (shown.status, shown.out.splitlines()[-1]) == (0, "1 error: see assent plan check plan.xml")


def test_show_as_json_is_the_tree(call: Call, shell: Shell) -> None:
    """With the moments that are to come."""
    write(shell)
    tree = call("plan", "show", "plan.xml", "--json").json
    assert tree["phases"][0]["status"] == "IN_PROGRESS"
    assert tree["phases"][0]["confirms"][0]["moments"] == ["before", "after"]
    assert tree["phases"][0]["tasks"][1]["confirms"][0]["ai_agent"] == "critic"


def test_hostile_text_of_a_plan_is_shown_and_not_obeyed(call: Call, shell: Shell) -> None:
    """Marks and orders of writing are made visible, in both commands."""
    write(
        shell, GOOD.replace("Base", "Ba\u202ese\u200b\x85").replace('status="DONE"', 'status="DO\u200bNE"', 1)
    )
    for verb in ("show", "check"):
        shown = call("plan", verb, "plan.xml").out
        assert "<U+200B>" in shown
        assert hidden_in(shown) == []


def test_tree_on_a_narrow_terminal_stays_within_it(shell: Shell) -> None:
    """Colour where there is a terminal, Chinese names two columns a sign, and no line that is broken."""
    write(shell, GOOD.replace("Base", "登录" * 40).replace("Form", "a long name " * 10))
    with Terminal(shell, "plan", "show", "plan.xml", columns=40, stdout_too=True) as terminal:
        ended = terminal.end()
        lines = [line for line in terminal.screen() if line]
    assert ended.status == 0
    assert "\x1b[32mDONE\x1b[0m" in ended.err
    drawn = [line for line in lines if "─" in line]
    assert len(drawn) == 7
    words = ["IN_PROGRESS", "TODO", "DONE", "DONE", "CANCELLED", "TODO", "TODO"]
    assert [line.split()[-1] for line in drawn] == words


def test_no_colour_is_written_to_a_pipe(shell: Shell) -> None:
    """Programs read it too."""
    write(shell)
    shown = shell.run("plan", "show", "plan.xml")
    assert (shown.status, "\x1b" in shown.out) == (0, False)
    assert json.loads(shell.run("plan", "check", "plan.xml", "--json").out)["ok"] is True
