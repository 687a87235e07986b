"""Stories of a review as users hold it: `client.review` on a public surface, in plain text and in a tool of four rows.

Both doors get the same replies and come to the same report.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from assent import CompletionReport, PlainSurface, Primer, ToolSurface, Verb
from assent.protocol.dialog import Dialog, Given
from assent.testing import ThrowawayStore, throwaway
from tests.cli.reviews import DOCUMENT, FIXED, ROUND_OF_FIVE, document_of, merged, merged_set
from tests.client.reviewing import write_document
from tests.proves import proves
from tests.surfaces.tools import ClaudeCode, Person

__all__: list[str] = []

Findings = Mapping[str, Any] | Sequence[Mapping[str, Any]]
REDIRECTED = "redirected from Apply — no suggested_fix"


class Room:
    """A person before a surface; what is shown is kept together with the document of that moment."""

    def __init__(self, store: ThrowawayStore, folder: Path, *, is_tool: bool) -> None:
        self._store, self._folder, self._is_tool = store, folder, is_tool
        self.shown: list[tuple[str, str]] = []

    @property
    def path(self) -> Path:
        """Where the document lies."""
        return self._folder / "plan.md"

    @property
    def texts(self) -> list[str]:
        """All that was shown, in order."""
        return [text for text, _ in self.shown]

    def show(self, text: str) -> None:
        """Keep it."""
        self.shown.append((text, self.path.read_text()))

    def hold(
        self, findings: Findings, document: str, *replies: str, primer: Primer | None = None
    ) -> CompletionReport:
        """Hold a review with these replies."""
        write_document(self._folder, document)
        self.shown.clear()
        surface = self._tool(*replies) if self._is_tool else self._plain(*replies)
        agent = self._store.agent("coder")
        return agent.review(findings, document=self.path, surface=surface, primer=primer)

    def _plain(self, *replies: str) -> PlainSurface:
        left = list(replies)
        return PlainSurface(self.show, lambda: left.pop(0) if left else None)

    def _tool(self, *replies: str) -> ToolSurface:
        tool = ClaudeCode(Person(*replies))

        def select(dialogs: Sequence[Dialog]) -> Sequence[Given] | None:
            for dialog in dialogs:
                self.show("\n".join([dialog.text, *(row.label for row in dialog.rows)]))
            return tool.select(dialogs)

        return ToolSurface(select, "claude-code", self.show)


@pytest.fixture(params=["plain", "tool"])
def room(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Room]:
    """Give the same room by two doors."""
    with throwaway() as store:
        yield Room(store, tmp_path, is_tool=request.param == "tool")


def headings(room: Room) -> list[str]:
    """Return the headings of the findings, as they were shown."""
    return [text.split("\n")[0] for text in room.texts if text.startswith("## ")]


def verbs(report: CompletionReport) -> dict[str, Verb]:
    """Return what became of each finding."""
    return {decision.finding.title: decision.verb for decision in report.decisions}


@proves("W11", "W15", "W16", "W18", "W29", "W32", "W61", "W70", "W71", "W73", "W74")
def test_round_of_five_is_decided_one_by_one_and_told_in_order(room: Room) -> None:
    """In order of severity, the observation last and without a question; any preset action, and no words of one's own."""
    report = room.hold(ROUND_OF_FIVE, DOCUMENT, "1", "1", "3", "1", "3", "1", "make it shorter", "2")
    assert headings(room) == [
        "## Finding 1 of 5 — P0 The cache may not be needed",
        "## Finding 2 of 5 — P1 Cache lifetime contradicts the SLA",
        "## Finding 3 of 5 — P1 Nobody rolls back",
        "## Finding 4 of 5 — P2 Name breaks the house style",
        "## Finding 5 of 5 — P2 Cache has no eviction",
    ]
    assert any(text.startswith('I didn\'t recognize "make it shorter".') for text in room.texts)
    assert verbs(report) == {
        "The cache may not be needed": Verb.ACKNOWLEDGED,
        "Cache lifetime contradicts the SLA": Verb.APPLIED,
        "Nobody rolls back": Verb.SKIPPED,
        "Name breaks the house style": Verb.APPLIED,
        "Cache has no eviction": Verb.DEFERRED,
    }
    told = room.texts[-1]
    parts = (
        "### Applied",
        "### Deferred",
        "### Skipped",
        "### Acknowledged",
        "2 applied, 1 deferred, 1 skipped",
    )
    places = [told.index(part) for part in (*parts, "### Coverage", "**FYI observations**", "Verdict: ")]
    assert places == sorted(places)
    assert "- Nobody rolls back (P1): Skipped — anchor 75: A bad release stays until Monday.\n" in told
    assert 'Deferred — appended to "## Deferred / Open Questions" > "### From ' in told
    assert told.endswith("\n\nVerdict: Ready with fixes.")


