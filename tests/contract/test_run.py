"""What every store promises of runs, controls and topics."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from assent.protocol.control import Control, ControlState
from assent.protocol.run import Frame, Level, Mode, Run, RunId, Status
from assent.storage.port import Head, Store, Transaction
from tests.contract.conftest import MakeStore
from tests.contract.writing import AT, append_end, append_open, store_asks, writing
from tests.run_samples import REQUEST_ID, RUN_ID, new_control, new_frame, new_request, new_run
from tests.samples import NOON, new_ask

__all__: list[str] = []


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    """Give one store."""
    return make_store()


def append_run(transaction: Transaction, head: Head, run: Run) -> Run:
    """Put a run as the hub would; return it with its number."""
    transaction.append(head, "run.started", run.run_id, b'{"message":{}}', "loop:current")
    run = replace(run, project=head.project, sequence=head.sequence)
    transaction.put_run(head, run)
    return run


def append_control(transaction: Transaction, head: Head, control: Control) -> Control:
    """Put a control as the hub would; return it with its number."""
    transaction.append(
        head, "control.requested", control.request.request_id, b'{"message":{}}', "loop:control"
    )
    control = replace(control, sequence=head.sequence)
    transaction.put_control(head, control)
    return control


def store_runs(store: Store, *runs: Run) -> list[Run]:
    """Put runs, a transaction each."""
    kept = []
    for run in runs:
        with writing(store) as transaction:
            kept.append(append_run(transaction, transaction.head(run.project, AT), run))
    return kept


def store_controls(store: Store, *controls: Control, project: str = "p") -> list[Control]:
    """Put controls, a transaction each."""
    kept = []
    for control in controls:
        with writing(store) as transaction:
            kept.append(append_control(transaction, transaction.head(project, AT), control))
    return kept


def named(request_id: str, state: ControlState = ControlState.ACCEPTED) -> Control:
    """Return a control under this id."""
    return new_control(request=new_request(request_id=request_id), state=state)


# Runs


def test_run_with_every_part_comes_back_equal(make_store: MakeStore) -> None:
    """To the last field and microsecond, in another process."""
    moment = NOON + timedelta(microseconds=1)
    frame = Frame(RUN_ID, Mode.GRIND, 3, 100, "p.md", "label:öl", "i", "w", "b", "main", "opus", "stuck – 油")
    run = Run(
        RUN_ID,
        "p",
        Status.PAUSED,
        (Level(frame, is_open=True, attempt=2), Level(new_frame(id="inner"), is_interrupted=True)),
        moment,
        "agent:coder",
        moment,
        "A title",
        ("haiku", "opus"),
        "host:1",
        7,
        moment,
        "human:ana",
        "MAX_ITERATIONS",
        "agent:coder",
        moment,
        "human:bob",
        "ERROR",
        "It broke.\n",
        "cmd_1",
    )
    [kept] = store_runs(make_store(), run)
    with make_store().reading() as reader:
        assert reader.run("p", RUN_ID) == kept


def test_transaction_sees_the_run_that_was_put_in_it(store: Store) -> None:
    """Commands of one group decide on what their neighbours did."""
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        assert transaction.run("p", RUN_ID) is None
        first = append_run(transaction, head, new_run())
        assert transaction.run("p", RUN_ID) == first
        second = append_run(transaction, head, replace(first, status=Status.PAUSED))
        assert transaction.run("p", RUN_ID) == second
    with store.reading() as reader:
        assert reader.run("p", RUN_ID) == second
    with writing(store) as transaction:
        transaction.head("p", AT)
        assert transaction.run("p", RUN_ID) == second


def test_run_belongs_to_its_project(store: Store) -> None:
    """The same id in two projects is two runs."""
    ours, theirs = store_runs(store, new_run(title="ours"), new_run(title="theirs", project="q"))
    with store.reading() as reader:
        assert (reader.run("p", RUN_ID), reader.run("q", RUN_ID)) == (ours, theirs)
        assert reader.run("nowhere", RUN_ID) is None
        assert reader.run("p", "nobody") is None


def test_runs_are_listed_newest_first_and_by_what_is_active(store: Store) -> None:
    """A change does not move a run to the front; an ended one leaves the list of active ones."""
    runs = store_runs(store, *(new_run(run_id=RunId(f"r{number}")) for number in range(4)))
    runs[1:2] = store_runs(store, replace(runs[1], status=Status.DONE, reason="COMPLETE"))
    runs[0:1] = store_runs(store, replace(runs[0], status=Status.PAUSED))
    newest = runs[::-1]
    with store.reading() as reader:
        assert reader.runs("p", 10, active=False) == newest
        assert reader.runs("p", 10, active=True) == [run for run in newest if run.is_active]
        assert reader.runs("p", 2, active=False) == newest[:2]
        assert reader.runs("p", 1, active=True) == newest[:1]
        assert reader.runs("nowhere", 10, active=False) == []


def test_runs_of_all_projects_are_listed_by_their_beginning(store: Store) -> None:
    """One list for a person with several projects."""
    hour = timedelta(hours=1)
    first, second, third = store_runs(
        store,
        new_run(run_id=RunId("a"), started_at=NOON),
        new_run(run_id=RunId("b"), started_at=NOON + hour, project="q"),
        new_run(run_id=RunId("c"), started_at=NOON + 2 * hour),
    )
    with store.reading() as reader:
        assert reader.runs(None, 10, active=True) == [third, second, first]
        assert reader.runs(None, 2, active=False) == [third, second]


def test_changed_runs_are_those_after_a_number(store: Store) -> None:
    """One query serves all who wait."""
    first, second = store_runs(store, new_run(run_id=RunId("a")), new_run(run_id=RunId("b")))
    store_runs(store, new_run(run_id=RunId("c"), project="q"))
    with store.reading() as reader:
        assert {run.run_id for run in reader.changed_runs("p", 0)} == {"a", "b"}
        assert reader.changed_runs("p", 1) == [second]
        assert reader.changed_runs("p", 2) == []
        assert reader.changed_runs("nowhere", 0) == []
    [changed] = store_runs(store, replace(first, status=Status.PAUSED))
    with store.reading() as reader:
        assert reader.changed_runs("p", 2) == [changed]


def test_open_asks_of_a_run_are_its_own_and_open(store: Store) -> None:
    """Oldest first; with what this transaction has opened, without what it has ended."""
    ended, first, *_ = store_asks(
        store,
        new_ask(1, run_id=RUN_ID),
        new_ask(2, run_id=RUN_ID),
        new_ask(3, run_id="other"),
        new_ask(4),
        new_ask(5, "q", run_id=RUN_ID),
    )
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        loaded = transaction.ask("p", ended.ask_id)
        assert loaded is not None
        append_end(transaction, head, loaded)
        second = append_open(transaction, head, new_ask(6, run_id=RUN_ID))
        found = transaction.open_asks_of(head, RUN_ID)
        assert sorted(ask.ask_id for ask in found) == [first.ask_id, second.ask_id]
        assert transaction.open_asks_of(head, RunId("nobody")) == []


# Controls


def test_control_comes_back_equal_and_is_kept_for_ever(make_store: MakeStore) -> None:
    """An id is never executed twice, so it is never forgotten; the last state counts."""
    store = make_store()
    [accepted] = store_controls(store, new_control("escalate"))
    result = accepted.request.result(NOON, {"status": "success", "previous_model": "", "new_model": "opus"})
    [resolved] = store_controls(store, replace(accepted, state=ControlState.RESOLVED, result=result))
    other = make_store()
    with writing(other) as transaction:
        head = transaction.head("p", AT)
        assert transaction.control(head, REQUEST_ID) == resolved
        assert transaction.control(head, "nobody") is None
    with other.reading() as reader:
        assert reader.controls("p") == [resolved]


def test_transaction_sees_the_control_that_was_put_in_it(store: Store) -> None:
    """Two requests of one group under one id are one."""
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        assert transaction.control(head, REQUEST_ID) is None
        put = append_control(transaction, head, new_control())
        assert transaction.control(head, REQUEST_ID) == put


@pytest.mark.parametrize(
    "request_id", ["req-1", "REQ-1", "req-1 ", "req-1\x00", "req-1\x00b", "ключ", "%", ""]
)
def test_id_of_a_control_is_opaque(store: Store, request_id: str) -> None:
    """Case, blanks and NULs count; nothing is folded."""
    store_controls(store, named("req-1"))
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        assert (transaction.control(head, request_id) is not None) is (request_id == "req-1")


def test_control_belongs_to_its_project(store: Store) -> None:
    """The same id in two projects is two controls."""
    [ours] = store_controls(store, named("a"))
    [theirs] = store_controls(store, named("a", ControlState.RESOLVED), project="q")
    with store.reading() as reader:
        assert (reader.controls("p"), reader.controls("q"), reader.controls("r")) == ([ours], [theirs], [])


def test_open_controls_are_those_that_wait_oldest_first(make_store: MakeStore) -> None:
    """By the number of their last change, so that what was accepted first is executed first."""
    store = make_store()
    z, a, m = store_controls(store, named("z"), named("a", ControlState.POSTED), named("m"))
    store_controls(store, named("done", ControlState.RESOLVED), named("late", ControlState.EXPIRED))
    store_controls(store, named("elsewhere"), project="q")
    other = make_store()
    with writing(other) as transaction:
        assert transaction.open_controls(transaction.head("p", AT)) == [z, a, m]
    [again] = store_controls(store, replace(z, by="human:bob"))
    store_controls(store, replace(a, state=ControlState.RESOLVED))
    with writing(other) as transaction:
        assert transaction.open_controls(transaction.head("p", AT)) == [m, again]
        assert transaction.open_controls(transaction.head("new", AT)) == []


def test_open_controls_are_those_of_earlier_transactions(store: Store) -> None:
    """None is executed in the transaction that acknowledged it."""
    store_controls(store, named("a"))
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        append_control(transaction, head, named("b"))
        assert [control.request.request_id for control in transaction.open_controls(head)] == ["a"]


def test_project_with_an_open_control_has_something_to_do(store: Store) -> None:
    """At any moment, until it is settled."""
    [left] = store_controls(store, named("a", ControlState.POSTED))
    store_controls(store, named("b", ControlState.RESOLVED), project="q")
    with store.reading() as reader:
        assert reader.has_due(AT - 10**9) == ["p"]
    store_controls(store, replace(left, state=ControlState.EXPIRED))
    with store.reading() as reader:
        assert reader.has_due(AT + 10**12) == []


def test_transaction_that_fails_leaves_neither_run_nor_control(store: Store) -> None:
    """With its events, or not at all."""
    store_runs(store, new_run(run_id=RunId("before")))

    def fail() -> None:
        with writing(store) as transaction:
            head = transaction.head("p", AT)
            append_run(transaction, head, new_run())
            append_control(transaction, head, new_control())
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    with store.reading() as reader:
        assert [run.run_id for run in reader.runs("p", 10, active=False)] == ["before"]
        assert reader.controls("p") == []
        assert reader.head_sequence("p") == 1


# Topics


def append_message(store: Store, topic: str | None, body: bytes, project: str = "p", at: int = AT) -> None:
    """Put one event on a topic, or on none."""
    with writing(store) as transaction:
        transaction.append(
            transaction.head(project, at), "topic.posted", "s", b'{"message":' + body + b"}", topic
        )


def test_topic_shows_its_own_messages_in_order(store: Store) -> None:
    """Numbers are the project's own: they rise within a topic and have gaps; the bodies are as they were posted."""
    for number, topic in enumerate(["a", "b", None, "a", "a", "b"]):
        append_message(store, topic, str(number).encode(), at=AT + number)
        append_message(store, topic, b'"not ours"', "q")
    with store.reading() as reader:
        found = reader.messages("p", "a", 0, 10)
        assert [(message.sequence, bytes(message.body)) for message in found] == [
            (1, b"0"),
            (4, b"3"),
            (5, b"4"),
        ]
        assert {message.topic for message in found} == {"a"}
        assert found[0].posted_at == NOON
        assert found[1].posted_at == NOON + timedelta(microseconds=3)
        assert [bytes(message.body) for message in reader.messages("p", "b", 0, 10)] == [b"1", b"5"]


