"""The sender: retries with growing pauses, gives up aloud, and never says an address."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from assent.client.outbox import Claim
from assent.protocol.error import StoreBusyError
from assent.protocol.target import Notice
from assent.surfaces.notify.delivery import DeliveryError, Parcel
from assent.surfaces.notify.sender import MOST_TRIES, Sender, pause_after
from tests.cli.shell import wait_for
from tests.patience import PATIENCE
from tests.surfaces.notify.mail_sink import Letterbox
from tests.surfaces.notify.office import SIGNING, Office
from tests.surfaces.notify.sink import Answer, Sink
from tests.surfaces.notify.slack_double import TOKEN, SlackDouble

__all__: list[str] = []

pytestmark = pytest.mark.filterwarnings(
    "ignore:'imghdr' is deprecated"
)  # Apprise loads a library that uses it


@pytest.fixture
def hook(office: Office, http: Sink) -> Sink:
    """Give a program that is told of every event."""
    office.add(f"http://{http.place}/in/a-secret-path")
    return http


@contextmanager
def running(sender: Sender) -> Iterator[threading.Thread]:
    """Let a sender run on a thread of its own."""
    thread = threading.Thread(target=sender.run)
    thread.start()
    try:
        yield thread
    finally:
        sender.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_message_that_fails_is_tried_again_after_growing_pauses_and_then_given_up(
    office: Office, hook: Sink
) -> None:
    """Over half an hour. The log says so, the list shows it, and the next message is tried."""
    office.ask("First?")
    hook.decide = lambda _: Answer(500)
    pauses = []
    for attempt in range(1, MOST_TRIES):
        assert office.send() == 1
        target, far = office.far()
        assert (far.attempts, target.failed) == (attempt, 0)
        assert far.last_error == "The webhook replied with status 500."
        assert office.send() == 0  # not before its time
        pauses.append(far.next_try_at / 1e6 - office.clock.at.timestamp())
        office.wait(pauses[-1])
    assert pauses == [5, 10, 20, 40, 80, 160, 320, 600, 600]
    hook.decide = None
    hook.answers = [Answer(500)]
    office.ask("Second?")
    office.send()
    target, far = office.far()
    assert (target.failed, far.attempts, far.last_error) == (1, 0, "")
    assert hook.sent[-1].json["data"]["title"] == "Second?"
    counts = office.sender.counts
    assert (counts.delivered, counts.failed, counts.given_up) == (1, MOST_TRIES, 1)
    (failed,) = [body for kind, body in office.log() if kind == "target.failed"]
    assert b'"attempts":10' in failed
    assert b"status 500" in failed


@pytest.mark.parametrize("attempts", [1, 8, 9, 60, 10_000])
def test_pause_grows_and_has_an_end(attempts: int) -> None:
    """Never more than ten minutes, however often."""
    assert pause_after(attempts) <= pause_after(attempts + 1) <= 600


def test_target_that_is_gone_is_told_nothing_more(office: Office, hook: Sink) -> None:
    """410 is for good (Standard Webhooks); a person sees it, and adds it anew if they want."""
    office.ask()
    hook.answers = [Answer(410)]
    office.send()
    office.ask()
    assert (office.send(), len(hook.sent)) == (0, 1)
    assert office.far()[0].disabled_at == office.clock.at
    office.remove()
    office.add(f"http://{hook.place}/in/a-secret-path")
    office.ask()
    assert (office.send(), len(hook.sent)) == (1, 2)


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 404, 500, 503])
def test_status_that_is_no_success_is_tried_again(office: Office, hook: Sink, status: int) -> None:
    """A redirect, too: nothing is followed."""
    office.ask()
    hook.answers = [Answer(status, headers={"location": f"http://{hook.place}/elsewhere"})]
    office.send()
    assert office.far()[1].last_error == f"The webhook replied with status {status}."
    office.wait(5)
    office.send()
    assert [sent.path for sent in hook.sent] == ["/in/a-secret-path"] * 2


def test_name_that_changes_its_mind_after_it_was_added_is_told_nothing(office: Office, http: Sink) -> None:
    """The address is checked for every delivery, where it is connected to; nobody has allowed this one to be inside."""
    office.add(f"http://localhost:{http.port}/", allows_internal=False)
    office.ask()
    office.send()
    assert http.sent == []
    assert "inside this network" in office.far()[1].last_error


def test_target_that_fails_holds_up_nobody_else(office: Office, hook: Sink, slack: SlackDouble) -> None:
    """Each has its own cursor."""
    office.add(slack.address, "team")
    hook.decide = lambda _: Answer(500)
    office.ask()
    office.send()
    assert slack.only
    assert office.far("team")[1].attempts == 0


def test_person_who_could_not_be_told_in_time_is_not_told_of_what_is_over(
    office: Office, slack: SlackDouble
) -> None:
    """It was answered between two tries; the next thing that waits is told."""
    office.add(slack.address)
    ask = office.ask("First?")
    slack.refusals = ["fatal_error"]
    office.send()
    office.answer(ask)
    office.ask("Second?")
    office.wait(5)
    office.send()
    assert slack.shown().startswith("A question in shop waits for you:\n> Second?")


def test_address_and_secret_are_said_nowhere(
    office: Office,
    slack: SlackDouble,
    http: Sink,
    letterbox: Letterbox,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Not in the log of events, the list, errors, or what is printed; also where everything fails."""
    caplog.set_level(logging.INFO)
    paths = [
        f"http://{http.place}/hush-webhook",
        f"ntfy+http://hush-token@{http.place}/hush-topic",
        f"json://hush-user:hush-word@{http.place}/hush-path",
        f"smtp://hush-user:hush-word@{letterbox.place}/?from=hush@example.com&to=hush@example.com&tls=none",
        slack.address,
    ]
    for number, path in enumerate(paths):
        office.add(path, f"target-{number}")
    office.ask()
    http.decide = lambda _: Answer(500, b"hush-reply")
    slack.refusals = ["hush hush"] * 20
    office.sender = office.new_sender(most_tries=2)
    office.send()
    office.wait(5)
    office.send()
    found = office.outbox.targets("shop")
    assert [target.failed for target, _ in found] == [1] * 5
    said = [caplog.text, *capfd.readouterr(), repr(found), *(str(body) for _, body in office.log())]
    for word in ("hush", TOKEN, SIGNING, "/in", "C024BE91L"):
        assert [text for text in said if word in text] == []


