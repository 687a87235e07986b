"""Every verb and socket with every kind of credential that is not good for it: nothing is done, and nothing is told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import httpx2
import msgspec

from assent.client.verbs import VERBS, Verb
from assent.hub.ids import new_token_secret
from assent.protocol.principal import Assurance, Role
from assent.surfaces.http.events import EVENTS
from assent.testing import FakeClock
from tests.surfaces.http.signing import SESSION, SOCKET, Signer, offer, sign_in
from tests.surfaces.http.world import Trial as Fitting
from tests.surfaces.http.world import World, a_world
from torture.nest import Nest
from torture.nursery import Wire
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "every_fitting", "intruder", "run"]

PAIRS = 2_000
"""More than there are verbs times credentials: at full count each pair is tried."""
_BAD, _FOREIGN, _ROLE = {401, 429}, {404}, {403}
_NAMES_OURS = {"look"}
"""Verbs that name the project in their body."""
_SOCKET_HEADERS = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
}


class Credential(msgspec.Struct, frozen=True):
    """Something to show, and the statuses that it must get."""

    name: str
    headers: dict[str, str]
    statuses: set[int]
    signer: Signer | None = None
    """Who signs each request as it goes out."""

    def shown(self, fitting: Fitting) -> dict[str, str]:
        """Return the headers for one request."""
        if self.signer is None:
            return self.headers
        if fitting.verb is _SOCKET:
            signed = self.signer.sign(SOCKET, fitting.path)
            return self.headers | {"sec-websocket-protocol": offer(signed)}
        text = b"" if fitting.body is None else msgspec.json.encode(fitting.body)
        return self.headers | {SESSION: self.signer.sign(fitting.verb.method, fitting.path, text)}


def run(plan: Plan) -> Verdict:
    """Try the pairs in a worker, which has a server of its own."""
    tally = Tally(("let in", "other statuses", "changes", "secrets told"))
    with Nest(plan.twin) as nest:
        worker = nest.start("torture.credentials:intruder", count=plan.count(PAIRS), seed=plan.seed)
        while "over" not in (heard := worker.hear()):
            if "fault" in heard:
                tally.fault(heard["fault"], heard["detail"])
            else:
                tally.add(heard["count"], heard["number"])
    tally.require("pairs", plan.count(1_000))
    return tally.verdict()


# Worker


def intruder(wire: Wire, count: int, seed: int) -> None:
    """Try every verb with every bad credential, or so many of these pairs."""
    clock = FakeClock()
    with a_world(clock) as world:
        every = list(_credentials(world, clock))
        fittings = list(every_fitting(world))
        pairs = [(fitting, shown) for fitting in fittings for shown in every]
        pairs += [(fitting, shown) for fitting in fittings for shown in _wrong_roles(world, fitting.verb)]
        chosen = Plan(seed=seed).chance().sample(pairs, min(count, len(pairs)))
        # A person at a terminal sees the project; nobody else may learn what stands in it.
        before = world.look()
        wire.say(count="verbs and sockets", number=len({_name(fitting) for fitting in fittings}))
        wire.say(count="credentials", number=len(every))
        for fitting, shown in chosen:
            _try(wire, world, fitting, shown)
            if (now := world.look()) != before:
                wire.say(fault="changes", detail=f"{_name(fitting)} with {shown.name}: {before} {now}")
                before = now
        wire.say(count="pairs", number=len(chosen))
    wire.say(over=True)


def _try(wire: Wire, world: World, fitting: Fitting, shown: Credential) -> None:
    headers = shown.shown(fitting) | (_SOCKET_HEADERS if fitting.verb is _SOCKET else {})
    try:
        sent = world.send(fitting, headers)
    except httpx2.HTTPError as error:
        wire.say(fault="other statuses", detail=f"{_name(fitting)} with {shown.name}: {error!r}")
        return
    about = f"{_name(fitting)} with {shown.name}: {sent.status} {sent.body[:100]!r}"
    # Whoever has a good token of another project may ask about its own; what it is told must not be ours. Where the body
    # names ours, it is not found, as if it were nowhere.
    is_about_own = (
        shown.statuses == _FOREIGN
        and "{project}" not in fitting.verb.path
        and fitting.verb.name not in _NAMES_OURS
    )
    if sent.status < 400 and not is_about_own:
        wire.say(fault="let in", detail=about)
    elif sent.status >= 400 and sent.status not in (_ROLE if is_about_own else shown.statuses):
        wire.say(fault="other statuses", detail=about)
    if _SECRET_WORD.encode() in sent.body:
        wire.say(fault="secrets told", detail=about)


_SECRET_WORD = "Quagmire"
"""Stands in everything that the project holds."""
_SOCKET = msgspec.structs.replace(EVENTS, name="follow_socket")


def _name(fitting: Fitting) -> str:
    return fitting.verb.name


def every_fitting(world: World) -> Iterator[Fitting]:
    """Give for every verb and socket a request that would be done, in a project that holds something."""
    place = world.place(project="alpha")
    place.make("open_ask", {"prompt": f"{_SECRET_WORD}?", "options": [_SECRET_WORD, "B"]})
    place.make("post_message", {"note": _SECRET_WORD}, topic="notes")
    for name in VERBS:
        yield place.trial(name)
    for verb in (EVENTS, _SOCKET):
        yield Fitting(verb, place.path(verb) + "?after=0")


def _credentials(world: World, clock: FakeClock) -> Iterator[Credential]:
    good = world.tokens[Role.HUMAN]
    for name, value in {
        "an empty header": "",
        "a scheme alone": "Bearer",
        "a scheme and a tab": "Bearer\t*",
        "no scheme": good,
        "another scheme": f"Basic {good}",
        "a scheme of ours": f"Token {good}",
        "a good one cut short": f"Bearer {good[:-1]}",
        "a good one and more": f"Bearer {good}0",
        "a good one in capitals": f"Bearer {good.upper()}",
        "two good ones": f"Bearer {good} {good}",
        "a good one in quotes": f'Bearer "{good}"',
        "one that nobody made": f"Bearer {new_token_secret()}",
        "garbage": "Bearer ../../etc/passwd",
        "a long one": f"Bearer {'a' * 8_000}",
        "its digest": "Bearer " + "0" * 64,
        "a wildcard": "Bearer *",
    }.items():
        yield Credential(name, {"authorization": value}, _BAD)
    yield Credential("nothing", {}, _BAD)
    yield Credential("another header", {"x-api-key": good}, _BAD)
    yield from _sessions(world)
    minter = world.store.person("minter", project="alpha", assurance=Assurance.TERMINAL)
    _, short = minter.create_token("human", name="ana", projects=("*",), life=timedelta(minutes=1))
    revoked, secret = minter.create_token("human", name="ana", projects=("*",))
    minter.revoke_token(revoked.token_id)
    _, foreign = minter.create_token("human", name="ana", projects=("beta",))
    clock.advance(timedelta(minutes=2))
    yield Credential("an expired one", {"authorization": f"Bearer {short}"}, _BAD)
    yield Credential("a revoked one", {"authorization": f"Bearer {secret}"}, _BAD)
    yield Credential("one of another project", {"authorization": f"Bearer {foreign}"}, _FOREIGN)


def _sessions(world: World) -> Iterator[Credential]:
    """Give what is less than a session, or more than one, as a page shows it."""
    url, secret = world.server.url, world.tokens[Role.HUMAN]
    good, other = (sign_in(url, token=secret) for _ in range(2))
    name, key, boot, own = good.name, good.key.hex(), good.boot, {"origin": url}
    yield Credential("a bad session", own | {SESSION: "none"}, _BAD)
    yield Credential("the name of a session alone", own | {SESSION: name}, _BAD)
    yield Credential("the name of a session as a token", {"authorization": f"Bearer assent_{name}"}, _BAD)
    yield Credential("the key of a session as a token", {"authorization": f"Bearer assent_{key}"}, _BAD)
    ended = sign_in(url, token=secret)
    world.line.post("/sign-out", auth=ended)
    digits = secret.removeprefix("assent_")
    for told, signer in (
        ("a session that has ended", ended),
        ("a session without its key", Signer(url, name, 64 * "0", boot)),
        ("the parts of a session swapped", Signer(url, key, name, boot)),
        ("the parts of two sessions", Signer(url, name, other.key.hex(), boot)),
        ("a token as a session", Signer(url, digits, digits, boot)),
        ("a session of a page elsewhere", Signer("http://127.0.0.1:1", name, key, boot)),
    ):
        yield Credential(told, own, _BAD, signer)
    yield Credential("a session of another boot", own, _ROLE, Signer(url, name, key, 16 * "0"))


def _wrong_roles(world: World, verb: Verb) -> Iterator[Credential]:
    for role in set(Role) - verb.roles:
        yield Credential(f"the role {role}", {"authorization": f"Bearer {world.tokens[role]}"}, _ROLE)


TRIAL = Trial(
    "credentials",
    "no verb and no socket does or tells anything to whoever shows a credential that is not good for it",
    run,
    (
        Twin("tokens-for-ever", "a token that has expired or was revoked is none", "let in", 0.2),
        Twin("any-reach", "a token is good in its projects and for its role", "let in", 0.2),
    ),
)
