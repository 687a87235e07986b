"""Loopback is hostile: what a page elsewhere sends is refused, before anything of it is believed (S10, S15, S18)."""

import asyncio
from collections.abc import Iterator

import msgspec
import pytest
from starlette.types import Message, Receive, Scope, Send

from assent.client.verbs import VERBS
from assent.protocol.error import BadRequestError
from assent.protocol.json_text import MAX_JSON_BYTES
from assent.protocol.principal import Role
from assent.surfaces.http import guard
from assent.surfaces.http.guard import MAX_HEAD_BYTES, MAX_HEADERS, SECURITY_HEADERS, Guard
from assent.surfaces.http.names import names_of
from tests.surfaces.http.hostile import ROUTES, Reply, Route, hosts, origins, pairs, speak, write_head
from tests.surfaces.http.signing import SESSION, sign_in
from tests.surfaces.http.world import Place, World, a_world

__all__: list[str] = []

SHARES = 10
"""Of all pairs one in so many is tried here; `make torture` tries all of them."""
FORMS = (
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/json",
    "",
)


@pytest.fixture(scope="module", name="world")
def _world() -> Iterator[World]:
    """Give a server with callers, which all tests of this file share: each has a project of its own."""
    with a_world() as world:
        yield world


def port_of(world: World) -> int:
    """Return where it listens."""
    return world.server.port


