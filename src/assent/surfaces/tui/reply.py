"""A reply in the making: what is marked and written of one ask, whether it can be sent, and what would be sent, in words.

Pure: nothing here knows of a screen. Nothing is marked at the start, and a mark never sends.
"""

from __future__ import annotations

from contextlib import suppress

import msgspec
from msgspec.structs import replace

from assent.protocol.answer import find_destructive
from assent.protocol.approval import APPROVE, REJECT, is_approval
from assent.protocol.ask import Ask, Kind
from assent.protocol.command import ANY_REPLY
from assent.protocol.display import is_blank
from assent.protocol.error import UnrecognisedError
from assent.protocol.prompt import Field, Option, Prompt, render_position
from assent.protocol.reply import recognise

__all__ = [
    "CHANGES",
    "WAYS",
    "FieldReply",
    "Reply",
    "Way",
    "destructive",
    "first_lacking",
    "fit_reply",
    "is_command_only",
    "is_free_only",
    "is_long",
    "is_plain_check",
    "is_yes_no",
    "keycap",
    "lacking",
    "mark",
    "note_text",
    "own",
    "reason_of",
    "send_label",
    "summary",
    "type_command",
    "unmark",
    "values_of",
    "write",
]


class FieldReply(msgspec.Struct, frozen=True):
    """What is marked and written of one field."""

    keys: tuple[str, ...] = ()
    text: str = ""
    is_own: bool = False
    """Words of one's own are marked, where there are options, too."""


class Reply(msgspec.Struct, frozen=True):
    """What is marked and written of one ask."""

    fields: dict[str, FieldReply] = {}
    command: str = ""
    """What was typed at a gate."""

    @property
    def is_blank(self) -> bool:
        """Nothing is marked or written."""
        return not self.command and not any(each.keys or each.text.strip() for each in self.fields.values())

    def of(self, name: str) -> FieldReply:
        """Return what there is of a field."""
        return self.fields.get(name, _NOTHING)


_NOTHING = FieldReply()


class Way(msgspec.Struct, frozen=True):
    """One of a confirm's three ways: the words that are sent for it are the protocol's."""

    key: str
    letter: str
    label: str
    note: str


CHANGES = "changes: "
"""What a request for changes begins with, so that it is never read as anything else."""
_MOST_KEYS = 9
"""An option goes by one key while there are no more than these; a longer list has a line to say which one (rule 6)."""

WAYS = (
    Way("yes", "Y", "Yes, continue", "The work goes on from here."),
    Way("changes", "C", "Changes first", "The agent applies what you write, and asks again."),
    Way("no", "S", "No, stop here", "The agent halts, and waits for new instructions."),
)


def is_free_only(field: Field) -> bool:
    """Whether a field takes words and nothing else."""
    return field.free and not field.options


def is_yes_no(ask: Ask) -> bool:
    """Whether an ask is a confirm that takes words: yes and no have keys of their own."""
    return ask.kind is Kind.CONFIRM and len(ask.prompt.fields) == 1 and is_free_only(ask.prompt.fields[0])


def is_command_only(ask: Ask) -> bool:
    """Whether an ask takes a typed command and nothing else."""
    fields = ask.prompt.fields
    return bool(ask.prompt.commands) and not any(field.options or field.free for field in fields)


def is_plain_check(ask: Ask) -> bool:
    """Whether an ask is the question of a gate whether it was meant: y and n have keys of their own."""
    return is_command_only(ask) and ANY_REPLY in ask.prompt.commands


def is_long(field: Field) -> bool:
    """Whether a field has more places than there are keys for them."""
    return len(field.options) + (field.free and bool(field.options)) > _MOST_KEYS


def keycap(prompt: Prompt, field: Field, position: int) -> str:
    """Return what the option at `position`, counted from 0, goes by: as in every terminal, but numbers in a long list."""
    return str(position + 1) if prompt.commands or is_long(field) else render_position(position, field)


