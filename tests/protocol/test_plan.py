"""Plans are read with every element in its place, and a status is changed without touching another byte."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import HealthCheck, given

from assent.protocol.error import BadRequestError, NotFoundError, TooLargeError
from assent.protocol.plan import (
    MAX_PLAN_BYTES,
    MAX_PLAN_ELEMENTS,
    Moment,
    Plan,
    Status,
    Unreadable,
    name_confirms,
    name_halves,
    parse_plan,
    read_plan,
    splice_status,
)
from tests.chance import examples
from tests.protocol.plans import GOOD, honest_plans
from tests.proves import proves
from torture.plan_cases import hostile_plans

__all__: list[str] = []


def _differs_only_in(old: bytes, new: bytes, before: Status, after: Status) -> bool:
    """Say whether there is one place where the one word stands in the old text and the other in the new."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    places = [at for at in range(max(0, head - len(after)), head + 1) if old.startswith(before.encode(), at)]
    return any(old[:at] + after.encode() + old[at + len(before) :] == new for at in places)


@examples(1_000, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(text=honest_plans())
def test_status_that_is_spliced_there_and_back_leaves_the_same_bytes(text: bytes) -> None:
    """A thousand honest plans: each of its statuses is changed to another, only that word differs, and back again."""
    plan = parse_plan(text)
    numbers = [number for number, element in enumerate(plan.elements) if "status" in element.attributes]
    assert numbers
    for turn, number in enumerate(numbers):
        before = Status(plan.elements[number].attributes["status"])
        status = [each for each in Status if each != before][(turn + len(text)) % 4]
        changed = splice_status(text, plan, number, status)
        again = parse_plan(changed)
        assert _differs_only_in(text, changed, before, status)
        assert again.elements[number].attributes == {**plan.elements[number].attributes, "status": status}
        assert all(
            (one.name, one.attributes, one.text) == (two.name, two.attributes, two.text)
            for at, (one, two) in enumerate(zip(plan.elements, again.elements, strict=True))
            if at != number
        )
        assert splice_status(changed, again, number, before) == text
        assert splice_status(text, plan, number, before) == text


@examples(200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(text=honest_plans())
def test_honest_plan_is_read_as_another_parser_reads_it(text: bytes) -> None:
    """Names and attributes, in the order of the file."""
    spaced = {"urn:x": "x", "urn:p": "p"}

    def plain(name: str) -> str:
        space, _, local = name.rpartition("}")
        prefix = spaced.get(space[1:])
        return f"{prefix}:{local}" if prefix else local

    plan = parse_plan(text)
    found = [
        (
            element.name,
            {key: value for key, value in element.attributes.items() if not key.startswith("xmlns")},
        )
        for element in plan.elements
    ]
    expected = [
        (plain(str(node.tag)), {plain(key): value for key, value in node.attrib.items()})
        for node in ET.fromstring(text).iter()
    ]
    assert found == expected


@proves("C2", "C23", "C36")
def test_confirms_are_found_as_direct_children_of_their_owner() -> None:
    """A task's confirm is not its phase's (C-X12); each has its protocol, moment, status and reviewer."""
    plan = parse_plan(GOOD.encode())
    phase, task = plan.owner("P1"), plan.owner("T1.2")
    assert [(each.protocol, each.when, each.status) for each in phase.confirms] == [
        ("yield-human-confirm", "both", "TODO")
    ]
    assert [(each.protocol, each.when, each.ai_agent, each.status) for each in task.confirms] == [
        ("yield-ai-confirm", "after", "critic", "TODO")
    ]
    assert plan.owner("T1.1").confirms == ()
    assert (phase.kind, phase.name, phase.status, task.kind, task.name, task.status) == (
        *("phase", "Base", ""),
        *("task", "Form", "TODO"),
    )
    assert [line.strip()[:9] for line in GOOD.splitlines()][phase.confirms[0].line - 1] == "<confirm "


@proves("C24")
@pytest.mark.parametrize(
    ("when", "moments"),
    [("before", [Moment.BEFORE]), ("after", [Moment.AFTER]), ("both", [*Moment]), ("later", []), ("", [])],
)
def test_confirm_is_of_the_moments_that_it_names(when: str, moments: list[Moment]) -> None:
    """`both` is of either; another word is of none."""
    confirm = parse_plan(GOOD.replace('when="both"', f'when="{when}"').encode()).owner("P1").confirms[0]
    assert [moment for moment in Moment if confirm.is_of(moment)] == moments


@proves("C25")
@pytest.mark.parametrize("status", [*Status])
def test_confirm_takes_each_of_the_five_statuses(status: Status) -> None:
    """Spelled as the protocol spells them, in the file's own quotes."""
    text = GOOD.replace('"both" status="TODO"', "'both' status = 'TODO'").encode()
    plan = parse_plan(text)
    changed = splice_status(text, plan, plan.owner("P1").confirms[0].element, status)
    assert changed == text.replace(b"status = 'TODO'", f"status = '{status}'".encode())


def test_status_of_an_element_without_one_is_refused() -> None:
    """A phase has none; the attribute is not invented."""
    plan = parse_plan(GOOD.encode())
    with pytest.raises(BadRequestError, match=r"Line 13: this phase has no status\."):
        splice_status(GOOD.encode(), plan, plan.owner("P1").element, Status.DONE)


def test_status_is_not_spliced_into_another_text() -> None:
    """A plan that was read from other bytes would have its places wrong."""
    plan = parse_plan(GOOD.encode())
    with pytest.raises(BadRequestError, match="not what it was"):
        splice_status(b" " + GOOD.encode(), plan, plan.owner("T1.2").element, Status.DONE)


def test_owner_that_is_missing_or_doubled_is_not_guessed() -> None:
    """The sentence names the lines."""
    with pytest.raises(NotFoundError, match='no phase or task "T9"'):
        parse_plan(GOOD.encode()).owner("T9")
    with pytest.raises(NotFoundError, match=r'several "T1\.1", on lines 17, 23'):
        parse_plan(GOOD.replace("T1.2", "T1.1").encode()).owner("T1.1")


def test_children_are_those_that_stand_directly_in_an_element() -> None:
    """In the order of the file."""
    plan = parse_plan(GOOD.encode())
    names = [plan.elements[number].name for number in plan.children(plan.owner("P1").element)]
    assert names == ["goal", "confirm", "tasks"]
    assert [plan.elements[number].name for number in plan.children(0)] == ["metadata", "phases"]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (b"<plan>\n\n</plam>", 3, "this is not well-formed XML (mismatched tag)."),
        (b"<!-- x -->\n<!DOCTYPE plan><plan/>", 2, "a plan has no document type and no entities of its own."),
        (
            b'<?xml version="1.0" encoding="latin-1"?><plan/>',
            1,
            'a plan is written in UTF-8, not in "latin-1".',
        ),
        (b"<a>\n" * 65, 65, "a plan is nested at most 64 deep."),
        (b"<a>" + b"<b/>" * MAX_PLAN_ELEMENTS, 1, "a plan has at most 10,000 elements."),
        (b"<a/>" + b" " * MAX_PLAN_BYTES, 1, "a plan has at most 1,048,576 bytes."),
        (b"<!-- x", 1, "this comment has no end."),
    ],
    ids=["mismatched", "document type", "encoding", "depth", "elements", "size", "comment"],
)
def test_what_is_no_plan_is_refused_with_line_and_reason(text: bytes, line: int, reason: str) -> None:
    """As a value for those who show it, as an error for those who need a plan."""
    assert read_plan(text) == Unreadable(line, reason)
    with pytest.raises(BadRequestError):
        parse_plan(text)


