"""Slack: a message for each ask, with buttons where a press can answer it, which folds when the ask is decided.

Rule 1: agent text is in blocks of plain text: Slack reads no markup, mention or link in it.
Rule 2: a button answers only what one press can say: one field, one choice, whole labels, and only where the message has
        all that the prompt shows. Otherwise there is a link, and Decline. An approval has none but Decline: who approves has
        to see all of it, and to be more than a name in a chat. Words of one's own go with a no, in a dialog.
Rule 3: what cannot be undone is asked once more by Slack's own dialog, and only a button that has it says so.
Rule 4: without people who are known here, there are no buttons: nobody could press them.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
from msgspec.structs import replace

from assent.effects.outward import post
from assent.protocol.ask import Ask, Kind
from assent.protocol.display import display
from assent.protocol.error import BadRequestError
from assent.protocol.prompt import Option
from assent.protocol.target import Service, What
from assent.surfaces.notify.delivery import DeliveryError, Parcel, check_reply
from assent.surfaces.notify.letter import Letter, mark_lines

__all__ = [
    "MAX_BUTTONS",
    "MAX_BUTTON_LABEL",
    "WORDS",
    "Press",
    "SlackPlace",
    "call",
    "deliver",
    "escape",
    "options_for_buttons",
    "read_place",
    "read_press",
    "render_blocks",
    "render_dialog",
    "render_fold",
]

MAX_BUTTONS = 25
"""Of one actions block."""
MAX_BUTTON_LABEL = 75
WORDS = "words"
"""The field of a dialog."""
_MAX_WORDS = 2_000
_MAX_SECTION = 2_900
_MAX_VALUE = 2_000
_API = "https://slack.com/api"
_DELETED = "message_not_found"
_UNREADABLE = "Slack replied with what cannot be read."
_NO_PREVIEW = {"unfurl_links": False, "unfurl_media": False}
"""Slack fetches nothing that a text names."""
_ERROR = re.compile(r"[a-z_]{1,60}").fullmatch

_encode = msgspec.json.Encoder().encode


class SlackPlace(msgspec.Struct, frozen=True):
    """Where a message goes, and as whom."""

    token: str
    channel: str
    api: str


def read_place(address: str) -> SlackPlace:
    """Return where a message goes: `slack://TOKEN@CHANNEL`, with `?api=URL` where Slack's own is another one.

    Raises:
        BadRequestError: something is missing.
    """
    parts = urlsplit(address)
    token, _, channel = parts.netloc.rpartition("@")
    if not token or not channel:
        raise BadRequestError("A Slack address is slack://TOKEN@CHANNEL, with a bot's token (xoxb-…).")
    api = parse_qs(parts.query).get("api", [_API])[0].rstrip("/")
    return SlackPlace(unquote(token), unquote(channel), api)


class Press(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a button says when it is pressed, or a dialog when it is sent."""

    project: str
    ask_id: str
    digest: str
    """Of the prompt that was shown."""
    key: str | None = None
    """The option's; None is to decline."""
    is_confirmed: bool = False
    """Slack has asked once more before it sent the press."""
    has_words: bool = False
    """A reason is to be asked for first."""
    place: str = ""
    """Of a dialog: the channel and the moment of the message from which it was opened."""


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
    """Return the options that buttons can show; none where a press could not answer, or would answer what is not seen."""
    prompt = ask.prompt
    if ask.kind is Kind.APPROVAL or prompt.action is not None or len(prompt.fields) != 1:
        return ()
    field = prompt.fields[0]
    is_whole = all(len(text) <= _MAX_SECTION for text in _whole(ask))
    fits = len(field.options) <= MAX_BUTTONS and all(
        len(_label(option)) <= MAX_BUTTON_LABEL and len(_encode(_press_of(ask, option))) <= _MAX_VALUE
        for option in field.options
    )
    return field.options if is_whole and fits and not field.multiple else ()


def _label(option: Option) -> str:
    return display(option.label, lines=False)


def _whole(ask: Ask) -> list[str]:
    """Return all that the prompt of one question shows, part by part."""
    prompt, field = ask.prompt, ask.prompt.fields[0]
    notes = []
    for option in field.options:
        marks = [" (recommended)"] if option.recommended else []
        marks += [f": {display(option.description, lines=False)}"] if option.description else []
        notes += [f"{_label(option)}{''.join(marks)}"] if marks else []
    parts = [prompt.title, prompt.body or "", field.text, f"Risk: {prompt.risk}" if prompt.risk else ""]
    shown = [*(display(part).strip() for part in parts), "\n".join(notes)]
    return [mark_lines(part) for part in shown if part]


def render_blocks(ask: Ask, letter: Letter, *, has_buttons: bool) -> list[dict[str, Any]]:
    """Return the message as Slack's blocks."""
    can_press = has_buttons and not letter.is_over
    options = options_for_buttons(ask) if can_press else ()
    said = _whole(ask) if options else [mark_lines(letter.title), mark_lines(letter.body)]
    blocks = [_section(text) for text in (f"{letter.head}:", *said, letter.foot) if text]
    if letter.link:
        blocks.append(
            {
                "type": "section",
                "text": {"type": "mrkdwn", "text": f"<{escape(letter.link)}|Open it in the inbox>"},
            }
        )
    if options:
        buttons = [_option_button(ask, option, place) for place, option in enumerate(options, start=1)]
        blocks.append({"type": "actions", "elements": buttons})
    if can_press:
        plain = _button("decline", "Decline", _press_of(ask)) | {"style": "danger"}
        spoken = _button("why", "Decline, and say why", replace(_press_of(ask), has_words=True))
        blocks.append({"type": "actions", "elements": [plain, spoken]})
    return blocks


