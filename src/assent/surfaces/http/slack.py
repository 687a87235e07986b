"""`POST /slack/interactions`: a button that somebody pressed in Slack, or a dialog that they sent.

Rule 1: it is there only where Slack's signing secret is set (ASSENT_SLACK_SIGNING_SECRET). Every request is signed over the
        exact bytes of its body and a moment that is at most five minutes away; whatever is not is answered alike.
Rule 2: a press counts for the person whom the target names for that user, and for nobody else. It is `declared`: good for
        questions, gates and confirms, and never for an approval, which can only be declined here.
Rule 3: it counts for the prompt that the message showed, and from the message that we sent. The same press again decides
        nothing: the ask has ended, and whoever sends it again is told what came of it.
Rule 4: what cannot be undone counts only from a button before which Slack asks once more. A no may come with words: its
        button opens a dialog, and decides nothing itself.
Rule 5: Slack is answered at once, and the message folds when the outbox tells of the end.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from assent.client.awaiting import await_call
from assent.client.calls import Calls
from assent.client.outbox import open_outbox
from assent.effects.outward import post
from assent.protocol.ask import Ask
from assent.protocol.error import AssentError, BadRequestError, ForbiddenError, UnauthorisedError
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.target import SLACK_HOOK_HOST, Service, Target
from assent.protocol.wire_error import render_error, status_of_error
from assent.surfaces.http.site import Site
from assent.surfaces.notify.slack import (
    WORDS,
    Press,
    call,
    escape,
    options_for_buttons,
    read_place,
    read_press,
    render_dialog,
)

__all__ = ["SIGNED_SECONDS", "SLACK_PATH", "check_signature", "slack_routes"]

SLACK_PATH = "/slack/interactions"
SIGNED_SECONDS = 300
"""So far away the moment of a signature may be."""
_ACK_SECONDS = 2.5
"""Slack gives up after three."""
_MOST_DIGITS = 12
_NOBODY = "You are not named for this target, or the message is not the one that was sent."

_log = logging.getLogger("assent.http")
_encode = msgspec.json.Encoder().encode

Tell = Callable[[str, str], Awaitable[None]]
"""Says something to whoever pressed: where, and what."""


class _User(msgspec.Struct, frozen=True):
    id: str


class _Action(msgspec.Struct, frozen=True):
    value: str = ""
    action_id: str = ""


class _Container(msgspec.Struct, frozen=True):
    channel_id: str = ""
    message_ts: str = ""


class _Typed(msgspec.Struct, frozen=True):
    value: str | None = None


class _Fields(msgspec.Struct, frozen=True):
    values: dict[str, dict[str, _Typed]] = {}


class _View(msgspec.Struct, frozen=True):
    private_metadata: str
    state: _Fields = _Fields()


class _Payload(msgspec.Struct, frozen=True):
    """What of Slack's payload is read; whatever else is in it is not."""

    type: str
    user: _User
    actions: tuple[_Action, ...] = ()
    container: _Container = _Container()
    response_url: str = ""
    trigger_id: str = ""
    """With which a dialog can be opened, for three seconds."""
    view: _View | None = None
    """The dialog that was sent."""


def check_signature(secret: str, headers: Any, body: bytes, now: float) -> str:
    """Return the signature of a request that Slack has sent.

    Raises:
        UnauthorisedError: it has not, or not now.
    """
    moment = str(headers.get("x-slack-request-timestamp", ""))
    given = str(headers.get("x-slack-signature", ""))
    is_number = moment.isascii() and moment.isdecimal() and len(moment) <= _MOST_DIGITS
    if not secret or not is_number or abs(now - int(moment)) > SIGNED_SECONDS:
        raise UnauthorisedError
    wanted = "v0=" + hmac.digest(secret.encode(), b"v0:%s:%s" % (moment.encode(), body), sha256).hex()
    if not hmac.compare_digest(wanted.encode(), given.encode("utf-8", "surrogatepass")):
        raise UnauthorisedError
    return given


def slack_routes(site: Site, tell: Tell | None = None) -> list[BaseRoute]:
    """Return the route of presses; none where no signing secret is set."""
    if not site.slack_secret:
        return []
    say = tell or _tell

    async def respond(request: Request) -> Response:
        try:
            body = await request.body()
            signature = check_signature(site.slack_secret, request.headers, body, site.now().timestamp())
            payload = _read(body)
        except AssentError as error:
            return Response(render_error(error), status_of_error(error), media_type="application/json")
        work = asyncio.ensure_future(_press(site, payload, signature, say))
        site.keep(work)
        done, _ = await asyncio.wait({work}, timeout=_ACK_SECONDS)
        refusal = work.result() if done else ""
        if not refusal or payload.view is None:
            return Response(status_code=200)
        shown = {"response_action": "errors", "errors": {WORDS: refusal}}
        return Response(_encode(shown), media_type="application/json")

    return [Route(SLACK_PATH, respond, methods=["POST"])]


