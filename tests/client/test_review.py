"""Reviews of documents from Python: in memory on a surface, durable through the store, by threads and by tasks."""

import os
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assent import CompletionReport, Declined, NextStep, StillOpen, Verb, Withdrawn, review
from assent.client.client import Client
from assent.flows.step import Ended
from assent.flows.walk_through.report import report_json
from assent.protocol.ask import Ask, Kind, State
from assent.protocol.decision import Verdict, Way
from assent.protocol.error import BadRequestError, FlowTakenError, NotFoundError
from assent.protocol.primer import Primer
from assent.testing import FakeClock, ThrowawayStore
from tests.cli.reviews import DOCUMENT, FIXED, ROUND_OF_FIVE, document_of, merged, merged_set, raw, reviewer
from tests.client.both import Clients
from tests.client.reviewing import (
    REPLIES,
    Script,
    answering,
    apply_by_evidence,
    reply_to,
    write_document,
)
from tests.proves import proves

__all__: list[str] = []

NAMES = ("one", "two", "three")
THREE = merged_set(*(merged(name) for name in NAMES))
EDITED = FIXED.replace("for an hour", "for a minute").replace("fetchAll", "fetch_all")


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """Give the document of the round of five."""
    return write_document(tmp_path, DOCUMENT)


@pytest.fixture
def passages(tmp_path: Path) -> Path:
    """Give the document of three merged findings."""
    return write_document(tmp_path, document_of(*NAMES))


def verbs(report: CompletionReport) -> dict[str, Verb]:
    """Return what became of each finding."""
    return {decision.finding.finding_id: decision.verb for decision in report.decisions}


# In memory


@proves("W62", "W63")
def test_review_in_memory_plays_on_the_surface_and_stores_nothing(clients: Clients, passages: Path) -> None:
    """No ask, no journal, no event; the surface shows each question and what is said in between."""
    agent = clients.agent()
    surface = Script("A", "?", "A", "B", "C")
    report = agent.review(THREE, document=passages, surface=surface)
    assert verbs(report) == {"one": Verb.APPLIED, "two": Verb.DEFERRED, "three": Verb.SKIPPED}
    assert (report.way, report.verdict, report.next_step) == (
        Way.WALK_THROUGH,
        Verdict.READY_WITH_FIXES,
        None,
    )
    assert [title.split(" — ")[0] for title in surface.asked[1:]] == [
        f"Finding {number} of 3" for number in (1, 2, 3)
    ]
    assert surface.refused == ['I didn\'t recognize "?".']
    assert surface.said[-1].endswith("Verdict: Ready with fixes.")
    assert passages.read_text().startswith(document_of(*NAMES, clear=["one"]))
    assert (list(agent.log()), agent.inbox(all_states=True)) == ([], [])


@proves("W64")
@pytest.mark.parametrize("answered", range(4))
def test_review_in_memory_that_is_left_has_applied_nothing(
    clients: Clients, passages: Path, answered: int
) -> None:
    """Nobody replies any more, wherever that is: StillOpen, and the document as it was."""
    surface = Script(*["A", "A", "A", "A"][:answered])
    with pytest.raises(StillOpen):
        clients.agent().review(THREE, document=passages, surface=surface)
    assert passages.read_text() == document_of(*NAMES)


@proves("W64")
def test_question_in_memory_that_is_declined_ends_the_review(clients: Clients, passages: Path) -> None:
    """A person's no has its own typed outcome."""
    surface = Script("A", "A", Ended(State.DECLINED, "Not today."))
    with pytest.raises(Declined, match="Not today"):
        clients.agent().review(THREE, document=passages, surface=surface)
    assert passages.read_text() == document_of(*NAMES)