def fit_reply(ask: Ask, reply: Reply) -> Reply:
    """Return what of an earlier reply may stand when its ask is opened again.

    What is not offered goes, and so does every mark on an approval, on a confirm and on an ask with something that cannot be
    undone: it is set by a key that was pressed now. Words stay.
    """
    has_grave = any(option.destructive for field in ask.prompt.fields for option in field.options)
    is_grave = has_grave or is_yes_no(ask) or is_approval(ask.prompt)
    fields: dict[str, FieldReply] = {}
    for field in ask.prompt.fields:
        part = reply.of(field.name)
        offered = set() if is_grave else {option.key for option in field.options}
        keys = tuple(dict.fromkeys(key for key in part.keys if key in offered))
        kept = FieldReply(
            keys if field.multiple else keys[:1],
            part.text if field.free or is_approval(ask.prompt) else "",
            part.is_own and field.free and not is_grave and (field.multiple or not keys),
        )
        if kept != _NOTHING:
            fields[field.name] = kept
    return Reply(fields, reply.command if ask.prompt.commands else "")


def _with(reply: Reply, name: str, part: FieldReply) -> Reply:
    return Reply({**reply.fields, name: part})


def mark(reply: Reply, field: Field, key: str) -> Reply:
    """Return the reply with an option marked; of a field that takes several, with it marked or not any more."""
    part = reply.of(field.name)
    if not field.multiple:
        return _with(reply, field.name, replace(part, keys=(key,), is_own=False))
    is_marked = key in part.keys
    keys = tuple(each for each in part.keys if each != key) if is_marked else (*part.keys, key)
    return _with(reply, field.name, replace(part, keys=keys))


def own(reply: Reply, field: Field) -> Reply:
    """Return the reply with words of one's own marked, or not any more where several may be chosen."""
    part = reply.of(field.name)
    if field.multiple:
        return _with(reply, field.name, replace(part, is_own=not part.is_own))
    return _with(reply, field.name, replace(part, is_own=True, keys=()))


def write(reply: Reply, field: Field, text: str) -> Reply:
    """Return the reply with these words for a field."""
    part = reply.of(field.name)
    if not field.options:
        return _with(reply, field.name, replace(part, text=text))
    return _with(
        reply, field.name, replace(part, text=text, is_own=True, keys=part.keys if field.multiple else ())
    )


def note_text(reply: Reply, field: Field, text: str) -> Reply:
    """Return the reply with words that are still being written: nothing else is marked or unmarked by them."""
    return _with(reply, field.name, replace(reply.of(field.name), text=text))


def unmark(reply: Reply, field: Field) -> Reply:
    """Return the reply with nothing marked in a field; what was written stays."""
    return _with(reply, field.name, FieldReply(text=reply.of(field.name).text))


def type_command(reply: Reply, command: str) -> Reply:
    """Return the reply with a command typed: it takes the place of what was marked."""
    return Reply({}, command) if command else replace(reply, command="")


def lacking(ask: Ask, reply: Reply) -> str:
    """Return why it cannot be sent yet; empty when it can."""
    prompt = ask.prompt
    if reply.command.strip():
        return ""
    if is_yes_no(ask):
        part = reply.of(prompt.fields[0].name)
        if not part.keys:
            return "Mark one first"
        return "Say what to change" if part.keys[0] == "changes" and is_blank(part.text) else ""
    if is_command_only(ask):
        return "Type a reply first"
    at = first_lacking(ask, reply)
    if at is None:
        return ""
    if len(prompt.fields) > 1:
        return f"Answer Q{at + 1} first"
    if is_free_only(prompt.fields[at]):
        return "Write an answer first"
    return "Write your own words" if reply.of(prompt.fields[at].name).is_own else "Mark one first"


def first_lacking(ask: Ask, reply: Reply, start: int = 0) -> int | None:
    """Return the first question that has no answer yet, looked for from `start` on and then from the top."""
    fields = ask.prompt.fields
    numbers = [*range(start, len(fields)), *range(start)]
    return next((at for at in numbers if not _is_answered(fields[at], reply.of(fields[at].name))), None)


