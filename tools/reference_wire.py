"""The page of the wire format: all that somebody needs who writes a client in another language.

Its examples are what a real server answered (see `reference_wire_exchange`), its tables come from the code.
"""

from __future__ import annotations

import inspect
import re
from typing import Any, get_type_hints

import msgspec

from assent.client.verbs import VERBS, Verb
from assent.protocol.error import AssentError
from assent.protocol.json_text import MAX_DEPTH, MAX_JSON_BYTES
from assent.protocol.principal import Role
from assent.protocol.token import DEFAULT_LIFE
from assent.protocol.wire import MAX_PAGE, MAX_WAIT_SECONDS
from assent.protocol.wire_error import status_of_error
from assent.surfaces.http.events import BEAT_SECONDS
from assent.surfaces.http.incoming import MAX_IDEMPOTENCY_KEY
from assent.surfaces.http.openapi import ERRORS
from assent.surfaces.http.telling import SLOW_SECONDS, Ending
from tools.page import ROOT
from tools.reference_error import every_error
from tools.reference_json import say_type
from tools.reference_wire_exchange import Exchange, hold_talk
from tools.source import field_notes, table

__all__ = ["render_wire"]

_EXAMPLE = "examples/ask_over_http.mjs"
_PATH_PART = re.compile(r"\{(\w+)(?::path)?\}")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")


def render_wire() -> str:
    """Return the page."""
    said = hold_talk()
    program = (ROOT / _EXAMPLE).read_text(encoding="utf-8")
    return "\n".join(
        (
            _HEAD,
            _PROGRAM.format(name=_EXAMPLE, program=program),
            _REQUESTS.format(bytes=MAX_JSON_BYTES, depth=MAX_DEPTH, key=MAX_IDEMPOTENCY_KEY),
            _ERRORS.format(statuses=table(("status", "when", "codes"), _statuses())),
            _show(said["conflict"]),
            *_objects(said),
            _WAITING.format(wait=MAX_WAIT_SECONDS, page=MAX_PAGE),
            _EVENTS.format(stream=said["stream"].reply, beat=BEAT_SECONDS, slow=SLOW_SECONDS),
            table(("code", "why"), [(str(ending.value), _note(Ending, ending.name)) for ending in Ending]),
            _ROUTES,
            table(("request", "who", "query or body", "reply"), [_route(verb) for verb in VERBS.values()]),
            _OPEN,
            _BODIES,
            *_bodies(),
        )
    )


def _show(exchange: Exchange) -> str:
    """Return a request and its reply as two blocks."""
    key = f"\nIdempotency-Key: {exchange.key}" if exchange.key else ""
    body = f"\n\n{exchange.body}" if exchange.body else ""
    return f"""\
```text
{exchange.method} {exchange.path}{key}{body}
```

Reply {exchange.status}:

```json
{exchange.reply}
```
"""


def _objects(said: dict[str, Exchange]) -> list[str]:
    parts = ["## The objects\n"]
    for title, sentence, *names in _SHOWN:
        parts.append(f"### {title}\n\n{sentence}\n")
        parts += [_show(said[name]) for name in names]
    return parts


def _statuses() -> list[tuple[str, str, str]]:
    codes: dict[int, list[str]] = {}
    for _, kind in every_error():
        codes.setdefault(_status(kind), []).append(f"`{kind.code}`")
    return [
        (str(status), sentence.removesuffix("."), ", ".join(codes.get(status, ())))
        for status, sentence in ERRORS.items()
    ]


def _status(kind: type[AssentError]) -> int:
    return status_of_error(kind.__new__(kind))


def _note(kind: type, name: str) -> str:
    return field_notes(kind)[name].removesuffix(".")


def _route(verb: Verb) -> tuple[str, ...]:
    who = "all" if verb.roles == frozenset(Role) else ", ".join(role for role in Role if role in verb.roles)
    parts = [f"`?{name}`" for name in _names(verb.query)]
    if verb.body is not None:
        parts.append("any JSON" if verb.body is Any else f"[{_title(verb.body)}](#{_anchor(verb.body)})")
    path = _PATH_PART.sub(r"{\1}", verb.path)
    return f"`{verb.method} {path}`: {verb.summary}", who, ", ".join(parts), f"{verb.status} {_reply(verb)}"


def _names(struct: type[msgspec.Struct] | None) -> list[str]:
    return [] if struct is None else [field.encode_name for field in msgspec.structs.fields(struct)]


def _reply(verb: Verb) -> str:
    kind = verb.reply
    if kind is str:
        return "lines of text"
    names = _names(kind)
    is_list = len(names) == 1 and not isinstance(kind, str)
    return f"`{{{names[0]}}}`" if is_list else _title(kind).removesuffix(" reply")