def _read(body: bytes) -> _Payload:
    try:
        form = parse_qs(body.decode(), max_num_fields=10, strict_parsing=True)
        payload: _Payload = msgspec.json.decode(form["payload"][0], type=_Payload)
    except (ValueError, KeyError, msgspec.DecodeError):
        raise BadRequestError("This is no press of a button.") from None
    is_press = payload.type == "block_actions" and len(payload.actions) == 1
    is_dialog = payload.type == "view_submission" and payload.view is not None
    if not is_press and not is_dialog:
        raise BadRequestError("This is no press of a button.")
    return payload


async def _press(site: Site, payload: _Payload, signature: str, say: Tell) -> str:
    """Do what somebody wants; return why not, where that is so. A dialog shows it itself."""
    try:
        await _decide(site, payload, signature)
    except AssentError as error:
        if payload.view is None:
            await say(payload.response_url, error.message)
        return error.message
    except Exception as error:  # noqa: BLE001 - nobody is there to be told, and its text may have anything in it
        _log.error("a press failed with %s", type(error).__name__)
    return ""


async def _decide(site: Site, payload: _Payload, signature: str) -> Ask:
    press, reason = _wish(payload)
    target, is_ours = await asyncio.to_thread(_find_target, site, payload.user.id, press)
    who = Principal(Role.HUMAN, f"{target.people[payload.user.id]}@slack")
    calls = Calls(site.door, press.project, who, f"slack:{payload.user.id}", Assurance.DECLARED)
    ask = await await_call(calls.show(press.ask_id))
    if ask.digest != press.digest:
        raise BadRequestError("This is no button of ours.")
    # Of what has ended, the message is not known any more: whoever is late is told so, and decides nothing.
    if ask.is_open and not is_ours:
        raise ForbiddenError(_NOBODY)
    command_id = f"slack-{sha256(signature.encode()).hexdigest()[:32]}"
    if press.has_words and payload.view is None and ask.is_open:
        await asyncio.to_thread(_open_dialog, site, payload, target, press, ask)
        return ask
    if press.key is None:
        return await await_call(calls.decline(ask.ask_id, reason, command_id=command_id))
    if press.key not in {option.key for option in options_for_buttons(ask)}:
        raise ForbiddenError("A button cannot answer this: open it in the inbox.")
    values = {ask.prompt.fields[0].name: [press.key]}
    return await await_call(
        calls.answer(ask.ask_id, values, confirmed=press.is_confirmed, command_id=command_id)
    )


def _wish(payload: _Payload) -> tuple[Press, str]:
    """Return what somebody pressed, and where; and the words that they typed into a dialog."""
    if payload.view is not None:
        typed = payload.view.state.values.get(WORDS, {}).get(WORDS, _Typed()).value
        press = read_press(payload.view.private_metadata)
        if not press.has_words or press.key is not None:
            raise BadRequestError("This is no dialog of ours.")
        return press, (typed or "").strip()
    place = f"{payload.container.channel_id}:{payload.container.message_ts}"
    return replace(read_press(payload.actions[0].value), place=place), ""


def _open_dialog(site: Site, payload: _Payload, target: Target, press: Press, ask: Ask) -> None:
    found = open_outbox(site.door).find(target.project, target.name)
    if found is None:
        raise ForbiddenError(_NOBODY)
    body = {"trigger_id": payload.trigger_id, "view": render_dialog(ask, press)}
    slack = read_place(found[1].address)
    call(slack, "views.open", body, site.now(), allows_internal=target.allows_internal)


def _find_target(site: Site, user: str, press: Press) -> tuple[Target, bool]:
    """Return the target that names a user of Slack, and whether the press is from a message that we sent about that ask.

    Raises:
        ForbiddenError: nobody.
    """
    outbox = open_outbox(site.door)
    named = [
        target
        for target, _ in outbox.targets(press.project)
        if target.is_live and target.service is Service.SLACK and user in target.people
    ]
    if not named:
        raise ForbiddenError(_NOBODY)
    ours = [target for target in named if outbox.message_of(target, press.ask_id) == press.place]
    return (ours or named)[0], bool(ours)


async def _tell(url: str, text: str) -> None:
    try:
        parts = urlsplit(url)
        is_slack = parts.scheme == "https" and parts.netloc == SLACK_HOOK_HOST
    except ValueError:
        is_slack = False
    if not is_slack:
        return
    body = _encode({"response_type": "ephemeral", "replace_original": False, "text": escape(text)})
    try:
        await asyncio.to_thread(post, url, body, {"content-type": "application/json"})
    except AssentError as error:
        _log.warning("Slack was not told: %s", error.code)
