"""`assent notify`: people say who is told of asks, see how that goes, and nobody is told the address."""

import io
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import httpx2
import pytest
from standardwebhooks import Webhook

from tests.cli.serving import served
from tests.cli.shell import Result, Shell, Terminal, wait_for
from tests.patience import PATIENCE
from tests.surfaces.notify.sink import Answer, Sink, sink

__all__: list[str] = []

pytestmark = pytest.mark.filterwarnings(
    "ignore:'imghdr' is deprecated"
)  # Apprise loads a library that uses it

Call = Callable[..., Result]
SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
INSIDE = "The host leads to an address inside this network, which nobody has allowed (--allow-internal).\n"


@pytest.fixture
def there() -> Iterator[Sink]:
    """Give somebody who is told."""
    with sink() as made:
        yield made


@pytest.fixture
def phone(call: Call, there: Sink) -> str:
    """Add a phone; return its address."""
    address = f"ntfy+http://{there.place}/hush-topic"
    added = call("notify", "add", "phone", address, "--allow-internal", "--unattended")
    assert (added.status, added.out) == (0, "")
    assert added.err == (
        "phone: ntfy at 127.0.0.1 is told of the asks of shop.\nTry it: assent notify test phone\n"
        "A server tells it by itself (assent serve); without one: assent notify send --watch\n"
    )
    return address


def ask(call: Call, title: str = "Which colour?") -> str:
    """Open an ask; return its id."""
    opened = call("ask", title, "-o", "Red", "-o", "Blue", "--no-wait")
    assert opened.status == 0, opened.err
    return opened.out.strip()


@pytest.mark.usefixtures("phone")
def test_target_is_told_of_an_ask_by_send(call: Call, there: Sink) -> None:
    """Where no server runs; what was told is not told again."""
    name = ask(call)
    sent = call("notify", "send")
    assert (sent.status, sent.out, sent.err) == (0, "1 delivered, 0 failed, 0 given up.\n", "")
    assert there.sent[0].json["message"].startswith("> Which colour?\n")
    assert "click" not in there.sent[0].json  # nobody has said where the page is
    call("answer", name, "Red")
    assert call("notify", "send").out == "1 delivered, 0 failed, 0 given up.\n"
    assert call("notify", "send").out == "0 delivered, 0 failed, 0 given up.\n"
    assert len(there.sent) == 2


