"""The way out: no target leads inside, whatever its name says and whenever it says it (S13)."""

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from assent.effects import outward_guard
from assent.effects.outward import (
    MAX_REPLY_BYTES,
    OutwardError,
    check_outward,
    is_inside,
    post,
)
from assent.effects.outward_guard import guarded
from assent.protocol.error import BadRequestError
from tests.patience import PATIENCE
from tests.surfaces.notify.sink import CERTIFICATE, Answer, Sink, sink

__all__: list[str] = []

INSIDE = "The host leads to an address inside this network, which nobody has allowed (--allow-internal)."
INNER = [
    *("127.0.0.1", "127.9.9.9", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0"),
    *("100.64.0.1", "192.0.0.8", "192.88.99.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "fec0::1", "ff02::1", "2001:db8::1"),
    *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::ffff:0:10.0.0.1", "64:ff9b::7f00:1"),
    *("64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1", "3fff::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
    *("", "localhost", "0x7f000001", "2130706433"),
]
OUTER = [
    "93.184.216.34",
    "8.8.8.8",
    "2606:2800:220:1:248:1893:25c8:1946",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
]
NAMES = ["127.1", "0x7f000001", "2130706433", "017700000001", "localhost", "[::1]", "[::ffff:127.0.0.1]"]
"""Other ways to write this machine."""


@pytest.fixture
def inner() -> Iterator[Sink]:
    """Give what nobody may reach."""
    with sink() as made:
        yield made
        assert made.sent == []


def name_server(monkeypatch: pytest.MonkeyPatch, *replies: str, port: int = 0) -> list[str]:
    """Have every name lead to these numbers, one after another, and always to the last; return what was looked up."""
    asked: list[str] = []
    left = list(replies)

    def look_up(host: str, wanted: int, *_: object, **__: object) -> list[tuple[Any, ...]]:
        asked.append(host)
        number = left.pop(0) if len(left) > 1 else left[0]
        family = socket.AF_INET6 if ":" in number else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (number, port or wanted))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


@pytest.mark.parametrize("number", INNER)
def test_number_of_this_machine_or_network_is_inside(number: str) -> None:
    """Also one that is wrapped in another one, and whatever cannot be read."""
    assert is_inside(number)


@pytest.mark.parametrize("number", OUTER)
def test_number_of_the_open_internet_is_not_inside(number: str) -> None:
    """Twin of the test above."""
    assert not is_inside(number)


@pytest.mark.parametrize("name", NAMES)
def test_name_of_this_machine_is_refused_however_it_is_spelled(name: str, inner: Sink) -> None:
    """The system reads more spellings than we do; what counts is where they lead."""
    with pytest.raises(OutwardError):
        post(f"http://{name}:{inner.port}/", b"", {})


def test_host_of_which_one_number_is_inside_is_refused_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of them would be taken is chance."""
    both = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 80)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", 80)),
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    with pytest.raises(OutwardError, match="inside this network"):
        check_outward("both.example.com", 80, allows_internal=False)
    assert len(check_outward("both.example.com", 80, allows_internal=True)) == 2


def test_name_that_changes_its_mind_after_the_check_leads_nowhere(
    monkeypatch: pytest.MonkeyPatch, inner: Sink
) -> None:
    """It was outside when the target was added, and inside when it is told: the number that is connected to is checked."""
    asked = name_server(monkeypatch, "93.184.216.34", "127.0.0.1", port=inner.port)
    check_outward("rebind.example.com", 80, allows_internal=False)
    with pytest.raises(OutwardError) as refused:
        post("http://rebind.example.com/", b"", {})
    assert refused.value.message == INSIDE
    assert asked == ["rebind.example.com"] * 2


def test_name_is_looked_up_once_for_a_delivery_and_what_was_checked_is_connected_to(
    monkeypatch: pytest.MonkeyPatch, inner: Sink
) -> None:
    """A second look-up between the check and the connection would be where a name changes its mind."""
    asked = name_server(monkeypatch, "93.184.216.34", "127.0.0.1", port=inner.port)
    connected: list[Any] = []

    def connect(_: socket.socket, address: Any) -> None:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", connect)
    with pytest.raises(OutwardError, match="Nobody listens there"):
        post("http://rebind.example.com/", b"", {})
    assert (asked, connected) == (["rebind.example.com"], [("93.184.216.34", inner.port)])


def test_redirect_is_not_followed(inner: Sink) -> None:
    """It is what the other side said, and no more; whoever sends takes it for a failure."""
    with sink() as outer:
        outer.answers = [Answer(307, headers={"location": f"http://{inner.place}/"})]
        reply = post(f"http://{outer.place}/", b"x", {}, allows_internal=True)
        assert (reply.status, len(outer.sent)) == (307, 1)


def test_proxy_of_the_surroundings_is_not_asked(monkeypatch: pytest.MonkeyPatch, inner: Sink) -> None:
    """It would connect for us, to wherever it likes."""
    monkeypatch.setenv("http_proxy", f"http://{inner.place}")
    with sink() as outer:
        assert post(f"http://{outer.place}/", b"", {}, allows_internal=True).status == 200


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host/",
        "file:///etc/passwd",
        "http:///x",
        "http://::1:80/",
        "http://host:99999/",
        "http://[/",
        "host",
    ],
)
def test_address_of_another_kind_is_refused(url: str) -> None:
    """Only HTTP is spoken here."""
    with pytest.raises(BadRequestError):
        post(url, b"", {})


def test_reply_that_drips_is_cut_when_its_time_is_over() -> None:
    """A socket's own time-out would begin anew with every byte."""
    with sink() as slow:
        slow.answers = [Answer(500, b"", drips=True)]
        began = time.monotonic()
        reply = post(f"http://{slow.place}/", b"", {}, allows_internal=True, seconds=0.3)
        assert time.monotonic() - began < PATIENCE / 2
        assert reply.status == 500


def test_peer_that_says_nothing_is_given_up_in_time() -> None:
    """Nothing of the address is in the sentence."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(OutwardError) as late:
            post(f"http://127.0.0.1:{port}/secret", b"", {}, allows_internal=True, seconds=0.2)
    assert late.value.message == "The message did not get through: no reply in time."


def test_name_server_that_says_nothing_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system would wait for half a minute."""
    is_over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [is_over.wait(PATIENCE)][:0])
    began = time.monotonic()
    with pytest.raises(OutwardError, match="The host has no address"):
        post("http://slow.example.com/", b"", {}, seconds=0.2)
    assert time.monotonic() - began < PATIENCE / 2
    is_over.set()


def test_long_reply_is_read_in_part() -> None:
    """Nobody fills our memory."""
    with sink() as talker:
        talker.answers = [Answer(200, b"x" * (MAX_REPLY_BYTES + 10))]
        assert len(post(f"http://{talker.place}/", b"", {}, allows_internal=True).body) == MAX_REPLY_BYTES


def test_certificate_that_is_not_to_be_believed_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """And one that is lets it through, under the name that was asked for."""
    with sink(is_tls=True) as hidden:
        url = f"https://localhost:{hidden.port}/in"
        with pytest.raises(OutwardError, match="certificate is not to be believed"):
            post(url, b"x", {}, allows_internal=True)
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        assert post(url, b"x", {}, allows_internal=True).status == 200
        assert [sent.headers["host"] for sent in hidden.sent] == [f"localhost:{hidden.port}"]


@pytest.mark.parametrize(
    ("url", "host"), [("https://localhost/", "localhost"), ("https://localhost:443/", "localhost")]
)
def test_usual_port_is_not_named_in_the_host_header(
    monkeypatch: pytest.MonkeyPatch, url: str, host: str
) -> None:
    """As every browser has it; some servers know no other spelling."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with sink(is_tls=True) as hidden:
        name_server(monkeypatch, "127.0.0.1", port=hidden.port)
        post(url, b"", {}, allows_internal=True)
        assert [sent.headers["host"] for sent in hidden.sent] == [host]


def test_path_that_is_not_plain_is_spelled_in_bytes() -> None:
    """Whoever copies an address out of a browser may have it so."""
    with sink() as taken:
        post(f"http://{taken.place}/büro/a%20b?key=ä&b=1+2", b"", {}, allows_internal=True)
        assert [sent.path for sent in taken.sent] == ["/b%C3%BCro/a%20b?key=%C3%A4&b=1+2"]


# Libraries that connect by themselves


def test_library_that_connects_by_itself_is_stopped_at_an_address_inside(inner: Sink) -> None:
    """Whatever it makes of the refusal."""
    with pytest.raises(OutwardError) as refused, guarded(allows_internal=False):
        fetch(f"http://{inner.place}/")
    assert refused.value.message == INSIDE
    with sink() as outer, guarded(allows_internal=True):
        assert fetch(f"http://{outer.place}/")


def test_library_that_takes_a_name_inside_is_stopped(monkeypatch: pytest.MonkeyPatch, inner: Sink) -> None:
    """The number is looked at right before it is connected to, whoever has chosen it."""
    name_server(monkeypatch, "127.0.0.1", port=inner.port)
    with pytest.raises(OutwardError), guarded(allows_internal=False):
        fetch("http://rebind.example.com/")


def test_library_that_follows_a_redirect_inside_is_stopped(
    monkeypatch: pytest.MonkeyPatch, inner: Sink
) -> None:
    """The first step was fine."""
    monkeypatch.setattr(outward_guard, "is_inside", lambda number: number != "127.0.0.2")
    with sink("127.0.0.2") as outer:
        outer.answers = [Answer(307, headers={"location": f"http://{inner.place}/"})]
        with pytest.raises(OutwardError), guarded(allows_internal=False):
            fetch(f"http://{outer.place}/")
        assert len(outer.sent) == 1


@pytest.mark.parametrize("family", [socket.AF_UNIX, socket.AF_INET])
def test_library_that_uses_no_number_is_stopped(family: socket.AddressFamily) -> None:
    """A name would be looked up after the check, and a file is of this machine."""
    address: Any = "/run/some.socket" if family == socket.AF_UNIX else ("localhost", 9)
    with (
        socket.socket(family, socket.SOCK_DGRAM) as made,
        pytest.raises(OutwardError),
        guarded(allows_internal=False),
        pytest.raises(OSError),
    ):
        made.sendto(b"x", address)


def test_library_whose_peer_drips_is_cut_in_time() -> None:
    """Its own time-out begins anew with every byte."""
    with sink() as slow:
        slow.answers = [Answer(200, b"", drips=True)]
        began = time.monotonic()
        with guarded(allows_internal=True, seconds=0.3):
            assert not fetch(f"http://{slow.place}/")
        assert time.monotonic() - began < PATIENCE / 2


def test_nobody_else_is_guarded(inner: Sink) -> None:
    """Neither what comes after, nor what other threads do."""
    with pytest.raises(OutwardError), guarded(allows_internal=False):
        fetch(f"http://{inner.place}/")
    with sink() as outer:
        assert fetch(f"http://{outer.place}/")


def fetch(url: str) -> bool:
    """Do as libraries do; say whether it worked."""
    try:
        return requests.post(url, b"", timeout=PATIENCE).ok
    except requests.RequestException:
        return False