@proves("W48", "W51", "W63", "W65", "W67")
def test_document_changes_by_appends_alone_until_every_finding_is_answered(room: Room) -> None:
    """What was applied is in memory; a skip leaves no trace; the edits are one pass at the end."""
    room.hold(ROUND_OF_FIVE, DOCUMENT, "A", "3", "2", "1", "2", "1", "3")
    asked = [document for text, document in room.shown if text.startswith("Finding ")]
    assert len(asked) >= 5
    assert all(document.startswith(FIXED.rstrip("\n")) for document in asked)
    # One was deferred, and its entry is there at once.
    assert [document.count("<!-- section=") for document in asked][-1] == 1
    edited = FIXED.replace("for an hour", "for a minute").replace("fetchAll", "fetch_all")
    assert room.path.read_text().startswith(edited.rstrip("\n"))


@proves("W49", "W53", "W54", "W56", "W57")
@pytest.mark.parametrize(("reply", "verb"), [("1", Verb.DEFERRED), ("2", Verb.SKIPPED)])
def test_apply_without_a_fix_is_redirected_and_says_so(room: Room, reply: str, verb: Verb) -> None:
    """The fixed question comes first; what is chosen there is done as if it had been chosen at once."""
    findings = merged_set(merged("one", suggested_fix=None, edit=None), merged("two"))
    report = room.hold(findings, document_of("one", "two"), "1", "1", reply, "3")
    assert sum(text.startswith("Apply isn't executable for this finding — ") for text in room.texts) == 1
    first = report.decisions[0]
    assert (first.verb, first.finding.finding_id) == (verb, "one")
    assert REDIRECTED in room.texts[-1]
    assert room.path.read_text().count("<!-- section=") == (verb is Verb.DEFERRED)


ROOT = merged("one", dependents=["two", "three"])
DEPENDENTS = (merged("two", severity="P0", depends_on="one"), merged("three", depends_on="one"))
LINKED = merged_set(*DEPENDENTS, ROOT)
NAMES = ("one", "two", "three")


@proves("W17", "W19", "W20", "W21", "W22", "W24")
def test_skip_of_a_root_goes_to_its_dependents_and_to_nothing_else(room: Room) -> None:
    """The root comes first, though a dependent is worse; the cascade is announced with titles, and edits nothing."""
    report = room.hold(LINKED, document_of(*NAMES), "1", "3", "1")
    assert headings(room) == ["## Finding 1 of 3 — P2 Passage one is unclear"]
    (announced,) = (text for text in room.texts if text.startswith("Skipping this root"))
    assert announced.split("\n")[0] == (
        "Skipping this root will auto-resolve 2 dependent finding(s): Passage two is unclear; Passage three is unclear. "
        "Continue?"
    )
    assert {*verbs(report).values()} == {Verb.SKIPPED}
    assert room.texts[-1].count("cascaded from Passage one is unclear") == 2
    assert room.path.read_text() == document_of(*NAMES)


@proves("W25", "W26", "W27")
def test_apply_of_a_root_asks_about_each_dependent(room: Room) -> None:
    """Nothing is announced: an apply never cascades, so no dependent can come into the Apply set unasked."""
    report = room.hold(LINKED, document_of(*NAMES), "1", "1", "3", "1")
    assert len(headings(room)) == 3
    assert not any("this root" in text for text in room.texts)
    assert [decision.verb for decision in report.decisions] == [Verb.APPLIED, Verb.SKIPPED, Verb.APPLIED]


@proves("W28")
def test_second_round_has_a_dependent_stand_alone_where_its_root_was_rejected(room: Room) -> None:
    """The root is not shown and not named again as such; its dependent is asked about by itself."""
    document = document_of(*NAMES)
    first = room.hold(LINKED, document, "1", "3", "2", "1", "1")
    assert first.primer.rejected
    again = merged("four", depends_on="one", severity="P1")
    room.hold(merged_set(ROOT, again), document_of(*NAMES, "four"), "1", "3", "1", primer=first.primer)
    assert headings(room) == ["## P1 Passage four is unclear"]
    assert not any("this root" in text or "depends" in text for text in room.texts)


@proves("W31", "W33", "W34", "W35", "W36", "W37")
def test_block_of_a_finding_is_prose_with_little_code(room: Room) -> None:
    """A title of eight words, two spans of code in a sentence, a short block that only adds, and three sentences why."""
    fix = "Set `a` and `b` and `c` in the file."
    adding = "Add the owner:\n\n```\nowner: ana\n```"
    long = "Add the table:\n\n```\n" + "row\n" * 6 + "```"
    changing = "Swap the words.\n\n```diff\n- x\n+ y\n```"
    findings = merged_set(
        merged("one", title="The plan says one thing here and quite another thing there", suggested_fix=fix),
        merged("two", suggested_fix=adding, edit=None, why_it_works="One. Two. Three. Four."),
        merged("three", suggested_fix=long),
        merged("four", suggested_fix=changing),
    )
    room.hold(findings, document_of(*NAMES, "four"), "1", "3", "3", "3", "3")
    one, two, three, four = (text for text in room.texts if text.startswith("## Finding"))
    assert one.startswith("## Finding 1 of 4 — P2 The plan says one thing here and quite…\n")
    assert "\n\nSet `a` and `b` and c in the file.\n\n" in one
    assert "\n```\nowner: ana\n```\n" in two
    assert "**Why it works**\n\nOne. Two. Three. …\n" in two
    assert "Add the table: The new text is a block of 6 lines." in three
    assert "Swap the words. The change takes out 1 line and puts in 1 line." in four
    assert "```" not in four