def test_fix_in_words_is_worked_in_by_the_callback_at_the_end(clients: Clients, passages: Path) -> None:
    """W-X20: it gets the finding and the document as the one before left it; what it raises is the failure."""
    findings = merged_set(*(merged(name, edit=None) for name in NAMES))
    handed: list[tuple[str, str]] = []

    def apply(finding: dict[str, Any], document: str) -> str:
        handed.append((finding["id"], document))
        if finding["id"] == "two":
            raise ValueError("It cannot be said shorter.")
        return apply_by_evidence(finding, document)

    progress: list[tuple[int, int, str]] = []
    report = clients.agent().review(
        findings,
        document=passages,
        surface=Script("B", "A"),
        apply=apply,
        progress=lambda done, total, finding: progress.append((done, total, finding.finding_id)),
    )
    assert handed == [
        ("one", document_of(*NAMES)),
        ("two", document_of(*NAMES, clear=["one"])),
        ("three", document_of(*NAMES, clear=["one"])),
    ]
    assert progress == [(0, 3, "one"), (1, 3, "two"), (2, 3, "three")]
    assert [(failure.finding.finding_id, failure.reason) for failure in report.failures] == [
        ("two", "It cannot be said shorter.")
    ]
    assert verbs(report) == {"one": Verb.APPLIED, "three": Verb.APPLIED}
    assert report.verdict is Verdict.NOT_READY
    assert passages.read_text() == document_of(*NAMES, clear=["one", "three"])


@pytest.mark.parametrize("is_durable", [False, True], ids=["in memory", "durable"])
def test_headless_review_asks_nobody(clients: Clients, plan: Path, *, is_durable: bool) -> None:
    """Safe fixes are applied, nothing else is decided, nothing is stored, and it is never the next step's turn."""
    agent = clients.agent()
    told: list[CompletionReport] = []
    report = agent.review(
        ROUND_OF_FIVE,
        document=plan,
        headless=True,
        durable=is_durable,
        document_type="plan",
        tell=told.append,
    )
    assert (report.way, len(report.undecided), report.decisions, report.next_step) == (
        Way.HEADLESS,
        5,
        (),
        None,
    )
    assert told == [report]
    assert plan.read_text() == FIXED
    assert list(agent.log()) == []


def test_next_step_is_asked_where_the_document_has_a_type(clients: Clients, passages: Path) -> None:
    """The report is told before; without a reply nobody said what comes next."""
    told: list[CompletionReport] = []
    surface = Script("B", "A", "A")
    report = clients.agent().review(
        THREE, document=passages, surface=surface, document_type="requirements", tell=told.append
    )
    assert report.next_step is NextStep.GO_ON
    assert told == [msgspec.structs.replace(report, next_step=None)]
    silent = clients.agent().review(THREE, document=passages, surface=Script("D"), document_type="other")
    assert silent.next_step is None


def test_primer_of_a_report_suppresses_in_the_next_round(clients: Clients, passages: Path) -> None:
    """W-U14: as a value, and as the JSON that the command prints."""
    first = clients.agent().review(THREE, document=passages, surface=Script("A", "C", "A", "C"))
    raised = [
        raw(
            f"Passage {name} is unclear",
            section=f"Part {name}",
            evidence=[f"Passage {name} stands here."],
            edit={"before": "# Plan", "after": "# The plan"},
        )
        for name in NAMES
    ]
    printed: Any = report_json(first)["primer"]
    primers: tuple[Primer | dict[str, Any], ...] = (first.primer, printed)
    for primer in primers:
        surface = Script("A", "C", "C")
        second = clients.agent().review(
            [reviewer("coherence", *raised)], document=passages, surface=surface, primer=primer
        )
        assert second.rounds == 2
        assert sorted(second.coverage.suppressed) == [
            f"Passage {name} is unclear" for name in ("one", "three")
        ]
        assert second.primer.rounds == 2