def test_too_large_plan_has_its_own_error() -> None:
    """It says how large."""
    with pytest.raises(TooLargeError, match="1,048,583"):
        parse_plan(b"<plan/>" + b" " * MAX_PLAN_BYTES)


def test_hostile_plans_are_refused_and_harmless_ones_read() -> None:
    """More than two hundred files. What they take and touch is measured by the trial plan-xml."""
    cases = hostile_plans()
    assert sum(not case.is_harmless for case in cases) >= 200
    wrong = [case.name for case in cases if isinstance(read_plan(case.text), Plan) is not case.is_harmless]
    assert wrong == []


def test_confirms_are_known_again_by_who_confirms_and_when() -> None:
    """Not by their status or their place in the file; of several alike by their order."""
    spots = (
        ("yield-human-confirm", "before", ""),
        ("yield-ai-confirm", "both", "critic"),
        ("yield-human-confirm", "both", ""),
        ("yield-ai-confirm", "after", "x" * 100),
        ("yield-ai-confirm", "after", "x" * 101),
    )
    lines = "".join(
        f'<confirm protocol="{protocol}" when="{when}" ai-agent="{agent}" status="TODO"/>'
        for protocol, when, agent in spots
    )
    owner = parse_plan(f'<plan><task id="T1">{lines}</task></plan>'.encode()).owner("T1")
    before, after = (name_confirms(owner, moment) for moment in Moment)
    assert list(before) == ["1.human", "1.ai.critic", "2.human"]
    assert list(after)[:2] == ["1.ai.critic", "1.human"]
    assert len(after) == 4, "also names that are too long for a key are told apart"
    assert max(map(len, after)) < 60
    assert name_halves(owner, owner.confirms[2]) == {Moment.BEFORE: "2.human", Moment.AFTER: "1.human"}
    assert name_halves(owner, owner.confirms[0]) == {Moment.BEFORE: "1.human"}
