"""What is wrong with a plan is told with its line, all at once; what is only odd is a warning."""

import pytest

from assent.protocol.plan import Moment, parse_plan
from assent.protocol.plan_check import METADATA, Problem, check_plan
from assent.protocol.plan_tree import build_tree, derive_status
from tests.protocol.plans import GOOD, STATUS_WORDS
from tests.proves import proves

__all__: list[str] = []

HUMAN = '<confirm protocol="yield-human-confirm" when="both" status="TODO"/>'
AI = '<confirm protocol="yield-ai-confirm" when="after" ai-agent="critic" status="TODO"/>'


def check(*changes: tuple[str, str]) -> list[tuple[str, int, str]]:
    """Return what is told of the good plan with some words changed."""
    text = GOOD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    found = check_plan(parse_plan(text.encode()))
    return [("error" if each.is_error else "warning", each.line, each.message) for each in found]


def only(*changes: tuple[str, str]) -> tuple[str, str]:
    """Return the one thing that is told."""
    (level, _, message), *others = check(*changes)
    assert not others, others
    return level, message


def test_good_plan_has_no_problem() -> None:
    """Children in any order, optional parts left out."""
    assert check() == []
    assert check(("  <metadata>", "  <summary>x</summary><risks/>\n  <metadata>")) == []


@pytest.mark.parametrize("name", METADATA)
def test_metadata_without_one_of_its_seven_fields_is_an_error(name: str) -> None:
    """Missing and empty are the same (C-U6)."""
    start, end = GOOD.index(f"<{name}>"), GOOD.index(f"</{name}>") + len(name) + 3
    whole = GOOD[start:end]
    assert only((whole, "")) == ("error", f"the metadata has no {name}.")
    assert only((whole, f"<{name}> </{name}>")) == ("error", f"the metadata has no {name}.")
    assert only((whole, whole * 2)) == ("error", f"the metadata has more than one {name}.")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (">in_progress<", ">running<", 'status "running" is none of new, in_progress, completed, cancelled.'),
        (">auto<", ">Auto<", 'commit_mode "Auto" is none of auto, manual.'),
        (">2026-01-02T03:04:05Z<", ">yesterday<", 'created_at is no ISO 8601 time: "yesterday".'),
        (
            ">2026-01-02T03:04:05Z<",
            ">2026-01-02 03:04<",
            'created_at is no ISO 8601 time: "2026-01-02 03:04".',
        ),
        (">2026-01-02T03:04:05Z<", ">2026-13-02<", 'created_at is no ISO 8601 time: "2026-13-02".'),
        ('id="P1" ', "", "this phase has no id."),
        (' name="Base"', "", 'phase "P1" has no name.'),
        (' name="Table"', ' name=" "', 'task "T1.1" has no name.'),
        (' name="Form" status="TODO"', ' name="Form"', 'task "T1.2" has no status.'),
        (' priority="P1"', "", 'task "T1.2" has no priority.'),
        (' priority="P1"', ' priority="P3"', 'task "T1.2": priority "P3" is none of P0, P1, P2.'),
        (
            'name="Form" status="TODO"',
            'name="Form" status="todo"',
            'task "T1.2": status "todo" is none of TODO, IN_PROGRESS, DONE, BLOCKED, CANCELLED.',
        ),
        (
            'name="Index" status="CANCELLED"',
            'name="Index" status="NO"',
            'subtask "T1.1.2": status "NO" is none of TODO, IN_PROGRESS, DONE, BLOCKED, CANCELLED.',
        ),
        ('"T1.1.2"', '"T1.1.1"', 'the id "T1.1.1" is taken, by line 19.'),
        (">T1.1<", ">T1.1, T4.2,<", 'task "T1.2" depends on "T4.2", which is not there.'),
        ("<plan>\n", "<plan>\n<metadata/>", "the plan has more than one metadata."),
    ],
)
def test_what_a_plan_must_have_and_has_not_is_an_error(old: str, new: str, message: str) -> None:
    """Missing parts, words outside the lists, doubled ids, unknown dependencies (C-U6)."""
    assert ("error", message) in [(level, told) for level, _, told in check((old, new))]


def test_plan_of_another_root_or_without_its_parts_is_an_error() -> None:
    """Root, metadata, a phase and a task."""
    assert only(("<plan>", "<project>"), ("</plan>", "</project>")) == (
        "error",
        "the root of a plan is <plan>, not <project>.",
    )
    found = check_plan(parse_plan(b"<plan/>"))
    assert found == (
        Problem(1, "the plan has no metadata."),
        Problem(1, "the plan has no phase."),
        Problem(1, "the plan has no task."),
    )


