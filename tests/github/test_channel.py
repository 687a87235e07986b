"""Both ways to GitHub answer alike: what it said, or one plain sentence on why not."""

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from assent.effects.github import rest as rest_module
from assent.effects.github.channel import MAX_PAGES, Channel, pages, parse_answer
from assent.effects.github.find import find_channel
from assent.effects.github.gh import GhChannel, gh_channel
from assent.effects.github.rest import RestChannel, rest_channel
from assent.protocol.canonical import Json
from assent.protocol.error import EffectError, GitHubError
from tests.github.double import TOKEN, Double, Fault
from tests.patience import PATIENCE
from tests.proves import proves
from tools.github_schema import OPERATIONS

__all__: list[str] = []

PULL = "/repos/acme/shop/pulls/7"


@pytest.fixture(params=["rest", "gh"])
def channel(request: pytest.FixtureRequest) -> Channel:
    """Give each way to the double."""
    found = find_channel(request.getfixturevalue(f"{request.param}_environ"))
    assert found is not None
    return found


def refused(channel: Channel, method: str = "GET", path: str = PULL, body: Json = None) -> GitHubError:
    """Return how a request is refused."""
    with pytest.raises(GitHubError) as caught:
        channel.request(method, path, body)
    assert TOKEN not in caught.value.message
    assert caught.value.message.endswith(".")
    return caught.value


def test_answer_is_what_github_said(channel: Channel, double: Double) -> None:
    """And a body arrives as it was sent, whatever is in it."""
    assert channel.request("GET", PULL) == {"head": {"sha": double.head}}
    body = '$(touch x) "quoted" \\ \u2028 \N{OCTAGONAL SIGN}\n--method DELETE'
    channel.request("POST", "/repos/acme/shop/issues/7/comments", {"body": body})
    assert double.comments[0]["body"] == body


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (
            Fault("GET", "", 401, "Bad credentials"),
            "GitHub does not know the credentials (401: Bad credentials).",
        ),
        (Fault("GET", "", 403, "No way"), "GitHub does not allow it (403: No way)."),
        (
            Fault("GET", "", 404, "Not Found"),
            "GitHub has no such thing, or does not show it to these credentials (404: Not Found).",
        ),
        (Fault("GET", "", 500, "Oops \x1b[2J"), "GitHub did not do it (500: Oops <U+001B>[2J)."),
        (
            Fault("GET", "", 403, "x", {"Retry-After": "60"}),
            "GitHub takes no more requests for now; try again in 60 seconds.",
        ),
        (
            Fault("GET", "", 403, "x", {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1893499200"}),
            "GitHub takes no more requests for now; try again after 12:00 UTC.",
        ),
        (Fault("GET", "", 429, "x"), "GitHub takes no more requests for now; try again in some minutes."),
        (
            Fault("GET", "", 301, "x", {"Location": "http://127.0.0.1:9/"}),
            "GitHub says that this has moved; perhaps the repository was renamed.",
        ),
    ],
    ids=["credentials", "forbidden", "missing", "broken", "retry-after", "rate", "rate-429", "moved"],
)
def test_refusal_is_one_plain_sentence(channel: Channel, double: Double, fault: Fault, sentence: str) -> None:
    """It says what to do where something can be done, and nobody sleeps in between."""
    double.faults = [replace(fault)]
    error = refused(channel)
    assert (error.message, error.status, error.code) == (sentence, fault.status, "github")
    assert isinstance(error, EffectError)
    assert len(double.log) == 1


def test_validation_error_tells_what_github_found(channel: Channel, double: Double) -> None:
    """The sentence that helps stands below the first one. gh prints it, too."""
    double.say("ana", "x")
    long = {"body": "x" * 65_537}
    error = refused(channel, "POST", "/repos/acme/shop/issues/7/comments", long)
    assert error.status == 422
    assert "body is too long (maximum is 65536 characters)" in error.message


def test_lost_answer_is_told_without_a_status(channel: Channel, double: Double) -> None:
    """Nobody knows then whether it was done."""
    double.faults = [Fault("GET", "", None, times=9)]
    assert refused(channel).status is None


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example/x",
        "https://evil.example/",
        "/repos/../user",
        "/repos/a b",
        "repos/acme",
        "/x\r\nHost: y",
        "/a/./b",
        "/[x]",
    ],
)
def test_path_that_is_none_is_not_asked_for(channel: Channel, double: Double, path: str) -> None:
    """Names come from files that agents write."""
    refused(channel, "GET", path)
    refused(channel, "PUT", PULL)
    assert double.log == []