def _is_answered(field: Field, part: FieldReply) -> bool:
    if is_free_only(field) or part.is_own:
        return not is_blank(part.text)
    return bool(part.keys)


def _words(field: Field, part: FieldReply) -> str:
    labels = {option.key: option.label for option in field.options}
    said = [labels.get(key, key) for key in part.keys]
    if is_free_only(field) or part.is_own:
        said.append(part.text.strip())
    return ", ".join(filter(None, said))


def summary(ask: Ask, reply: Reply) -> str:
    """Return what would be sent, in words."""
    fields = ask.prompt.fields
    if reply.command.strip():
        return reply.command.strip()
    if is_yes_no(ask):
        part = reply.of(fields[0].name)
        way = next((way for way in WAYS if part.keys and way.key == part.keys[0]), None)
        if way is None:
            return "Nothing marked"
        return (
            f"Changes first: {part.text.strip()}" if way.key == "changes" and part.text.strip() else way.label
        )
    if len(fields) > 1:
        count = sum(_is_answered(field, reply.of(field.name)) for field in fields)
        return f"{count} of {len(fields)} answered"
    if is_command_only(ask):
        return "Nothing typed"
    said = _words(fields[0], reply.of(fields[0].name))
    if reason_of(ask, reply):
        return f"{said}: {reason_of(ask, reply)}"
    return said or ("Nothing written" if is_free_only(fields[0]) else "Nothing marked")


def reason_of(ask: Ask, reply: Reply) -> str:
    """Return the words that go with a no to an approval; empty where there are none, or where it is no no."""
    if not is_approval(ask.prompt):
        return ""
    part = reply.of(ask.prompt.fields[0].name)
    return part.text.strip() if part.keys == (REJECT,) else ""


def values_of(ask: Ask, reply: Reply) -> dict[str, list[str]]:
    """Return the values of the answer; it has been checked that nothing lacks, and that it is no command."""
    values: dict[str, list[str]] = {}
    for field in ask.prompt.fields:
        part = reply.of(field.name)
        if is_yes_no(ask):
            # What it is goes with the words: the hub refuses words that would read as a yes or a no.
            way = part.keys[0]
            values[field.name] = [f"{CHANGES}{part.text.strip()}" if way == "changes" else way]
        elif is_free_only(field):
            values[field.name] = [part.text.strip()]
        else:
            values[field.name] = [*part.keys, part.text.strip()] if part.is_own else [*part.keys]
    return values


def destructive(ask: Ask, reply: Reply) -> Option | None:
    """Return an option that is chosen and cannot be undone."""
    command = reply.command.strip()
    if not command:
        # Own words that spell an option choose it.
        chosen = {
            name: (*part.keys, part.text) if part.is_own else part.keys for name, part in reply.fields.items()
        }
        return find_destructive(ask.prompt, chosen)
    with suppress(UnrecognisedError):
        return find_destructive(ask.prompt, recognise(ask.prompt, command))
    return None


def send_label(ask: Ask, reply: Reply) -> str:
    """Return what Enter does, once it can: it names the stakes."""
    grave = destructive(ask, reply)
    if grave is not None:
        return f"{grave.label}, cannot be undone"
    if is_approval(ask.prompt):
        if reply.of(ask.prompt.fields[0].name).keys == (APPROVE,):
            return f"Approve: {ask.prompt.risk}" if ask.prompt.risk else "Approve, once"
        return "Send the no and your words" if reason_of(ask, reply) else "Send the no"
    if is_yes_no(ask):
        key = next(iter(reply.of(ask.prompt.fields[0].name).keys), "")
        return {"yes": "Continue", "no": "Send the no"}.get(key, "Send the changes")
    return f"Send all {len(ask.prompt.fields)}" if len(ask.prompt.fields) > 1 else "Send"