@proves("C23", "C24", "C25", "C36", "C37")
@pytest.mark.parametrize(
    ("confirm", "message"),
    [
        ('<confirm when="both" status="TODO"/>', "this confirm has no protocol."),
        ('<confirm protocol="yield-human-confirm" status="TODO"/>', "this confirm has no when."),
        ('<confirm protocol="yield-human-confirm" when="both"/>', "this confirm has no status."),
        ('<confirm protocol="yield-human-confirm" when="" status="TODO"/>', "this confirm has no when."),
        (
            '<confirm protocol="yield-confirm" when="both" status="TODO"/>',
            'this confirm\'s protocol "yield-confirm" is none of yield-human-confirm, yield-ai-confirm.',
        ),
        (
            '<confirm protocol="yield-human-confirm" when="later" status="TODO"/>',
            'this confirm\'s when "later" is none of before, after, both.',
        ),
        (
            '<confirm protocol="yield-human-confirm" when="both" status="done"/>',
            'this confirm\'s status "done" is none of TODO, IN_PROGRESS, DONE, BLOCKED, CANCELLED.',
        ),
        ('<confirm protocol="yield-ai-confirm" when="both" status="TODO"/>', "this confirm has no ai-agent."),
        (
            '<confirm protocol="yield-ai-confirm" when="both" ai-agent=" " status="TODO"/>',
            "this confirm has no ai-agent.",
        ),
    ],
)
def test_confirm_that_lacks_a_value_or_has_none_that_there_is_is_an_error(confirm: str, message: str) -> None:
    """A missing value is reported as missing (C-U6), also in an owner without an id."""
    assert only((HUMAN, confirm)) == ("error", message)
    assert ("error", message) in [(told[0], told[2]) for told in check((HUMAN, confirm), ('id="P1" ', ""))]


@proves("C24", "C25")
@pytest.mark.parametrize("when", ["before", "after", "both"])
@pytest.mark.parametrize("status", STATUS_WORDS)
def test_confirm_with_each_legal_moment_and_status_is_fine(when: str, status: str) -> None:
    """All fifteen."""
    assert check((HUMAN, HUMAN.replace("both", when).replace("TODO", status))) == []


@pytest.mark.parametrize(
    "place", ["<plan>", "<phases>", "<tasks>", "<subtasks>", "      <goal>", "<dependencies>"]
)
def test_confirm_elsewhere_than_in_a_phase_or_task_is_an_error(place: str) -> None:
    """Direct children only (C-X12)."""
    assert only((place, place + HUMAN)) == ("error", "a confirm stands directly in a phase or a task.")


def test_odd_confirms_are_warnings() -> None:
    """A reviewer on a person's confirm, and two of one protocol and moment (C-X12)."""
    assert only((HUMAN, HUMAN.replace("when", 'ai-agent="critic" when')))[0] == "warning"
    twice = only((HUMAN, HUMAN + HUMAN.replace("both", "after")))
    assert twice == ("warning", "there is another yield-human-confirm for the same moment above.")
    assert check((HUMAN, HUMAN.replace("both", "before") + HUMAN.replace("both", "after"))) == []
    assert check((HUMAN, HUMAN + AI)) == []


def test_task_that_is_done_over_an_open_subtask_is_an_error() -> None:
    """Whoever reads DONE goes on."""
    for status in ("TODO", "IN_PROGRESS", "BLOCKED"):
        told = only(('name="Index" status="CANCELLED"', f'name="Index" status="{status}"'))
        assert told == ("error", f'task "T1.1" is DONE, but subtask "T1.1.2" is {status}.')
    assert only(('name="Table" status="DONE"', 'name="Table" status="TODO"'))[0] == "warning"


def test_completed_plan_with_an_open_task_is_an_error() -> None:
    """The plan is its tasks' parent too."""
    told = only((">in_progress<", ">completed<"))
    assert told == ("error", 'the plan is completed, but task "T1.2" is TODO.')


@pytest.mark.parametrize(
    "change",
    [
        ('"P1" name', '"first" name'),
        ('"T1.2"', '"second"'),
        ('"T1.1.2"', '"T1.1b"'),
        ('<phase id="P1"', '<phase status="DONE" id="P1"'),
        (">T1.1<", ">T1.2<"),
        (">T1.1<", ">P1<"),
        (' name="Columns"', ""),
        ("<commit_mode>", "<type>story</type><commit_mode>"),
    ],
)
def test_what_is_odd_and_has_one_reading_is_a_warning(change: tuple[str, str]) -> None:
    """Such a plan passes."""
    assert only(change)[0] == "warning"