def test_agent_marks_leave_the_terminal_of_this_process_unread(
    clients: Clients, passages: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without a surface it is this process's terminal; where an agent runs it, nothing that is typed counts."""
    monkeypatch.setenv("CLAUDECODE", "1")
    read, write = os.pipe()
    kept = os.dup(0)
    os.dup2(read, 0)
    try:
        os.write(write, b"B\nProceed\n")
        with pytest.raises(StillOpen):
            clients.agent().review(THREE, document=passages)
    finally:
        os.dup2(kept, 0)
        for descriptor in (read, write, kept):
            os.close(descriptor)
    assert "CLAUDECODE is set, so an agent runs this" in capfd.readouterr().err
    assert passages.read_text() == document_of(*NAMES)


@pytest.mark.parametrize(
    ("findings", "error"),
    [
        ([], BadRequestError),
        ({"reviewer": "x"}, BadRequestError),
        ([object()], BadRequestError),
        (merged_set({**merged("one"), "title": "\ud800"}), BadRequestError),
    ],
    ids=["none", "half", "no JSON", "no text"],
)
def test_findings_that_are_none_are_refused_with_a_code(
    store: ThrowawayStore, passages: Path, findings: Any, error: type[BadRequestError]
) -> None:
    """One sentence, before anything is asked or changed."""
    surface = Script("B", "A")
    with pytest.raises(error):
        store.agent().review(findings, document=passages, surface=surface)
    assert surface.asked == []
    assert passages.read_text() == document_of(*NAMES)


def test_document_that_is_not_there_or_of_no_type_is_refused(store: ThrowawayStore, tmp_path: Path) -> None:
    """A missing file, a folder, a type that nobody knows."""
    agent = store.agent()
    for missing in (tmp_path / "none.md", tmp_path):
        with pytest.raises(NotFoundError):
            agent.review(THREE, document=missing, surface=Script())
    path = write_document(tmp_path, document_of(*NAMES))
    with pytest.raises(BadRequestError, match="requirements, plan or other"):
        agent.review(THREE, document=path, document_type="novel", surface=Script())


# Durable


def test_durable_review_is_answered_by_other_clients(
    store: ThrowawayStore, clients: Clients, plan: Path
) -> None:
    """A person on a thread of their own answers each ask; kinds, keys and the report are as they must be."""
    agent = clients.agent()
    said: list[str] = []
    with store.scripted_person() as ana:
        for begins, reply in REPLIES.items():
            ana.will_answer(begins, reply)
        report = agent.review(
            ROUND_OF_FIVE, document=plan, durable=True, say=said.append, document_type="plan", wait=60
        )
    asks = sorted(agent.inbox(all_states=True), key=lambda ask: ask.ask_id)
    assert [ask.kind for ask in asks].count(Kind.FINDING) == 5
    assert {ask.kind for ask in asks} == {Kind.FINDING, Kind.QUESTION}
    assert report.next_step is NextStep.STOP
    assert plan.read_text().startswith(EDITED)
    assert plan.read_text().count("<!-- section=") == 3
    assert said[-1].endswith("Verdict: Not ready.")
    assert next(line for line in said if line.startswith("→")).startswith("→ Deferred.")


def test_durable_question_after_the_report_waits_for_whoever_answers_it(
    store: ThrowawayStore, clients: Clients, plan: Path
) -> None:
    """A lapsed wait says nothing for anybody: the report comes without a next step, and later with it."""
    agent, ana = clients.agent(), store.person()

    def present(ask: Ask) -> None:
        if "do next" not in ask.prompt.title:
            ana.answer(ask.ask_id, "D")

    def ask_again() -> CompletionReport:
        return agent.review(
            ROUND_OF_FIVE, document=plan, durable=True, document_type="plan", present=present, wait=0
        )

    assert ask_again().next_step is None
    (waiting,) = agent.inbox()
    assert ask_again().next_step is None
    assert agent.inbox() == [waiting]
    ana.answer(waiting.ask_id, "A")
    assert ask_again().next_step is NextStep.GO_ON


def test_finished_review_returns_its_report_and_does_nothing(store: ThrowawayStore, plan: Path) -> None:
    """Whoever asks the same again gets the same; another run id, or another primer, is another review."""
    agent, ana = store.agent(), store.person()
    seen: list[Ask] = []
    first = agent.review(ROUND_OF_FIVE, document=plan, durable=True, present=answering(ana, seen))
    after, log = plan.read_text(), list(agent.log())
    again = agent.review(ROUND_OF_FIVE, document=plan, durable=True, wait=0)
    assert (again, plan.read_text(), list(agent.log())) == (first, after, log)
    with pytest.raises(StillOpen):
        agent.review(ROUND_OF_FIVE, document=plan, durable=True, run_id="two", wait=0)
    with pytest.raises(StillOpen):
        agent.review(ROUND_OF_FIVE, document=plan, durable=True, primer=Primer(1), wait=0)
    assert len(agent.inbox()) == 2


def test_review_resumed_on_another_day_keeps_its_first_date(
    store: ThrowawayStore, clock: FakeClock, plan: Path
) -> None:
    """The second entry stands under the day of the first; the review is one."""
    agent, ana = store.agent(), store.person()
    reports: list[CompletionReport] = []
    for _ in REPLIES:
        with suppress(StillOpen):
            reports.append(store.agent().review(ROUND_OF_FIVE, document=plan, durable=True, wait=0))
        clock.advance(timedelta(days=1))
        for ask in agent.inbox():
            ana.answer(ask.ask_id, reply_to(ask.prompt.title))
    text = plan.read_text()
    assert text.count("### From 2030-01-01 review") == text.count("### From ") == 1
    assert text.count("<!-- section=") == 3
    assert text.startswith(EDITED)
    assert [report.verdict for report in reports] == [Verdict.NOT_READY]
    assert len(agent.inbox(all_states=True)) == 7


@proves("W64")
@pytest.mark.parametrize("ending", ["declined", "withdrawn"])
def test_durable_question_that_ends_otherwise_ends_this_review_and_not_the_next(
    store: ThrowawayStore, passages: Path, ending: str
) -> None:
    """Nothing is applied; asked again, it is a new review."""
    agent, ana = store.agent(), store.person()
    seen: list[Ask] = []

    def present(ask: Ask) -> None:
        seen.append(ask)
        if len(seen) < 4:
            ana.answer(ask.ask_id, "A")
        elif ending == "declined":
            ana.decline(ask.ask_id, "Enough.")
        else:
            agent.withdraw(ask.ask_id)

    with pytest.raises(Declined if ending == "declined" else Withdrawn):
        agent.review(THREE, document=passages, durable=True, present=present)
    assert passages.read_text() == document_of(*NAMES)
    with pytest.raises(StillOpen):
        agent.review(THREE, document=passages, durable=True, wait=0)
    (waiting,) = agent.inbox()
    assert waiting.prompt.title.startswith("What should the agent do with")
    ana.answer(waiting.ask_id, "D")
    report = agent.review(THREE, document=passages, durable=True, wait=0)
    assert report.way is Way.REPORT_ONLY


def test_second_driver_in_the_same_store_is_refused(store: ThrowawayStore, passages: Path) -> None:
    """While the first waits for an answer, whoever else comes is told."""
    refused: list[FlowTakenError] = []
    rival, ana = store.agent(), store.person()

    def present(ask: Ask) -> None:
        try:
            rival.review(THREE, document=passages, durable=True, wait=0)
        except FlowTakenError as error:
            refused.append(error)
        ana.answer(ask.ask_id, "D")

    store.agent().review(THREE, document=passages, durable=True, present=present)
    assert len(refused) == 1


def test_other_agents_words_in_the_store_answer_nothing(store: ThrowawayStore, passages: Path) -> None:
    """An agent's credential can never answer an ask; the finding stays open."""
    agent = store.agent()
    with pytest.raises(StillOpen):
        agent.review(THREE, document=passages, durable=True, wait=0)
    (waiting,) = agent.inbox()
    with pytest.raises(Exception, match="person"):
        agent.answer(waiting.ask_id, "B")
    assert [ask.ask_id for ask in agent.inbox()] == [waiting.ask_id]


def test_function_and_method_are_the_same(store: ThrowawayStore, passages: Path) -> None:
    """`assent.review(client, …)` for whoever prefers it."""
    agent: Client = store.agent()
    by_function = review(agent, THREE, document=passages, surface=Script("D"))
    assert by_function == agent.review(THREE, document=passages, surface=Script("D"))