def test_pages_are_read_to_their_end_and_not_beyond(channel: Channel, double: Double) -> None:
    """Two hundred and one entries are three pages."""
    double.files = [{"filename": f"f{number}"} for number in range(201)]
    assert list(pages(channel, f"{PULL}/files")) == double.files
    assert len(double.log) == 3


def test_pages_without_an_end_are_given_up() -> None:
    """A list that never ends must not keep us for ever."""

    class Endless:
        asked = 0

        def request(self, method: str, path: str, body: Json = None) -> Json:  # noqa: ARG002 - the port's names
            self.asked += 1
            return [0] * 100

    endless = Endless()
    with pytest.raises(GitHubError, match="more than 4,000 entries"):
        list(pages(endless, PULL))
    assert endless.asked == MAX_PAGES


# Which way there is


@proves("G2")
def test_remote_comment_channel_is_detected_by_token_or_command(
    rest_environ: dict[str, str], gh_environ: dict[str, str], tmp_path: Path
) -> None:
    """A token first, then gh, then none."""
    assert isinstance(find_channel({**gh_environ, **rest_environ, "PATH": gh_environ["PATH"]}), RestChannel)
    assert isinstance(find_channel({**rest_environ, "GH_TOKEN": "", "GITHUB_TOKEN": "t"}), RestChannel)
    assert isinstance(find_channel(gh_environ), GhChannel)
    assert find_channel({"PATH": str(tmp_path)}) is None
    assert find_channel({"PATH": str(tmp_path), "GH_TOKEN": " "}) is None


def test_gh_of_the_repository_at_hand_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative entry of PATH leads into whatever folder we are in."""
    trap = tmp_path / "gh"
    trap.write_text("#!/bin/sh\n")
    trap.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert gh_channel({"PATH": "."}) is None


def test_gh_without_a_login_says_what_to_do(gh_environ: dict[str, str]) -> None:
    """What gh says is what helps."""
    channel = gh_channel({name: value for name, value in gh_environ.items() if name != "FAKE_GH_TOKEN"})
    assert channel is not None
    assert "gh auth login" in refused(channel).message


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("exit 3", "gh could not ask GitHub: it ended with status 3."),
        ("echo 'gh: Not Found (HTTP 404)' >&2; exit 1", "GitHub has no such thing"),
        ("while :; do :; done", "gh did not answer within 0.5 seconds."),
        ("sleep 60 & echo 'HTTP/2.0 200 OK'; wait", "gh did not answer within 0.5 seconds."),
        ("printf 'HTTP/2.0 200 OK\\r\\n\\r\\n<html>'", "GitHub's answer is no JSON."),
        ("printf 'HTTP/2.0 200 OK\\r\\n\\r\\n{}'; exit 1", "gh ended with status 1: ."),
    ],
    ids=["silent", "status-in-words", "busy", "child-holds-the-pipe", "no-json", "late-failure"],
)
def test_gh_that_misbehaves_is_told_and_ended(tmp_path: Path, script: str, sentence: str) -> None:
    """It is bounded in time, and its children end with it."""
    command = tmp_path / "gh"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    channel = GhChannel(str(command), {"PATH": os.environ["PATH"]}, seconds=0.5)
    assert refused(channel).message.startswith(sentence)


def test_gh_that_is_gone_is_told(tmp_path: Path) -> None:
    """Between looking and starting it may be removed."""
    assert refused(GhChannel(str(tmp_path / "gh"), {})).message.startswith("gh cannot be started")


# Where a token goes


@pytest.mark.parametrize(
    "address",
    [
        "http://api.github.com",
        "http://10.0.0.1",
        "ftp://127.0.0.1",
        "https://ana:secret@api.github.com",
        "https://",
        "x",
        "https://a/?b=c",
    ],
)
def test_token_is_sent_to_no_other_than_a_safe_address(address: str) -> None:
    """Plain http is for this machine only."""
    with pytest.raises(GitHubError) as caught:
        rest_channel({"GITHUB_TOKEN": TOKEN, "GITHUB_API_URL": address})
    assert TOKEN not in caught.value.message
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    "address", ["", "https://git.acme.org/api/v3/", "http://localhost:1", "http://[::1]:1"]
)
def test_address_comes_from_the_environment(address: str) -> None:
    """GitHub's own servers, a company's, or this machine."""
    channel = rest_channel({"GITHUB_TOKEN": TOKEN, "GITHUB_API_URL": address})
    assert (address.rstrip("/") or "https://api.github.com") in repr(channel)
    assert TOKEN not in repr(channel)


@pytest.mark.parametrize("token", ["a b", "a\nb", "ü"])
def test_token_with_odd_characters_is_not_sent(token: str) -> None:
    """It would break the header, or be refused with a sentence that helps nobody."""
    with pytest.raises(GitHubError, match="The token holds characters that no token has"):
        rest_channel({"GITHUB_TOKEN": token})


@contextmanager
def answering(*pieces: bytes) -> Iterator[str]:
    """Serve one connection with raw bytes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65_536)
                for piece in pieces:
                    try:
                        connection.sendall(piece)
                    except OSError:
                        return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join(PATIENCE)


