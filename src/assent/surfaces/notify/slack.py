"""Slack: a message for each ask, with buttons where a press can answer it, which folds when the ask is decided.

Rule 1: agent text is in blocks of plain text: Slack reads no markup, mention or link in it.
Rule 2: a button answers only what one press can say: one field, one choice, whole labels. An approval has none but
        Decline: who approves has to see all of it, and to be more than a name in a chat.
Rule 3: without people who are known here, there are no buttons: nobody could press them.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

from assent.effects.outward import post
from assent.protocol.ask import Ask, Kind
from assent.protocol.error import BadRequestError
from assent.protocol.prompt import Option
from assent.protocol.target import Service, What
from assent.surfaces.notify.delivery import DeliveryError, Parcel, check_reply
from assent.surfaces.notify.letter import Letter

__all__ = [
    "MAX_BUTTONS",
    "MAX_LABEL",
    "Press",
    "deliver",
    "escape",
    "options_for_buttons",
    "read_press",
    "render_blocks",
    "render_fold",
]

MAX_BUTTONS = 25
"""Of one actions block."""
MAX_LABEL = 75
_MAX_SECTION = 2_900
_API = "https://slack.com/api/"
_DELETED = "message_not_found"

_encode = msgspec.json.Encoder().encode


class Press(msgspec.Struct, frozen=True):
    """What a button says when it is pressed."""

    project: str
    ask_id: str
    digest: str
    """Of the prompt that was shown."""
    key: str | None = None
    """The option's; None is to decline."""


_press = msgspec.json.Decoder(Press).decode


def read_press(value: str) -> Press:
    """Return what a button said.

    Raises:
        BadRequestError: it is not one of ours.
    """
    try:
        return _press(value)
    except (msgspec.DecodeError, UnicodeError):
        raise BadRequestError("This is no button of ours.") from None


def escape(text: str) -> str:
    """Return `text` so that Slack reads no markup in it.

    >>> escape("<!channel> & co")
    '&lt;!channel&gt; &amp; co'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def options_for_buttons(ask: Ask) -> tuple[Option, ...]:
    """Return the options that buttons can show; none where a press could not answer."""
    if ask.kind is Kind.APPROVAL or len(ask.prompt.fields) != 1:
        return ()
    field = ask.prompt.fields[0]
    fits = len(field.options) <= MAX_BUTTONS and all(
        len(option.label) <= MAX_LABEL for option in field.options
    )
    return field.options if fits and not field.multiple else ()


def render_blocks(ask: Ask, letter: Letter, *, has_buttons: bool) -> list[dict[str, Any]]:
    """Return the message as Slack's blocks."""
    blocks = [_section(f"{letter.head}:\n{letter.title}")]
    if letter.body:
        blocks.append(_section(letter.body))
    blocks.append(_section(letter.foot))
    if letter.link:
        blocks.append(
            {
                "type": "section",
                "text": {"type": "mrkdwn", "text": f"<{escape(letter.link)}|Open it in the inbox>"},
            }
        )
    if has_buttons and not letter.is_over:
        options = options_for_buttons(ask)
        if options:
            blocks.append({"type": "actions", "elements": [_button(ask, option) for option in options]})
        blocks.append({"type": "actions", "elements": [_button(ask, None)]})
    return blocks


def render_fold(ask: Ask, letter: Letter) -> dict[str, Any]:
    """Return the message as it is once its ask is decided: no buttons."""
    return {"text": escape(letter.text), "blocks": render_blocks(ask, letter, has_buttons=False)}


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "plain_text", "text": text[:_MAX_SECTION], "emoji": False}}


def _button(ask: Ask, option: Option | None) -> dict[str, Any]:
    press = Press(ask.project, ask.ask_id, ask.digest, None if option is None else option.key)
    label = "Decline" if option is None else option.label
    button: dict[str, Any] = {
        "type": "button",
        "action_id": f"assent:{'decline' if option is None else option.key}"[:255],
        "text": {"type": "plain_text", "text": label, "emoji": False},
        "value": _encode(press).decode(),
    }
    if option is None or option.destructive:
        button["style"] = "danger"
    return button


def deliver(parcel: Parcel) -> str:
    """Send a message, answer in its thread, or fold it; return how it is known there."""
    if parcel.target.service is Service.SLACK_HOOK:
        return _deliver_by_hook(parcel)
    parts = urlsplit(parcel.secret.address)
    token, _, channel = parts.netloc.rpartition("@")
    if not token or not channel:
        raise DeliveryError("A Slack address is slack://TOKEN@CHANNEL.")
    api = parse_qs(parts.query).get("api", [_API])[0].rstrip("/") + "/"
    known_channel, _, moment = parcel.notice.reference.partition(":")
    ask, letter = parcel.notice.ask, parcel.letter
    text = escape(letter.text)
    body: dict[str, Any] = {"text": text, "unfurl_links": False, "unfurl_media": False, "link_names": False}
    if parcel.notice.what is What.ENDED:
        body |= {"channel": known_channel, "ts": moment} | render_fold(ask, letter)
        method = "chat.update"
    elif moment:
        body |= {"channel": known_channel, "thread_ts": moment}
        method = "chat.postMessage"
    else:
        blocks = render_blocks(ask, letter, has_buttons=bool(parcel.target.people))
        body |= {"channel": channel, "blocks": blocks}
        method = "chat.postMessage"
    said = _call(parcel, api + method, unquote(token), body)
    if moment:
        return parcel.notice.reference
    return f"{said.get('channel', channel)}:{said.get('ts', '')}"


def _call(parcel: Parcel, url: str, token: str, body: dict[str, Any]) -> dict[str, Any]:
    headers = {"content-type": "application/json; charset=utf-8", "authorization": f"Bearer {token}"}
    reply = post(url, _encode(body), headers, allows_internal=parcel.target.allows_internal)
    check_reply(reply, "Slack")
    try:
        said = msgspec.json.decode(reply.body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeError):
        raise DeliveryError("Slack replied with what cannot be read.") from None
    error = str(said.get("error", ""))
    if said.get("ok") is True or (error == _DELETED and "ts" in body):
        return said  # whoever deleted the message has no need of its end
    known = error if error.isascii() and error.replace("_", "").isalnum() and len(error) < MAX_LABEL else "?"
    raise DeliveryError(f"Slack refused it: {known}.")


def _deliver_by_hook(parcel: Parcel) -> str:
    ask, letter = parcel.notice.ask, parcel.letter
    body = {
        "text": escape(letter.text),
        "blocks": render_blocks(ask, letter, has_buttons=False),
        "unfurl_links": False,
    }
    reply = post(
        parcel.secret.address,
        _encode(body),
        {"content-type": "application/json"},
        allows_internal=parcel.target.allows_internal,
    )
    check_reply(reply, "Slack")
    return parcel.notice.message_id


def check_address(address: str) -> None:
    """See that a Slack address has all that it needs.

    Raises:
        BadRequestError: it has not.
    """
    token, _, channel = urlsplit(address).netloc.rpartition("@")
    if not token or not channel:
        raise BadRequestError("A Slack address is slack://TOKEN@CHANNEL, with a bot's token (xoxb-…).")