def written(
    world: World, place: Place, route: Route, host: str | None, origin: str | None, **more: str | None
) -> bytes:
    """Return a request that would do something if it was let in: its body is announced, and never comes."""
    headers: dict[str, str | None] = {
        "Origin": origin,
        "Authorization": f"Bearer {world.tokens[Role.HUMAN]}",
        **route.headers,
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    path = route.path.format(project=place.project) if route.path else place.trial(route.name).path
    if route.method not in ("GET", "OPTIONS"):
        headers |= {"Content-Type": "application/json", "Content-Length": "1000"}
    return write_head(route.method, path, host, headers)


def whole(world: World, place: Place, name: str, **headers: str | None) -> bytes:
    """Return a request that fits a verb, whole, from an honest place."""
    trial = place.trial(name)
    text = b"" if trial.body is None else msgspec.json.encode(trial.body)
    given: dict[str, str | None] = {
        "Authorization": f"Bearer {world.tokens[Role.HUMAN]}",
        "Content-Type": "application/json",
        "Content-Length": str(len(text)),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    head = write_head(trial.verb.method, trial.path, hosts(port_of(world))[0], given)
    return head + text


def sent(world: World, place: Place, text: bytes, kind: str | None = "application/json") -> Reply:
    """Ask something with this body, as somebody who may."""
    headers = {
        "Authorization": f"Bearer {world.tokens[Role.HUMAN]}",
        "Content-Type": kind,
        "Content-Length": str(len(text)),
    }
    path = place.path(VERBS["open_ask"])
    return speak(port_of(world), write_head("POST", path, hosts(port_of(world))[0], headers) + text)


# Host and Origin


def test_other_hosts_and_origins_are_refused_on_every_route(world: World) -> None:
    """25 x 25 values: nothing changes, nothing is told, and no body is waited for."""
    port, place, tried = port_of(world), world.place(), 0
    for number, route in enumerate(ROUTES):
        text = written(world, place, route, "HOST", "ORIGIN")
        before = world.look()
        for host, origin in pairs(port, 0, SHARES, number):
            attempt = text
            for name, value in (("Host: HOST", host), ("Origin: ORIGIN", origin)):
                line = b"" if value is None else f"{name.partition(':')[0]}: {value}\r\n".encode("latin-1")
                attempt = attempt.replace(f"{name}\r\n".encode(), line)
            reply = speak(port, attempt)
            assert reply.status in (400, 403, 421), (route.name, host, origin, reply)
            assert reply.code in ("bad_request", "forbidden", "misdirected"), (
                route.name,
                host,
                origin,
                reply,
            )
            assert place.project.encode() not in reply.text
            tried += 1
        assert world.look() == before, route.name
    assert tried > len(ROUTES) * 620 / SHARES - len(ROUTES)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_every_own_name_is_answered(world: World, name: str) -> None:
    """Twin of the test above: with the server's names, each as a browser writes it."""
    port = port_of(world)
    for origin in (None, f"http://{name}:{port}"):
        text = write_head("GET", "/healthz", f"{name}:{port}", {"Origin": origin})
        assert speak(port, text).status == 200


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_request_from_another_site_is_refused(world: World, route: Route) -> None:
    """Also where no Origin comes with it, as with a picture or a link: the browser says where it was made."""
    place = world.place()
    for site in ("cross-site", "same-site", "", "same-origin, cross-site"):
        text = written(world, place, route, hosts(port_of(world))[0], None, Sec_Fetch_Site=site)
        before = world.look()
        reply = speak(port_of(world), text)
        assert (reply.status, reply.code) == (403, "forbidden")
        assert world.look() == before


@pytest.mark.parametrize("site", ["none", "same-origin"])
def test_own_page_and_typed_address_are_let_in(world: World, site: str) -> None:
    """Twin of the test above."""
    head = write_head("GET", "/", hosts(port_of(world))[0], {"Sec-Fetch-Site": site})
    assert speak(port_of(world), head).status == 200


LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.mark.parametrize("path", ["/", "/sign-in"])
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_link_from_elsewhere_opens_the_page(world: World, site: str, path: str) -> None:
    """In a chat, say. What it opens is the same for everybody, and asks for the rest itself."""
    head = write_head("GET", path, hosts(port_of(world))[0], LINK | {"Sec-Fetch-Site": site})
    assert speak(port_of(world), head).status == 200


@pytest.mark.parametrize(
    ("method", "path", "changed"),
    [
        ("GET", "/", {"Sec-Fetch-Mode": "no-cors"}),
        ("GET", "/", {"Sec-Fetch-Mode": None}),
        ("GET", "/", {"Sec-Fetch-Dest": "iframe"}),
        ("GET", "/", {"Sec-Fetch-Dest": "image"}),
        ("GET", "/", {"Sec-Fetch-Dest": None}),
        ("GET", "/", {"Sec-Fetch-Site": "elsewhere"}),
        ("GET", "/", {"Origin": "https://evil.example"}),
        ("GET", "/", {"Origin": "null"}),
        ("GET", "/?x=1", {}),
        ("GET", "//", {}),
        ("HEAD", "/", {}),
        ("POST", "/", {}),
        ("GET", "/sign-in", {"Sec-Fetch-Dest": "iframe"}),
        ("POST", "/sign-in", {}),
        ("GET", "/page/mark.svg", {}),
        ("GET", "/asks", {}),
        ("GET", "/healthz", {}),
    ],
    ids=str,
)
def test_link_from_elsewhere_opens_nothing_else(
    world: World, method: str, path: str, changed: dict[str, str | None]
) -> None:
    """Not in a frame, not as a picture, not another address, and not what a form sends."""
    head = write_head(method, path, hosts(port_of(world))[0], LINK | changed)
    reply = speak(port_of(world), head)
    assert reply.status == 403


def test_what_a_proxy_may_have_written_is_not_believed(world: World) -> None:
    """Whoever can send a request can write these, too."""
    port = port_of(world)
    own = hosts(port)[0]
    for name in ("X-Forwarded-Host", "X-Forwarded-For", "Forwarded", "X-Original-Host", "X-Host"):
        headers = {name: own, "Origin": None}
        assert speak(port, write_head("GET", "/healthz", "evil.example", headers)).status == 421
        assert speak(port, write_head("GET", "/healthz", own, {name: "evil.example"})).status == 200


@pytest.mark.parametrize("order", ["good first", "good last"])
def test_two_hosts_or_origins_are_none(world: World, order: str) -> None:
    """Two readers could take two of them."""
    port = port_of(world)
    own = [hosts(port)[0], "evil.example"]
    pages = [origins(port)[1], "http://evil.example"]
    if order == "good last":
        own.reverse()
        pages.reverse()
    twice = write_head("GET", "/healthz", own[0], {}, f"Host: {own[1]}\r\n")
    assert speak(port, twice).code in ("bad_request", "misdirected")
    named = write_head("GET", "/healthz", hosts(port)[0], {"Origin": pages[0]}, f"Origin: {pages[1]}\r\n")
    assert speak(port, named).status == 403
    same = write_head("GET", "/healthz", hosts(port)[0], {"Origin": pages[0]}, f"Origin: {pages[0]}\r\n")
    assert speak(port, same).status == 403


@pytest.mark.parametrize("target", ["http://evil.example/healthz", "*", "evil.example:443", "healthz"])
def test_address_of_another_server_is_refused(world: World, target: str) -> None:
    """A request as a proxy gets it is none for us."""
    reply = speak(port_of(world), write_head("GET", target, hosts(port_of(world))[0], {}))
    assert (reply.status, reply.code) == (400, "bad_request")


def test_no_reply_gives_another_origin_a_permission(world: World) -> None:
    """Neither to a preflight, also for private networks, nor to anything else."""
    port, place = port_of(world), world.place()
    asked = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, content-type",
        "Access-Control-Request-Private-Network": "true",
    }
    for origin in (origins(port)[1], "https://evil.example", "null"):
        for path in ("/", "/asks", f"/projects/{place.project}/asks", "/sign-in", "/nowhere"):
            reply = speak(port, write_head("OPTIONS", path, hosts(port)[0], {"Origin": origin, **asked}))
            assert reply.status in (403, 404, 405)
            assert not [name for name in reply.head if name.startswith("access-control")]
    told = speak(port, whole(world, place, "list_asks", Origin=origins(port)[1]))
    assert told.status == 200
    assert not [name for name in told.head if name.startswith("access-control")]


# Bodies


@pytest.mark.parametrize("kind", [*FORMS, "application/json, text/plain", "application/jsonx"])
def test_body_that_a_form_can_send_is_refused(world: World, kind: str) -> None:
    """A page elsewhere can send these without asking first (S10), so nothing here takes them."""
    text = b'{"prompt": "Which?", "options": ["A", "B"]}'
    place = world.place()
    reply = sent(world, place, text, kind or None)
    assert (reply.status, reply.code) == (415, "bad_request")
    assert place.project not in world.look()


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON"])
def test_json_is_taken(world: World, kind: str) -> None:
    """Twin of the test above."""
    assert sent(world, world.place(), b'{"prompt": "Which?", "options": ["A", "B"]}', kind).status == 201


def test_compressed_body_is_refused(world: World) -> None:
    """Nothing is unpacked here, so nothing can unpack into more than it was."""
    reply = speak(port_of(world), whole(world, world.place(), "open_ask", Content_Encoding="gzip"))
    assert reply.status == 415


def test_body_over_the_limit_is_refused_before_it_comes(world: World) -> None:
    """What is announced counts; whoever sends more than they may without saying so is cut off."""
    port, place = port_of(world), world.place()
    path = place.path(VERBS["open_ask"])
    headers = {
        "Authorization": f"Bearer {world.tokens[Role.HUMAN]}",
        "Content-Type": "application/json",
    }
    announced = headers | {"Content-Length": str(MAX_JSON_BYTES + 1)}
    reply = speak(port, write_head("POST", path, hosts(port)[0], announced))
    assert (reply.status, reply.code) == (413, "too_large")
    chunked = write_head("POST", path, hosts(port)[0], headers | {"Transfer-Encoding": "chunked"})
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    reply = speak(port, chunked + chunk * (MAX_JSON_BYTES // 0x10000 + 1))
    assert (reply.status, reply.code) == (413, "too_large")
    assert reply.head["connection"] == "close"
    assert place.project not in world.look()


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 33 + b"]" * 33,
        b'{"prompt": "A", "prompt": "B"}',
        b'{"prompt": NaN}',
        b'{"prompt": "Which?", "deadline": 1e999}',
        b'{"prompt": "\\ud800"}',
        b'{"prompt": 1}',
        b'{"prompt": "Which?", "more": 1}',
        b'\xff\xfe{"prompt": "Which?"}',
        b"",
        b"[]",
        b"[" * 60_000,
        b'{"prompt": "Which?", "deadline": ' + b"9" * 5_000 + b"}",
    ],
    ids=lambda text: text[:30].decode("latin-1") + f" ({len(text)})",
)
def test_json_with_two_readings_or_another_shape_is_refused(world: World, text: bytes) -> None:
    """Depth, keys that stand twice, no numbers, halves of pairs (S18): 4xx, and nothing is changed."""
    place = world.place()
    reply = sent(world, place, text)
    assert reply.status == 400
    assert reply.code in ("bad_request", "bad_json", "bad_prompt", "too_large")
    assert place.project not in world.look()


def test_body_that_takes_too_long_is_not_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sends a byte now and then holds nothing for long."""
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.2)
    text = whole(world, world.place(), "open_ask")
    reply = speak(port_of(world), text[:-5])
    assert (reply.status, reply.code) == (400, "bad_request")
    assert reply.head["connection"] == "close"


def test_sender_who_hangs_up_in_the_middle_is_no_failure_of_ours() -> None:
    """The application is told of it as of any body that cannot be read, and has nothing unexpected to log."""
    told: list[str] = []

    async def app(_: Scope, receive: Receive, __: Send) -> None:
        try:
            while True:
                await receive()
        except BadRequestError as error:
            told.append(error.message)

    messages: Iterator[Message] = iter(
        [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]
    )

    async def receive() -> Message:
        return next(messages)

    async def send(_: Message) -> None:
        raise AssertionError

    headers = [(b"host", b"127.0.0.1:1"), (b"content-type", b"application/json"), (b"content-length", b"9")]
    scope: Scope = {
        "type": "http",
        "method": "POST",
        "raw_path": b"/",
        "query_string": b"",
        "headers": headers,
    }
    asyncio.run(Guard(app, names_of("127.0.0.1", 1))(scope, receive, send))
    assert told == ["The body did not arrive in full."]


def test_address_with_a_slash_too_many_is_none(world: World) -> None:
    """There is one address for each thing, and nobody is sent to another one."""
    headers = {"Authorization": f"Bearer {world.tokens[Role.HUMAN]}"}
    reply = speak(port_of(world), write_head("GET", "/asks/", hosts(port_of(world))[0], headers))
    assert (reply.status, reply.code) == (404, "not_found")


def test_head_over_the_limits_is_refused(world: World) -> None:
    """In one piece or in many, in its address or its headers."""
    port = port_of(world)
    for path, headers in (
        ("/healthz", {f"X-{number}": "1" for number in range(MAX_HEADERS)}),
        ("/healthz", {"X-Long": "a" * MAX_HEAD_BYTES}),
        ("/healthz?" + "a" * MAX_HEAD_BYTES, {}),
    ):
        reply = speak(port, write_head("GET", path, hosts(port)[0], headers))
        assert (reply.status, reply.code) in ((431, "too_large"), (400, "bad_request"))


@pytest.mark.parametrize(
    "text",
    [b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\r\n\r\n", b"GET /\xff HTTP/1.1\r\n\r\n"],
)
def test_what_is_no_http_is_refused_in_the_same_shape(world: World, text: bytes) -> None:
    """No sentence of the libraries' own comes back."""
    reply = speak(port_of(world), text)
    assert (reply.status, reply.code) == (400, "bad_request")


# Replies


def test_every_reply_has_the_headers_that_keep_a_browser_safe(world: World) -> None:
    """Whatever the reply is; the page alone has a policy of its own, which is as strict."""
    port, own = port_of(world), hosts(port_of(world))[0]
    replies = {
        200: speak(port, write_head("GET", "/healthz", own, {})),
        201: speak(port, whole(world, world.place(), "open_ask")),
        400: speak(port, b"nonsense\r\n\r\n"),
        401: speak(port, write_head("GET", "/asks", own, {})),
        403: speak(port, write_head("GET", "/", own, {"Origin": "null"})),
        404: speak(port, write_head("GET", "/nowhere", own, {})),
        405: speak(port, write_head("DELETE", "/healthz", own, {})),
        413: speak(port, write_head("POST", "/sign-in", own, {"Content-Length": "9999999"})),
        415: speak(port, write_head("POST", "/sign-in", own, {"Content-Type": "text/plain"})),
        421: speak(port, write_head("GET", "/", "evil.example", {})),
    }
    assert {status: reply.status for status, reply in replies.items()} == {
        status: status for status in replies
    }
    for reply in replies.values():
        for name, value in SECURITY_HEADERS.items():
            assert reply.head[name.decode()] == value.decode()
    page = speak(port, write_head("GET", "/", own, {}))
    assert page.head["content-security-policy"].startswith("default-src 'none'; script-src 'self'; ")
    assert "unsafe" not in page.head["content-security-policy"]
    assert "frame-ancestors 'none'" in page.head["content-security-policy"]


def test_refusal_of_a_stranger_says_how_to_come_in(world: World) -> None:
    """On every reply with 401, of a verb, a socket and the sign-in; and on no other."""
    port, own = port_of(world), hosts(port_of(world))[0]
    route = next(route for route in ROUTES if route.name == "socket")
    strangers = [
        write_head("GET", "/asks", own, {}),
        written(world, world.place(), route, own, None, Authorization=None),
        write_head("POST", "/sign-in", own, {"Content-Type": "application/json", "Content-Length": "11"}, "")
        + b'{"code":""}',
    ]
    for text in strangers:
        reply = speak(port, text)
        assert (reply.status, reply.head["www-authenticate"]) == (401, "Bearer")
    for path in ("/", "/nowhere"):
        assert "www-authenticate" not in speak(port, write_head("GET", path, own, {})).head


# Looking, and sessions


@pytest.mark.parametrize("name", sorted(name for name, verb in VERBS.items() if verb.method == "GET"))
def test_looking_decides_nothing(world: World, name: str) -> None:
    """Links are fetched by mail programs, chats and browsers, before anybody has clicked (S15)."""
    trial = world.place().trial(name)
    before = world.look()
    for method in ("GET", "HEAD"):
        headers = {"Authorization": f"Bearer {world.tokens[Role.HUMAN]}", "Connection": "close"}
        text = write_head(method, trial.path, hosts(port_of(world))[0], headers)
        assert speak(port_of(world), text).status == 200
    assert world.look() == before


@pytest.mark.parametrize("origin", [None, "own"])
def test_signed_request_is_let_in_and_a_page_elsewhere_is_not(world: World, origin: str | None) -> None:
    """A browser names the page with what changes something, and not with a look; of a page elsewhere nothing is read."""
    port, place = port_of(world), world.place()
    host = hosts(port)[0]
    signer = sign_in(f"http://{host}", token=world.tokens[Role.HUMAN])
    trial = place.trial("open_ask")
    text = msgspec.json.encode(trial.body)

    def signed(named: str | None) -> bytes:
        headers: dict[str, str | None] = {
            "Origin": named,
            SESSION: signer.sign("POST", trial.path, text),
            "Content-Type": "application/json",
            "Content-Length": str(len(text)),
        }
        return write_head("POST", trial.path, host, headers) + text

    before = world.look()
    reply = speak(port, signed("https://evil.example"))
    assert (reply.status, reply.code) == (403, "forbidden")
    assert world.look() == before
    assert speak(port, signed(origins(port)[1] if origin else None)).status == 201
