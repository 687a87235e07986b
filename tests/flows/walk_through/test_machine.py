"""Any findings, any replies: whatever is typed and whatever goes wrong, nothing happens that nobody decided."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.flows.document import WriteDocument
from assent.flows.step import Answered, Ask, Ended
from assent.flows.synthesis.route import Route, route_of
from assent.flows.synthesis.synthesis import synthesise
from assent.flows.walk_through.menu import (
    APPEND,
    APPLY,
    CASCADE,
    DEFER,
    LFG,
    LFG_THE_REST,
    ONE_BY_ONE,
    PROCEED,
    RECORD_ONLY,
    RETRY,
    SKIP,
)
from assent.flows.walk_through.report import counts_of, render_report
from assent.protocol.ask import State
from assent.protocol.decision import CompletionReport, Verb, Way
from assent.protocol.error import EffectError, StillOpen
from assent.protocol.finding import Action, AutofixClass, Edit, Finding, Severity
from assent.protocol.prompt import Option
from tests.chance import examples
from tests.flows.walk_through.world import DOCUMENT, SECTION, World, new_finding
from tests.proves import proves

__all__: list[str] = []

bounds = examples(
    300,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
WORDS = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel")
MOODS = (*["reply"] * 36, *["junk"] * 2, "meddle", "leave")
LIKED = (ONE_BY_ONE, APPLY, DEFER, SKIP)
"""What is chosen more often than by chance, or most reviews would be over soon."""
PATIENCE = 30
"""After so many replies the person wants to be done with it."""
LETTERS = {  # W7, W42, W54, W21, W-U11, W-U13
    "routing": {"Review each finding": "A", "LFG": "B", "Append findings": "C", "Report only": "D"},
    "finding": {"Apply": "A", "Defer": "B", "Skip": "C", "LFG the rest": "D"},
    "no fix": {"Defer": "A", "Skip": "B", "Acknowledge": "C"},
    "cascade": {"Cascade": "A", "Decide each": "B"},
    "failure": {"Retry": "A", "Record only": "B", "Convert to Skip": "C"},
    "preview": {"Proceed": "A", "Cancel": "B"},
}
WISHES = {"routing": "Report only", "preview": "Proceed", "failure": "Record only", "cascade": "Cascade"}
"""What somebody replies who wants to be done with it; else Skip."""
JUNK = ("", "  ", "zz", "E", "5", "0", "yes", "apply it all", "A B", "A, B", "LFG the", "q", "\u0410")
ENDS = (None, Ended(State.DECLINED), Ended(State.WITHDRAWN))
HEADINGS = ("### Failures", "### Applied", "### Deferred", "### Skipped", "### Acknowledged")


@st.composite
def reviews(draw: st.DrawFn) -> tuple[Finding, ...]:
    """Draw findings of every kind, some of them linked, at either end or at both, to several roots and even in rings."""
    total = draw(st.sampled_from([0, 1, 2, *range(3, 9), *range(4, 9)]))
    drawn = [_draw_finding(draw, number) for number in range(total)]
    for number in [*range(total), *range(total)]:
        root = draw(st.sampled_from([None, *range(total), 0, total // 2]))
        if root is None or root == number:
            continue
        ends = draw(st.sampled_from(["both", "both", "root", "dependent"]))
        if ends != "root":
            drawn[number] = replace(drawn[number], depends_on=drawn[root].finding_id)
        if ends != "dependent":
            names = (*drawn[root].dependents, drawn[number].finding_id)
            drawn[root] = replace(drawn[root], dependents=names)
    return tuple(drawn)


def _draw_finding(draw: st.DrawFn, number: int) -> Finding:
    has_fix = draw(st.sampled_from([True, True, False]))
    word = WORDS[number]
    edit = draw(st.sampled_from([*[Edit(word, word.upper())] * 4, Edit("zulu", "Z"), None]))
    return new_finding(
        f"F{number}",
        severity=draw(st.sampled_from(Severity)),
        autofix_class=draw(st.sampled_from(AutofixClass)),
        confidence=draw(st.sampled_from([75, 75, 75, 100, 100, 100, 50, 25, 0])),
        recommended_action=draw(st.sampled_from(Action)),
        suggested_fix="Say what it means." if has_fix else None,
        edit=edit,
    )


class Wanderer(World):
    """Somebody who may reply anything, at a document that others may save and a disk that may be full."""

    def __init__(self, root: Path, findings: tuple[Finding, ...], draw: Callable[..., Any]) -> None:
        super().__init__(root, *findings)
        self.draw = draw
        self.pending = [
            finding
            for finding in synthesise(self.inputs.intake, DOCUMENT.decode()).findings
            if route_of(finding) is Route.WALK
        ]
        self.base: bytes | None = None
        """The document but for entries, from the first question on."""
        self.chosen: list[tuple[str, str]] = []
        """Of each question that was answered: the finding or what it was about, and the key."""
        self.has_left = False
        self.trip(WriteDocument, *(self._draw_mishap() for _ in range(4)))

    def _draw_mishap(self) -> Any:
        full = EffectError("The disk is full.")
        return self.draw(st.sampled_from([None, None, None, full, self.meddle]))

    def meddle(self) -> None:
        """Save the document as somebody else, with another word at its end."""
        self.save(self.content.replace(b"juliett", b"juliett!"))
        if self.base is not None:
            self.base = self.base.replace(b"juliett", b"juliett!")

    # What holds at every question

    def present(self, ask: Ask) -> None:
        super().present(ask)
        options = ask.prompt.fields[0].options
        kind = _kind_of(options)
        assert {option.key: option.mark for option in options}.items() <= LETTERS[kind].items()
        marked = [option.key for option in options if option.recommended]
        if kind == "finding":
            assert len(marked) == 1
            assert marked[0] in set(Action)
        if kind in ("routing", "preview"):
            assert marked == []
        if self.base is None:
            self.base = self.content
        self.check_base()

    def check_base(self) -> None:
        """Nothing but entries was added, and nothing was taken away."""
        assert self.base is not None
        head, _, entries = self.content.partition(SECTION.encode())
        assert head.rstrip() == self.base.rstrip()
        assert entries.count(b"\n- **") == len(set(re.findall(rb"\n- \*\*F[0-9]\*\*", entries)))

    # What is replied

    def read(self) -> str | Answered | Ended | None:
        options = self.asked[-1].prompt.fields[0].options
        kind = _kind_of(options)
        if len(self.chosen) > PATIENCE:
            wish = WISHES.get(kind, "Skip")
            return self._choose(kind, next(each for each in options if each.key == wish), "key")
        mood = self.draw(st.sampled_from(MOODS))
        if mood == "meddle":
            self.meddle()
        elif mood == "leave":
            ends: Ended | None = self.draw(st.sampled_from(ENDS))
            is_declined = ends is not None and ends.state is State.DECLINED
            self.has_left = kind != "failure" or not is_declined
            self._note(kind, RECORD_ONLY)
            return ends
        elif mood == "junk":
            shown = {option.mark for option in options}
            junk: str = self.draw(st.sampled_from([*JUNK, *sorted(set("ABCD") - shown)]))
            if not (junk.isdecimal() and 0 < int(junk) <= len(options)):
                return junk
        how = self.draw(st.sampled_from(["letter", "number", "label", "key"]))
        liked = [each for each in options if each.key in LIKED]
        return self._choose(kind, self.draw(st.sampled_from([*liked, *liked, *options])), how)

    def _choose(self, kind: str, option: Option, how: str) -> str:
        self._note(kind, option.key)
        options = self.asked[-1].prompt.fields[0].options
        spelled = {
            "letter": str(option.mark).lower(),
            "number": str(options.index(option) + 1),
            "label": f" {option.label.upper()} ",
            "key": option.key,
        }
        return spelled[how]

    def _note(self, kind: str, key: str) -> None:
        about = self.stems[-1] if kind == "finding" else self.asked[-1].prompt.body
        title = re.search(r"P[0-3] (F[0-9])\.", about)
        self.chosen.append(
            (f"{kind}: {title[1]}" if title and kind not in ("routing", "preview") else kind, key)
        )


def _kind_of(options: tuple[Option, ...]) -> str:
    keys = {option.key for option in options}
    if "Apply" in keys:
        return "finding"
    return next(kind for kind, letters in LETTERS.items() if keys <= letters.keys())


@proves("W43", "W48", "W63", "W76")
@bounds
@given(data=st.data())
def test_whatever_is_replied_every_finding_is_decided_once_or_told(
    tmp_path: Path, data: st.DataObject
) -> None:
    """And the document has entries, and at the end the fixes that were chosen, and nothing else."""
    findings = data.draw(reviews())
    world = Wanderer(tmp_path, findings, data.draw)
    if data.draw(st.booleans(), label="append is unavailable"):
        world.lock()
    try:
        outcome = world.drive()
    except StillOpen:
        outcome = None
    assert all(message.startswith("I didn't recognize") or "nothing" in message for message in world.echoed)
    if outcome is None or outcome.report is None:
        assert world.has_left
        assert world.base is not None
        world.check_base()
        asked = world.log.index(f"ask: {world.stems[0]}")
        assert "MakeEdits" not in world.log[asked:]
        return
    assert not world.has_left
    check_every_finding_is_accounted_for(world, outcome.report)
    check_decisions_are_those_that_were_made(world, outcome.report)
    check_document(world, outcome.report)
    check_order(outcome.report)


def check_every_finding_is_accounted_for(world: Wanderer, report: CompletionReport) -> None:
    """Each of them is in exactly one place, and the counts add up."""
    not_applied = [each.finding for each in report.failures if each.what == "Apply"]
    pending = {finding.finding_id for finding in world.pending}
    told = [each.finding for each in report.decisions] + list(report.undecided)
    told += [finding for finding in not_applied if route_of(finding) is Route.WALK]
    assert Counter(finding.finding_id for finding in told) == Counter(pending)
    silent = [finding for finding in not_applied if route_of(finding) is Route.SILENT]
    assert all(route_of(finding) is Route.SILENT for finding in report.fixes)
    asides = [finding for finding in world.inputs.intake.merged or () if route_of(finding) is Route.FYI]
    assert Counter(finding.finding_id for finding in report.fyi) == Counter(
        finding.finding_id for finding in asides
    )
    out = report.coverage.dropped
    total = len(told) + len(silent) + len(report.fixes) + len(report.fyi) + out
    assert total == len(world.inputs.intake.merged or ())
    assert sum(counts_of(report).values()) == len(report.decisions)
    assert report.undecided == () or report.way is Way.REPORT_ONLY
    assert (report.way is Way.NOTHING_TO_DECIDE) == (not world.pending)


def check_decisions_are_those_that_were_made(world: Wanderer, report: CompletionReport) -> None:
    """What somebody said about a finding is what became of it; only undecided dependents fell with a root."""
    made = {each.finding.title: each for each in report.decisions}
    not_applied = {each.finding.title for each in report.failures if each.what == "Apply"}
    not_appended = {each.finding.title for each in report.failures if each.what == "Append"}
    last = {about: key for about, key in world.chosen if key not in (LFG_THE_REST, RETRY)}
    bulk = [key for about, key in world.chosen if about in ("routing", "preview")][-2:]
    is_bulk = report.way in (Way.LFG, Way.APPEND, Way.LFG_THE_REST)
    assert not is_bulk or bulk[-1] == PROCEED
    ways = {ONE_BY_ONE: (Way.WALK_THROUGH, Way.LFG_THE_REST), LFG: (Way.LFG,), APPEND: (Way.APPEND,)}
    routed = [key for about, key in world.chosen if about == "routing"]
    assert not routed or report.way in ways.get(routed[-1], (Way.REPORT_ONLY,))
    for finding in world.pending:
        title, root = finding.title, ""
        decision = made.get(title)
        answer = last.get(f"finding: {title}")
        if answer == APPLY and (not finding.has_fix or f"no fix: {title}" in last):
            answer = last[f"no fix: {title}"]
            assert title not in not_applied
        if decision is not None and decision.note.startswith("cascaded from "):
            root = decision.note.removeprefix("cascaded from ")
            assert answer is None, "a cascade decided what a person had decided"
            assert last[f"cascade: {root}"] == CASCADE
            assert made[root].verb in (Verb.SKIPPED, Verb.DEFERRED)
            above = made[root].finding
            assert finding.finding_id in above.dependents or finding.depends_on == above.finding_id
            assert decision.verb is made[root].verb or title in not_appended
        if answer is not None:
            verbs = {"Apply": Verb.APPLIED, "Skip": Verb.SKIPPED, "Acknowledge": Verb.ACKNOWLEDGED}
            wanted = verbs.get(answer, Verb.DEFERRED)
            failure = last.get(f"failure: {title}")
            if answer == DEFER and title in not_appended and failure == "Convert to Skip":
                wanted = Verb.SKIPPED
            assert decision.verb is wanted if decision else title in not_applied
        if answer is None and not root and report.way is Way.WALK_THROUGH:
            raise AssertionError(f"nobody decided {title}")


def check_document(world: Wanderer, report: CompletionReport) -> None:
    """The words that changed are those of applied fixes, and the entries are those of deferrals."""
    applied = [*report.fixes, *(each.finding for each in report.decisions if each.verb is Verb.APPLIED)]
    wanted = DOCUMENT
    for finding in applied:
        assert finding.edit is not None
        wanted = wanted.replace(finding.edit.before.encode(), finding.edit.after.encode())
    head, _, entries = world.content.partition(SECTION.encode())
    assert head.replace(b"!", b"").rstrip() == wanted.rstrip()
    deferred = [each for each in report.decisions if each.verb is Verb.DEFERRED]
    appended = {each.finding.title for each in deferred if not each.is_recorded_only}
    assert sorted(re.findall(r"^- \*\*(F[0-9])\*\*", entries.decode(), re.MULTILINE)) == sorted(appended)
    assert all(bool(each.append_location) != each.is_recorded_only for each in deferred)
    asks = [place for place, entry in enumerate(world.log) if entry.startswith("ask: ")]
    edits = [place for place, entry in enumerate(world.log) if entry == "MakeEdits"]
    assert not [place for place in edits if asks and asks[0] < place < asks[-1]]


def check_order(report: CompletionReport) -> None:
    """Failures, what was done, counts, coverage, verdict (W74)."""
    lines = render_report(report).split("\n")
    shown = [line for line in lines if line in HEADINGS]
    assert shown == [heading for heading in HEADINGS if heading in lines]
    assert lines[-1] == f"Verdict: {report.verdict}."
    if "### Coverage" in lines and shown:
        assert lines.index("### Coverage") > lines.index(shown[-1])