def test_answer_that_is_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever answers must not fill the memory."""
    monkeypatch.setattr(rest_module, "MAX_ANSWER_BYTES", 1_000)
    with answering(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", b"x" * 5_000) as address:
        assert refused(RestChannel(address, TOKEN)).message == "GitHub's answer is too long."


def test_answer_that_never_comes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of a request is bounded."""
    monkeypatch.setattr(rest_module, "REQUEST_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        error = refused(RestChannel(f"http://127.0.0.1:{silent.getsockname()[1]}", TOKEN))
    assert error.message == "127.0.0.1 did not answer in time (ReadTimeout)."


def test_redirect_is_not_followed_with_the_token(double: Double) -> None:
    """The second address gets nothing, not even a request."""
    other = b"HTTP/1.1 307 Moved\r\nLocation: %s/repos/acme/shop/pulls/7\r\nContent-Length: 0\r\n\r\n"
    with answering(other % double.address.encode()) as address:
        assert refused(RestChannel(address, TOKEN)).status == 307
    assert double.log == []


def run(source: str) -> str:
    """Return what a fresh Python prints."""
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    return done.stdout.strip()


def test_http_client_is_loaded_by_those_who_look_for_a_way_only() -> None:
    """Posting, comments and the program's start do without it."""
    loaded = "import assent, assent.cli, assent.effects.github.review, assent.surfaces.comment, sys"
    assert run(f"{loaded}; print('httpx2' in sys.modules)") == "False"
    assert run("import assent.effects.github.find, sys; print('httpx2' in sys.modules)") == "True"


def test_schema_has_the_operations_that_are_made_and_says_where_it_is_from() -> None:
    """It is written by a tool; this is what the tool was told to take."""
    schema = json.loads((Path(__file__).parent / "schema.json").read_text())
    assert [(each["method"], each["path"]) for each in schema["operations"]] == list(OPERATIONS)
    assert schema["source"]["package"] == "@octokit/openapi"
    assert len(schema["source"]["sha256"]) == 64


def test_double_refuses_what_the_schema_does_not_have(rest_environ: dict[str, str], double: Double) -> None:
    """Twin: a double that takes everything would prove nothing."""
    channel = rest_channel(rest_environ)
    assert channel is not None
    wrong: list[tuple[str, str, Json]] = [
        ("GET", "/user", None),
        ("GET", f"{PULL}/files?page=x", None),
        ("GET", f"{PULL}/files?colour=red", None),
        ("POST", f"{PULL}/reviews", {"comments": [{"path": "a", "line": "3", "body": "x"}]}),
        ("POST", f"{PULL}/reviews", {"comment": []}),
        ("POST", "/repos/acme/shop/issues/7/comments", {}),
        ("POST", "/repos/acme/shop/issues/7/comments", None),
        ("POST", "/repos/acme/shop/issues/comments/1/reactions", {"content": "wave"}),
        ("DELETE", f"{PULL}/reviews/1", {"body": "x"}),
    ]
    for method, path, body in wrong:
        assert refused(channel, method, path, body).status == 400
    assert len(double.complaints) == len(wrong)
    connection = http.client.HTTPConnection(double.address.removeprefix("http://"), timeout=PATIENCE)
    connection.request("GET", PULL)
    assert connection.getresponse().status == 400
    connection.close()
    double.complaints.clear()


def test_answer_that_is_nested_too_deeply_is_no_json() -> None:
    """Whatever answers there cannot end us with more than a sentence."""
    with pytest.raises(GitHubError, match="no JSON"):
        parse_answer(200, {}, b"[" * 500_000)
    with pytest.raises(GitHubError, match="did not do it"):
        parse_answer(500, {}, b"[" * 500_000)