def render_dialog(ask: Ask, press: Press) -> dict[str, Any]:
    """Return the dialog that asks for the reason of a no."""
    return {
        "type": "modal",
        "callback_id": "assent:decline",
        "private_metadata": _encode(press).decode(),
        "title": _plain("Decline"),
        "submit": _plain("Decline"),
        "close": _plain("Cancel"),
        "blocks": [
            _section(mark_lines(display(ask.prompt.title).strip())),
            {
                "type": "input",
                "block_id": WORDS,
                "label": _plain("Why? The agent is told."),
                "element": {
                    "type": "plain_text_input",
                    "action_id": WORDS,
                    "multiline": True,
                    "max_length": _MAX_WORDS,
                },
            },
        ],
    }


def render_fold(ask: Ask, letter: Letter) -> dict[str, Any]:
    """Return the message as it is once its ask is decided: no buttons."""
    return {"text": escape(letter.text), "blocks": render_blocks(ask, letter, has_buttons=False)}


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": _plain(text[:_MAX_SECTION])}


def _press_of(ask: Ask, option: Option | None = None) -> Press:
    if option is None:
        return Press(ask.project, ask.ask_id, ask.digest)
    return Press(ask.project, ask.ask_id, ask.digest, option.key, is_confirmed=option.destructive)


def _button(name: str, label: str, press: Press) -> dict[str, Any]:
    return {
        "type": "button",
        "action_id": f"assent:{name}",
        "text": _plain(label),
        "value": _encode(press).decode(),
    }


def _option_button(ask: Ask, option: Option, place: int) -> dict[str, Any]:
    label = _label(option)
    button = _button(str(place), label, _press_of(ask, option))
    if not option.destructive:
        return button
    asks_first = {
        "title": _plain("Are you sure?"),
        "text": _plain(f'"{label}" cannot be undone.'),
        "confirm": _plain("Yes"),
        "deny": _plain("No"),
        "style": "danger",
    }
    return button | {"style": "danger", "confirm": asks_first}


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


def deliver(parcel: Parcel) -> str:
    """Send a message, answer in its thread, or fold it; return how it is known there."""
    if parcel.target.service is Service.SLACK_HOOK:
        return _deliver_by_hook(parcel)
    place = read_place(parcel.secret.address)
    channel, _, moment = parcel.notice.reference.partition(":")
    ask, letter, allows_internal = parcel.notice.ask, parcel.letter, parcel.target.allows_internal
    if parcel.notice.what is What.ENDED:
        fold = {"channel": channel, "ts": moment} | render_fold(ask, letter)
        call(place, "chat.update", fold, parcel.now, allows_internal=allows_internal)
        return parcel.notice.reference
    body: dict[str, Any] = {"text": escape(letter.text), "mrkdwn": False} | _NO_PREVIEW
    if moment:
        reply = {"channel": channel, "thread_ts": moment} | body
        call(place, "chat.postMessage", reply, parcel.now, allows_internal=allows_internal)
        return parcel.notice.reference
    blocks = render_blocks(ask, letter, has_buttons=bool(parcel.target.people))
    message = {"channel": place.channel, "blocks": blocks} | body
    said = call(place, "chat.postMessage", message, parcel.now, allows_internal=allows_internal)
    match said:
        case {"channel": str(where), "ts": str(at)} if where and at:
            return f"{where}:{at}"
        case _:
            raise DeliveryError(_UNREADABLE)


def call(
    place: SlackPlace, method: str, body: dict[str, Any], now: datetime, *, allows_internal: bool
) -> dict[str, Any]:
    """Call a method of Slack's; return what it says.

    Raises:
        DeliveryError: Slack did not do it.
        OutwardError: Slack was not reached.
    """
    headers = {"content-type": "application/json; charset=utf-8", "authorization": f"Bearer {place.token}"}
    url = f"{place.api}/{method}"
    reply = post(url, _encode(body), headers, allows_internal=allows_internal)
    check_reply(reply, "Slack", now)
    try:
        said = msgspec.json.decode(reply.body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeError):
        raise DeliveryError(_UNREADABLE) from None
    error = str(said.get("error", ""))
    if said.get("ok") is True or (error == _DELETED and "ts" in body):
        return said  # whoever deleted the message has no need of its end
    raise DeliveryError(f"Slack refused it: {error if _ERROR(error) else '?'}.")


def _deliver_by_hook(parcel: Parcel) -> str:
    ask, letter = parcel.notice.ask, parcel.letter
    body = {
        "text": escape(letter.text),
        "blocks": render_blocks(ask, letter, has_buttons=False),
    } | _NO_PREVIEW
    reply = post(
        parcel.secret.address,
        _encode(body),
        {"content-type": "application/json"},
        allows_internal=parcel.target.allows_internal,
    )
    check_reply(reply, "Slack", parcel.now)
    return parcel.notice.message_id