def test_topic_comes_in_pages(store: Store) -> None:
    """A cursor is the last number that was read; the end is an empty page."""
    for number in range(7):
        append_message(store, "a" if number != 3 else "b", str(number).encode())
    with store.reading() as reader:
        assert [message.sequence for message in reader.messages("p", "a", 0, 3)] == [1, 2, 3]
        assert [message.sequence for message in reader.messages("p", "a", 3, 3)] == [5, 6, 7]
        assert reader.messages("p", "a", 7, 3) == []
        assert reader.messages("p", "a", 99, 3) == []
        assert reader.messages("p", "none", 0, 3) == []
        assert reader.messages("nowhere", "a", 0, 3) == []


def test_event_keeps_its_topic_in_the_log(store: Store) -> None:
    """The audit compares the two."""
    append_message(store, "a", b"1")
    append_message(store, None, b"2")
    with store.reading() as reader:
        assert [record.topic for record in reader.records("p", 0, 10)] == ["a", None]


def test_transaction_sees_the_messages_that_were_appended_in_it(store: Store) -> None:
    """After those of the file, with the numbers that they keep; a page ends at its limit."""
    append_message(store, "a", b"1")
    append_message(store, "b", b"2")
    with writing(store) as transaction:
        head, other = transaction.head("p", AT), transaction.head("q", AT)
        transaction.append(other, "topic.posted", "s", b'{"message":0}', "a")
        transaction.append(head, "topic.posted", "s", b'{"message":3}', "a")
        transaction.append(head, "topic.posted", "s", b'{"message":4}', "b")
        transaction.append(head, "topic.posted", "s", b'{"message":5}')
        found = transaction.messages(head, "a", 0, 10)
        assert [(message.sequence, bytes(message.body)) for message in found] == [(1, b"1"), (3, b"3")]
        assert [message.sequence for message in transaction.messages(head, "a", 1, 10)] == [3]
        assert [message.sequence for message in transaction.messages(head, "a", 0, 1)] == [1]
        assert transaction.messages(head, "a", 3, 10) == []
        assert [message.sequence for message in transaction.messages(other, "a", 0, 10)] == [1]
    with store.reading() as reader:
        assert reader.messages("p", "a", 0, 10) == found