def test_error_of_ours_is_logged_by_its_name_and_ends_nothing(
    office: Office, hook: Sink, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next look finds the same message."""

    def fail(_: Claim) -> bool:
        raise RuntimeError("hush")

    office.ask()
    monkeypatch.setattr(office.outbox, "next_notice", fail)
    assert office.sender.send_due() == 1
    assert "the sender failed with RuntimeError" in caplog.text
    assert "hush" not in caplog.text
    monkeypatch.undo()
    office.wait(61)  # its claim has ended by itself
    office.send()
    assert len(hook.sent) == 1


def test_store_that_is_busy_for_a_moment_loses_no_message(
    office: Office, hook: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was delivered, and that could not be noted: it comes twice, under the same id."""
    office.ask()

    def fail(*_: object) -> None:
        raise StoreBusyError

    monkeypatch.setattr(office.outbox, "delivered", fail)
    office.sender.send_due()
    monkeypatch.undo()
    office.wait(61)
    office.send()
    first, second = hook.sent
    assert first.headers["webhook-id"] == second.headers["webhook-id"]


# Running


def test_sender_that_runs_delivers_what_comes_and_stops(office: Office, hook: Sink) -> None:
    """Without being asked to look."""
    with running(office.new_sender()):
        ask = office.ask()
        wait_for(lambda: len(hook.sent) == 1)
        office.answer(ask)
        wait_for(lambda: len(hook.sent) == 2)
    assert [sent.json["type"] for sent in hook.sent] == ["ask.opened", "ask.ended"]


def test_two_senders_deliver_each_message_once(office: Office, hook: Sink) -> None:
    """The outbox gives a target to one of them at a time."""
    with running(office.new_sender()), running(office.new_sender()):
        for number in range(20):
            office.ask(f"Number {number}?")
        wait_for(lambda: len(hook.sent) >= 20)
        wait_for(lambda: office.outbox.due() == [])
    titles = [sent.json["data"]["title"] for sent in hook.sent]
    assert titles == [f"Number {number}?" for number in range(20)]


def test_sender_that_runs_outlives_what_it_cannot_read(
    office: Office, hook: Sink, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A store that is away, or a fault of ours; it looks again a second later."""
    monkeypatch.setattr("assent.surfaces.notify.sender._AGAIN_SECONDS", 0.01)
    faults: list[Exception] = [StoreBusyError(), RuntimeError("hush")]
    real = office.outbox.tick

    def tick() -> None:
        if faults:
            raise faults.pop(0)
        real()

    monkeypatch.setattr(office.outbox, "tick", tick)
    with running(office.new_sender()):
        office.ask()
        wait_for(lambda: len(hook.sent) == 1)
    assert "the outbox cannot be read: store_busy" in caplog.text
    assert "the outbox cannot be read: RuntimeError" in caplog.text
    assert "hush" not in caplog.text


def test_sender_that_is_stopped_in_the_middle_leaves_the_rest_to_the_next_one_at_once(
    office: Office, hook: Sink
) -> None:
    """What is being sent is sent; how often the next one was tried stays known, and nobody waits for a lease to end."""
    for number in range(3):
        office.ask(f"Number {number}?")
    hook.answers = [Answer(500)]
    office.send()
    office.wait(5)
    carry: Callable[[Parcel], str] = office.sender._carry

    def stop_first(parcel: Parcel) -> str:
        sender.stop()
        return carry(parcel)

    sender = office.new_sender()
    sender._carry = stop_first
    sender.send_due()
    assert [sent.json["data"]["title"] for sent in hook.sent] == ["Number 0?", "Number 0?"]
    assert office.send() == 1
    assert hook.sent[-1].json["data"]["title"] == "Number 2?"


def test_sender_that_is_stopped_before_it_begins_forgets_no_failure(office: Office, hook: Sink) -> None:
    """Otherwise a server that is started often would try for ever."""
    office.ask()
    hook.answers = [Answer(500)]
    office.send()
    office.wait(5)
    stopped = office.new_sender()
    stopped.stop()
    stopped.send_due()
    assert office.far()[1].attempts == 1
    assert office.send() == 1


def test_claim_that_waited_too_long_for_its_turn_is_made_sure_of(office: Office, hook: Sink) -> None:
    """Somebody else may have it by then, and would tell the same."""
    office.ask()
    claim = office.outbox.claim("shop", "hook")
    assert claim is not None
    office.wait(61)
    other = office.outbox.claim("shop", "hook")
    assert other is not None
    office.sender._work(claim, heard=-1_000.0)
    assert hook.sent == []


def test_carrier_that_raises_anything_is_a_failure_without_its_words(office: Office, hook: Sink) -> None:
    """They may have the address in them."""

    def carry(_: Parcel) -> str:
        raise ValueError("hush")

    office.ask()
    sender = office.new_sender()
    sender._carry = carry
    sender.send_due()
    assert (office.far()[1].last_error, hook.sent) == ("It failed with ValueError.", [])


def test_failure_says_whether_it_is_for_good() -> None:
    """Only then is a target told nothing more."""
    error = DeliveryError("x", is_gone=True, retry_seconds=3)
    assert (error.code, error.is_gone, error.retry_seconds) == ("not_delivered", True, 3)
    assert Notice.__struct_config__.frozen