def _title(struct: type) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", struct.__name__).lower()


def _anchor(struct: type) -> str:
    return _title(struct).replace(" ", "-")


def _bodies() -> list[str]:
    bodies = dict.fromkeys(verb.body for verb in VERBS.values() if verb.body not in (None, Any))
    return [_body(body) for body in bodies]


def _body(body: type[msgspec.Struct]) -> str:
    hints, notes = get_type_hints(body), field_notes(body)
    lines = [f"### {_title(body).capitalize()}\n", f"{inspect.getdoc(body)}\n"]
    for field in msgspec.structs.fields(body):
        words = _LINK.sub(r"\1", say_type(hints[field.name])).replace(" or left out", "")
        needed = " (needed)" if field.required else ""
        note = f". {notes[field.name].removesuffix('.')}" if field.name in notes else ""
        lines.append(f"- `{field.encode_name}`{needed}: {words}{note}")
    return "\n".join(lines) + "\n"


_SHOWN: tuple[tuple[str, ...], ...] = (
    (
        "Ask, prompt and answer",
        (
            "An ask is open until its `state` says otherwise. `answer.values` has a list for each field of the prompt. "
            "What every field means: [JSON](json.md#ask)."
        ),
        "ask",
        "answer",
    ),
    (
        "Approval and receipt",
        (
            "`receipt` is there where the action may happen. Else `ask` is: wait for its end, and send the same request "
            "again. See [approve an action](../how-to/approve-an-action.md)."
        ),
        "approval",
        "receipt",
        "differs",
        "redeem",
    ),
    (
        "Task",
        "Its chat says what the next run of the agent is told.",
        "task",
        "chat",
    ),
    (
        "Notification",
        (
            "An agent's result becomes one, and a person's PATCH resolves it. Its ask, `askId`, ends with it: answering the "
            "one resolves the other."
        ),
        "result",
        "resolve",
    ),
    (
        "Policy",
        "How far agents of a project may go.",
        "policy",
    ),
    (
        "Run",
        (
            "Seen as `assent runs` shows it, and as its `record`. A command to it is answered with its RESULT; one that "
            "failed is an error with the RESULT in `details.result`."
        ),
        "control",
        "run",
        "topic",
    ),
    (
        "Token",
        (
            "The secret, `token`, is told once. A client that mints it itself sends only the sha256 over it as `digest`, and "
            "can send that again."
        ),
        "token",
        "whoami",
    ),
)

_HEAD = f"""\
# The wire format

All that a client in another language has to know, on one page. A server is started with `assent serve`
([how](../how-to/run-a-server.md)); `/openapi.json` and `/asyncapi.json` say the same for machines.

- **Base address**: that of the server, as in `http://127.0.0.1:8484`. There is no prefix and no version in paths.
- **Who you are**: `Authorization: Bearer assent_…` on every request. What you may do comes from the server's record
  of that token, never from the request. An agent's token lives {DEFAULT_LIFE[Role.AGENT].days * 24} hours and a
  person's {DEFAULT_LIFE[Role.HUMAN].days} days unless it was made for longer. (Pages in a browser sign in at `/sign-in`
  instead, and sign every request: [what a page signs](../explanation/why-loopback-is-hostile.md#what-a-page-signs).)
- **JSON both ways**, in UTF-8. A body is the object itself; a list is an object with one list in it. Replies may gain
  fields: ignore those that you do not know. A body with a field that the server does not know is refused.
- **Instants** are written `2030-01-01T09:00:00Z`, in UTC, with six digits after the seconds where they are not zero.
- **GET changes nothing**, ever.
"""

_PROGRAM = """\
## A whole client

`{name}` asks a question, waits as long as it takes, over restarts of the server and of itself, and prints the answer.
The tests run it as it stands here.

```js
{program}```
"""

_REQUESTS = """\
## Requests

A body has the `Content-Type: application/json`, at most {bytes:,} bytes and {depth} levels, no key twice, no NaN.
A client that is not a browser sends no `Origin`; one that comes from another page is refused, and so is every `Host`
that the server is not known by ([why](../explanation/why-loopback-is-hostile.md)).

**`Idempotency-Key`**, 1 to {key} visible ASCII characters, on any request that changes something: sent again under the
same key, it is done once, and you get the reply of the first time. The key is bound to your token's role and name and to
the project. Make a new one for each thing that you want done, and use it for all tries of that thing. Another body under
a used key is refused. A token whose secret was told once is not made again.

Where an answer came in (`via`) is what the server saw: `page` for whoever signed in, `http` for a token.

Try again, with growing pauses, where nobody answers and on 429 (it has `Retry-After`), 502, 503 and 504. Nothing else gets
better by being repeated.
"""