def test_link_leads_to_the_page_that_was_named(
    call: Call, phone: str, there: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing else passes for one."""
    assert phone
    monkeypatch.setenv("ASSENT_URL", "https://assent.example.com/")
    assert call("notify", "test", "phone").status == 0
    assert there.sent[0].json["click"] == "https://assent.example.com/"
    for wrong in ("assent.example.com", "javascript:x", "https://", "https://ana:x@host/", "https://["):
        monkeypatch.setenv("ASSENT_URL", wrong)
        refused = call("notify", "test", "phone")
        assert (refused.status, refused.err.startswith("ASSENT_URL is where people open the inbox")) == (
            2,
            True,
        )


@pytest.mark.usefixtures("phone")
def test_failure_is_seen_in_the_list_and_tried_again(call: Call, there: Sink) -> None:
    """With what went wrong, how often, and when the next try is."""
    ask(call)
    there.decide = lambda _: Answer(500)
    sent = call("notify", "send")
    assert (sent.status, sent.out) == (1, "0 delivered, 1 failed, 0 given up.\n")
    assert sent.err == "Tried again later: phone. What went wrong: assent notify list\n"
    again = call("notify", "send")
    assert (again.status, again.out) == (1, "0 delivered, 0 failed, 0 given up.\n")
    (row,) = call("notify", "list").out.splitlines()[1:]
    assert row.startswith("phone   ntfy     127.0.0.1  1 to be told; tried once, again at ")
    assert row.endswith(" UTC: ntfy replied with status 500. (added by ana)")
    (target,) = call("notify", "list", "--json").json["targets"]
    assert (target["pending"], target["attempts"]) == (1, 1)
    assert target["last_error"] == "ntfy replied with status 500."
    assert target["next_try_at"] > target["created_at"]


@pytest.mark.usefixtures("phone")
def test_target_that_is_gone_is_seen_in_the_list(call: Call, there: Sink) -> None:
    """And is told nothing more, until a person adds it anew."""
    ask(call)
    there.answers = [Answer(410)]
    sent = call("notify", "send")
    assert (sent.status, sent.out) == (1, "0 delivered, 1 failed, 1 given up.\n")
    listed = call("notify", "list").out.splitlines()[1]
    assert "  gone since " in listed
    assert listed.endswith(" UTC: the other side says so (added by ana)")
    ask(call)
    assert call("notify", "send").out == "0 delivered, 0 failed, 0 given up.\n"
    log = call("log", "--json").out
    assert '"target.failed"' in log


@pytest.mark.usefixtures("phone")
def test_targets_are_listed_and_removed(call: Call, there: Sink) -> None:
    """A name is free again once its target was removed."""
    listed = call("notify", "list")
    assert (listed.status, listed.err) == (0, "")
    assert listed.out == (
        "target  service  host       state\nphone   ntfy     127.0.0.1  told of everything (added by ana)\n"
    )
    taken = call("notify", "add", "phone", f"http://{there.place}/", "--allow-internal", "--unattended")
    assert (taken.status, taken.err) == (6, 'There is a target "phone" already: ntfy at 127.0.0.1.\n')
    removed = call("notify", "remove", "phone")
    assert (removed.status, removed.err) == (0, "phone is told nothing more, and its address is forgotten.\n")
    assert call("notify", "list").err == "Nobody is told of the asks of this project: assent notify add.\n"
    assert call("notify", "remove", "nobody").status == 1
    ask(call)
    assert call("notify", "send").out == "0 delivered, 0 failed, 0 given up.\n"
    assert there.sent == []


def test_looking_makes_no_store(call: Call, shell: Shell) -> None:
    """A list of nothing leaves nothing behind."""
    assert call("notify", "list", "--json").json == {"targets": []}
    assert not shell.store.exists()


@pytest.mark.usefixtures("phone")
def test_test_message_says_that_it_is_one_and_opens_nothing(call: Call, there: Sink) -> None:
    """It arrives, or what went wrong is told."""
    tested = call("notify", "test", "phone")
    assert (tested.status, tested.out) == (0, "phone: ntfy at 127.0.0.1 took the message.\n")
    message = there.sent[0].json
    assert message["title"] == "A test from shop"
    assert message["message"] == "> Does this arrive?\nNobody waits for an answer."
    assert message["tags"] == ["test"]
    assert call("inbox", "--count").out == "0\n"
    there.answers = [Answer(403)]
    failed = call("notify", "test", "phone")
    assert (failed.status, failed.err) == (1, "phone: ntfy replied with status 403.\n")
    assert call("notify", "test", "nobody").status == 1


def test_webhook_s_secret_is_printed_once_and_signs_what_comes(call: Call, there: Sink) -> None:
    """Standard output is the secret and nothing else."""
    added = call("notify", "add", "ci", f"http://{there.place}/in", "--allow-internal", "--unattended")
    secret = added.out.strip()
    assert secret.startswith("whsec_")
    assert call("notify", "test", "ci").status == 0
    ask(call)
    call("notify", "send")
    for sent in there.sent:
        Webhook(secret).verify(sent.body, sent.headers)
    assert [sent.json["type"] for sent in there.sent] == ["test", "ask.opened"]
    everything = "".join(call(*words).out for words in (("notify", "list", "--json"), ("log", "--json")))
    assert secret not in everything


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("verb", ["add", "remove", "test", "send"])
@pytest.mark.parametrize("mark", [("ASSENT_PRINCIPAL", "agent:coder"), ("CLAUDECODE", "1")])
def test_agent_is_refused(
    call: Call, monkeypatch: pytest.MonkeyPatch, verb: str, mark: tuple[str, str]
) -> None:
    """It would choose who hears of its own work."""
    monkeypatch.setenv(*mark)
    words = {
        "add": ("x", "ntfy://ntfy.sh/hush", "--unattended"),
        "remove": ("x",),
        "test": ("x",),
        "send": (),
    }
    refused = call("notify", verb, *words[verb])
    assert (refused.status, refused.out) == (4, "")
    assert "only a person can say who is told of asks" in refused.err


def test_address_inside_is_refused_when_it_is_added(call: Call, there: Sink, shell: Shell) -> None:
    """Unless a person says that it is theirs."""
    for address in (
        f"https://{there.place}/hush",
        f"ntfy://{there.place}/hush",
        f"json://{there.place}/hush",
    ):
        refused = call("notify", "add", "x", address, "--unattended")
        assert (refused.status, refused.err) == (1, INSIDE)
    clear = call("notify", "add", "x", f"http://{there.place}/hush", "--unattended")
    assert (clear.status, clear.err.startswith("Without TLS everybody on the way reads along")) == (2, True)
    assert not shell.store.exists()


def test_target_on_a_process_s_word_takes_an_explicit_consent(call: Call, there: Sink) -> None:
    """Nobody is at a terminal here; the log shows whoever says so all the same."""
    words = ("notify", "add", "ci", f"http://{there.place}/", "--allow-internal")
    refused = call(*words)
    assert (refused.status, refused.out) == (4, "")
    assert refused.err.endswith("--unattended says that you mean it all the same.\n")
    assert call(*words, "--unattended").status == 0
    assert '"is_unattended":true' in call("log", "--json").out.replace(" ", "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("Phone", "ntfy://ntfy.sh/hush"), '"Phone" is no name for a target'),
        (("x", "ntfy://ntfy.sh"), "An ntfy address is ntfy://HOST/TOPIC."),
        (("x", "nothing://hush"), "Neither Assent nor Apprise knows an address like this one."),
        (("x", "mailto:hush@example.com"), "Mail needs a server: set ASSENT_SMTP="),
        (("x", "slack://hush@C1", "--people", "ana"), '"ana" names nobody'),
        (("x", "slack://hush@C1", "--people", "U024=ana", "--people", "U024=bob"), '"U024=bob" names nobody'),
        (("x", "http://127.0.0.1/hush", "--allow-internal", "--kinds", "wish"), '"wish" is no kind of ask'),
        (
            ("x", "http://127.0.0.1/hush", "--allow-internal", "--people", "U024BE7LH=ana"),
            "Only a Slack bot has buttons",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(call: Call, words: tuple[str, ...], sentence: str) -> None:
    """Which does not repeat the address."""
    refused = call("notify", "add", *words, "--unattended")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.startswith(sentence)
    assert "hush" not in refused.err


def test_target_of_some_kinds_and_people_is_shown_so(call: Call, there: Sink) -> None:
    """In JSON, for whoever keeps them in a file."""
    address = f"slack://xoxb-hush@C024BE91L?api=http://{there.place}/api"
    people = ("--people", "U024BE7LH=ana", "--people", "U024BE7LI=bob")
    words = ("--kinds", "gate, approval", "--allow-internal", "--unattended")
    assert call("notify", "add", "team", address, *people, *words).status == 0
    (target,) = call("notify", "list", "--json").json["targets"]
    assert target["people"] == {"U024BE7LH": "ana", "U024BE7LI": "bob"}
    assert (target["kinds"], target["host"]) == (["gate", "approval"], "127.0.0.1")
    ask(call)
    assert call("notify", "send").out == "0 delivered, 0 failed, 0 given up.\n"


@pytest.mark.usefixtures("phone")
def test_address_is_printed_by_nothing(call: Call, there: Sink) -> None:
    """Not when it is added, listed, told, refused, or in the log and its audit."""
    ask(call)
    there.decide = lambda _: Answer(500, b"hush-topic")
    commands = [
        *(("notify", verb) for verb in ("list", "send")),
        *(("notify", "list", "--json"), ("notify", "test", "phone"), ("log", "--json"), ("log",)),
        *(("audit", "verify"), ("doctor",), ("store", "show"), ("notify", "remove", "phone")),
    ]
    said = "".join(result.out + result.err for result in (call(*words) for words in commands))
    assert "hush" not in said
    assert "phone" in said


def test_address_that_is_typed_is_not_shown(call: Call, shell: Shell, there: Sink) -> None:
    """At a terminal nobody has to consent to anything else, and no shell remembers it."""
    with Terminal(shell, "notify", "add", "phone", "-", "--allow-internal") as terminal:
        terminal.until("Address: ")
        terminal.type(f"ntfy+http://{there.place}/hush-topic\n")
        ended = terminal.end()
    assert ended.status == 0
    assert "phone: ntfy at 127.0.0.1 is told of the asks of shop." in ended.err
    assert "hush" not in ended.err
    ask(call)
    assert call("notify", "send").out == "1 delivered, 0 failed, 0 given up.\n"


def test_address_that_is_piped_in_is_read(call: Call, there: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    """From whatever keeps secrets."""
    monkeypatch.setattr("sys.stdin", io.StringIO(f"ntfy+http://{there.place}/hush-topic\n"))
    assert call("notify", "add", "phone", "-", "--allow-internal", "--unattended").status == 0
    ask(call)
    assert call("notify", "send").out == "1 delivered, 0 failed, 0 given up.\n"


@pytest.mark.usefixtures("phone")
def test_send_that_watches_goes_on_until_it_is_stopped(call: Call, shell: Shell, there: Sink) -> None:
    """Ctrl-C ends it, once what is being sent was sent."""
    with Terminal(shell, "notify", "send", "--watch") as terminal:
        ask(call)
        wait_for(lambda: len(there.sent) == 1)
        terminal.type("\x03")
        ended = terminal.end()
    assert (ended.status, ended.out) == (0, "1 delivered, 0 failed, 0 given up.\n"), ended.err


@pytest.mark.usefixtures("phone")
def test_server_tells_targets_and_counts_it(call: Call, shell: Shell, there: Sink) -> None:
    """By itself; its own address is in the link, and the metrics say what came of it."""
    words = ("token", "create", "--role", "observer", "--name", "prom", "--all-projects", "--unattended")
    token = call(*words).out.strip()
    with (
        served(shell, ASSENT_SLACK_SIGNING_SECRET=SECRET) as server,
        httpx2.Client(base_url=server.url, trust_env=False, timeout=PATIENCE) as line,
    ):
        name = ask(call)
        wait_for(lambda: len(there.sent) == 1)
        assert there.sent[0].json["click"] == f"{server.url}/#/inbox/shop/{name}"
        call("answer", name, "Red")
        wait_for(lambda: len(there.sent) == 2)
        form = {"content-type": "application/x-www-form-urlencoded"}
        assert line.post("/slack/interactions", content=b"payload={}", headers=form).status_code == 401
        bearer = {"authorization": f"Bearer {token}"}
        counted = 'assent_messages_total{result="delivered"} 2.0'
        wait_for(lambda: counted in line.get("/metrics", headers=bearer).text)
        assert 'assent_messages_total{result="failed"} 0.0' in line.get("/metrics", headers=bearer).text


def escalate(call: Call, *words: str) -> tuple[str, str]:
    """Open an ask whose deadline passes at once; return its id, and what was said beside it."""
    opened = call(
        *("ask", "Restart?", "-o", "Yes", "-o", "No", "--no-wait", "--deadline", "0.000001"),
        *("--consequence", "escalate", "--escalate-to", *words),
    )
    return opened.out.strip(), opened.err


def test_escalated_ask_reaches_the_person_who_is_asked_now(call: Call) -> None:
    """By their own target and by everybody's, and by nobody else's; what they are told, and the inbox, say who it is."""
    with ExitStack() as opened_here:
        of_all, of_sam, of_bob = (opened_here.enter_context(sink()) for _ in range(3))
        for name, there, words in (
            ("team", of_all, ()),
            ("pager", of_sam, ("--for", "human:sam", "--kinds", "gate")),
            ("phone", of_bob, ("--for", "bob")),
        ):
            address = f"ntfy+http://{there.place}/topic"
            added = call("notify", "add", name, address, *words, "--allow-internal", "--unattended")
            assert added.status == 0, added.err
        ask_id, said = escalate(call, "human:sam")
        assert said == ""
        assert "sam is asked now, too" in call("inbox").out
        assert "sam is asked now, too" in call("show", ask_id).out
        assert call("notify", "send").status == 0
        told = "A question in shop is overdue, and sam is asked now, too"
        heads = [[sent.json["title"] for sent in each.sent] for each in (of_all, of_sam, of_bob)]
        opened = "A question in shop waits for you"
        assert heads == [[opened, told], [told], [opened]]
        assert '"ask.escalated"' in call("log", "--json").out
        call("answer", ask_id, "Yes")
        assert call("notify", "send").out == "3 delivered, 0 failed, 0 given up.\n"
    people = {each["name"]: each["person"] for each in call("notify", "list", "--json").json["targets"]}
    assert people == {"team": None, "pager": "human:sam", "phone": "human:bob"}
    assert "for sam; told of everything" in call("notify", "list").out


@pytest.mark.usefixtures("phone")
def test_escalation_to_somebody_who_is_told_nothing_is_warned_of_and_still_recorded(call: Call) -> None:
    """Whoever asks is told at once, and how that is mended; a person who has a target is not warned of."""
    ask_id, said = escalate(call, "sam")
    assert said == (
        "Warning: human:sam has no target here, so at the deadline only the targets of everybody are told. "
        "To add one: assent notify add NAME ADDRESS --for human:sam\n"
    )
    assert call("show", ask_id, "--json").json["is_overdue"]
    assert '"ask.escalated"' in call("log", "--json").out
    call("notify", "remove", "phone")
    assert "so at the deadline nobody is told." in escalate(call, "human:sam")[1]
    assert escalate(call, "agent:coder") == ("", '"agent:coder" is no person: write human:NAME.\n')


def test_server_refuses_a_secret_that_can_be_guessed(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever guesses it presses buttons in everybody's name."""
    monkeypatch.setenv("ASSENT_SLACK_SIGNING_SECRET", SECRET[:15])
    refused = call("serve", "--port", "0")
    assert (refused.status, refused.err) == (
        2,
        "ASSENT_SLACK_SIGNING_SECRET has at least 16 characters, made by chance.\n",
    )


def test_targets_are_set_where_the_store_is(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address does not travel to a server."""
    monkeypatch.setenv("ASSENT_STORE", "http://127.0.0.1:9")
    refused = call("notify", "add", "x", "http://127.0.0.1/", "--allow-internal", "--unattended")
    assert refused.status == 2
    assert refused.err.startswith("What is named here is a server")
    assert os.environ["ASSENT_STORE"]