def test_parts_outside_their_hierarchy_are_errors_and_without_their_group_warnings() -> None:
    """Phase, task, subtask, in this order (C-U1)."""
    assert [told[0] for told in check(("<phases>", ""), ("</phases>", ""))] == ["warning"]
    assert [told[0] for told in check(("<tasks>", ""), ("</tasks>", ""))] == ["warning"] * 2
    stray = '<task id="T2.1" name="x" status="TODO" priority="P0"/>'
    assert only(("<phases>", stray + "<phases>"))[0] == "error"
    assert only(("<dependencies>", stray + "<dependencies>"))[0] == "error"


def test_all_problems_are_told_in_the_order_of_the_file() -> None:
    """One run of the command is enough to mend a plan."""
    found = check((">auto<", ">x<"), (' priority="P0"', ""), (' when="after"', ""), (">in_progress<", "><"))
    assert [line for _, line, _ in found] == sorted(line for _, line, _ in found)
    assert len(found) == 4


@pytest.mark.parametrize(
    ("statuses", "derived"),
    [
        ([], "TODO"),
        (["TODO", "TODO"], "TODO"),
        (["TODO", "DONE"], "IN_PROGRESS"),
        (["TODO", "IN_PROGRESS"], "IN_PROGRESS"),
        (["TODO", "CANCELLED"], "TODO"),
        (["DONE", "CANCELLED"], "DONE"),
        (["CANCELLED"], "CANCELLED"),
        (["DONE", "IN_PROGRESS", "BLOCKED"], "BLOCKED"),
        (["DONE", "nonsense"], "IN_PROGRESS"),
    ],
)
def test_status_of_a_phase_follows_from_its_tasks(statuses: list[str], derived: str) -> None:
    """What is blocked comes first (C-U2)."""
    assert derive_status(statuses) == derived


@pytest.mark.parametrize(
    ("when", "status", "work", "to_come"),
    [
        ("before", "TODO", "TODO", ["before"]),
        ("after", "BLOCKED", "DONE", ["after"]),
        ("after", "DONE", "DONE", None),
        ("both", "CANCELLED", "TODO", None),
        ("both", "TODO", "TODO", ["before", "after"]),
        ("both", "DONE", "IN_PROGRESS", ["after"]),
        ("both", "IN_PROGRESS", "DONE", ["after"]),
        ("both", "DONE", "DONE", None),
        ("later", "TODO", "TODO", []),
    ],
)
def test_halves_of_a_confirm_that_are_to_come(
    when: str, status: str, work: str, to_come: list[Moment] | None
) -> None:
    """By its own status and by how far its owner's work is (C-X4)."""
    text = GOOD.replace(AI, HUMAN.replace("both", when).replace("TODO", status))
    text = text.replace('name="Form" status="TODO"', f'name="Form" status="{work}"')
    confirms = build_tree(parse_plan(text.encode())).phases[0].tasks[1].confirms
    assert [[*confirm.moments] for confirm in confirms] == ([] if to_come is None else [to_come])


def test_tree_holds_everything_in_the_order_of_the_file() -> None:
    """Also a task that stands in no phase."""
    text = GOOD.replace("<phases>", '<task id="T9.1" name="Stray" status="DONE" priority="P0"/><phases>')
    tree = build_tree(parse_plan(text.encode()))
    assert (tree.track_id, tree.track_name, tree.status) == ("add-login", "Log in", "in_progress")
    assert [(phase.phase_id, phase.status) for phase in tree.phases] == [("P1", "IN_PROGRESS")]
    assert [task.task_id for task in tree.all_tasks()] == ["T1.1", "T1.2", "T9.1"]
    assert [part.subtask_id for part in tree.phases[0].tasks[0].subtasks] == ["T1.1.1", "T1.1.2"]
    assert [confirm.line for confirm in tree.pending()] == [15, 25]


@pytest.mark.parametrize(
    "name", ["Confirm", "CONFIRM", "c\u043enfirm", "x:confirm", "confrim", "confirms", "human-confirm"]
)
def test_element_that_a_reader_would_take_for_a_confirm_is_an_error(name: str) -> None:
    """By its look, or by the protocol that it names: nobody would be asked, and the work would go on."""
    error = ("error", f"<{name}> is no <confirm>: nobody would be asked.")
    assert only((HUMAN, HUMAN.replace("<confirm", f"<{name}"))) == error
    assert only((AI, AI.replace("<confirm", f"<{name}").replace("yield-ai", "Yield-AI"))) == error


@pytest.mark.parametrize("name", ["confirmation", "approve", "gate_criteria"])
def test_element_of_another_name_is_the_plans_own_business(name: str) -> None:
    """What names no protocol of ours and looks like nothing of ours is left alone."""
    assert check(("<goal>A base.</goal>", f'<goal>A base.</goal><{name} protocol="tcp"/>')) == []