_ERRORS = """\
## Errors

Every reply that is no success has one shape: `code` for programs, `message` for people, `details` for what it is about.
Foreign and missing look alike: both are 404.

{statuses}
`details.ask` or `details.notification` is the winner as it is now, `details.differences` what an approval was not
given for. What each code says: [errors](errors.md). In the examples `…` stands for an ask as it is shown below. A second answer:
"""

_WAITING = """\
## Waiting, and pages

`GET …/asks/{{ask}}/answer?wait=25` is a long poll: it replies as soon as the ask has ended, and after `wait` seconds at the
latest, always with 200 and the ask. At most {wait:g} seconds count. Repeat it while `state` is `open`. When the server stops
it replies at once; the next try finds the next server.

`GET …/runs/{{run}}?after=N&wait=S` waits until the run's `sequence` is beyond N. `GET …/log?after=N&wait=S` and
`GET …/topics/{{topic}}?after=N&wait=S` wait for the first thing behind N.

A reply holds at most `limit` things, and {page:,} where you say nothing. `log` and `topics` begin behind `after`: come again
with the last `sequence` that you have, until there is nothing more. Other lists have the newest first.

`POST …/holds` is the right to drive a run or a durable flow alone. Its reply stays open and has a line `held` every few
seconds; you have the right as long as you keep it open. Take it, then start and drive the run: `POST …/runs`, and
`POST …/runs/{{run}}/drive` with the `fence` of its `record`. `DELETE …/holds/{{hold}}` gives it back, where
`{{hold}}` is the `Idempotency-Key` under which it was taken. If you only ask and answer, you need none of this.

`begin` is answered with 200 where an iteration has begun, and in no other case. On a paused run it is refused with 409 and
`invalid_state`: wait until the run changes, and ask again. On one that was cancelled or is done, and on a loop that is over,
it is refused with 409 and `run_ended`: there is nothing more to do.

## In time, or not at all

A command to a run (`POST …/runs/{{run}}/control`, or a REQUEST on the topic `loop:control`) that nobody acknowledged in 30
seconds is never executed. Every reply has **`Assent-Clock`**: the server's clock, as `boot.milliseconds`. It goes on while
the machine sleeps, and `boot` is another one for every server that is started. With a command, send
**`Assent-Not-After`**: until when you wait, by that clock, which is what it last said, plus the time that has gone by
since, plus at most 30 seconds. If it is later, or the server another one, the command is refused with 409 and `expired`, and
nothing was posted. Wait no longer than you said.

Without it, the server reckons 30 seconds from when the request may have arrived: if it stood still for longer than that, it
refuses what it finds when it wakes. In any case it executes no command whose sender has hung up.

Deadlines, tokens and receipts are judged by another clock, that of the store. What succeeds has **`Assent-Now`**: what it
says, as an instant. Show what is left of a deadline by that one, and not by your machine's.
"""

_EVENTS = """\
## Events

`GET /projects/{{project}}/events` as a WebSocket, or as a stream of server-sent events with the same content:

```text
{stream}
```

- On a WebSocket each message is what stands behind `data:` here: `sequence`, `type`, `at`, `data`.
- `?after=N` begins behind N; 0 is the beginning of the log. Without it the stream begins with what happens from now
  on. Numbers have no gaps: keep the last one, come again with it, and you miss nothing and get nothing twice. A browser's
  EventSource does so by itself, with `Last-Event-ID`.
- Only this project's events come. What is in `data` by type: [JSON](json.md#events), without `command_id` and digests. It
  is null where an event's body was erased.
- A stream that is silent has a line `:` every {beat:g} seconds; a WebSocket is pinged.
- Send nothing on the socket. Whoever does not take what comes within {slow:g} seconds is let go.
- A token that is revoked or expires ends its streams within two seconds.

A socket is closed with one of these codes; a stream just ends. Without a good token no socket is opened: the reply is an
ordinary 401.
"""

_ROUTES = """\
## All requests

`{project}` and what else stands in braces is percent-encoded. *Who* are the roles of tokens that may; an agent only
withdraws and redeems what it asked for itself.
"""

_OPEN = """\
Without a token: `GET /healthz` (`{"status": "ok"}`, or 503), `/openapi.json`, `/asyncapi.json`, and `/`, a page without data.
"""

_BODIES = """\
## Bodies

What is not needed may be left out.
"""
