"""Questions that an agent put to its own host, as a prompt of ours; and the answer as that host wants it back.

Every host has a question tool of its own, with other limits and other keys: answers by the question's text, by an id, by
a place, by a header. An adapter reads them into `HostQuestion`s, and writes the `HostReply`s in its host's way.

Rule 1: whatever a host accepted can be asked. Labels that nobody could tell apart or type are shown with their number;
        the host gets its own label back all the same.
Rule 2: an answer maps back to exactly the options that were chosen, and to the words that were typed. Nothing else is an
        answer: what ended otherwise is for the adapter to tell as "no decision".
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assent.protocol.ask import Ask
from assent.protocol.display import is_blank
from assent.protocol.error import BadPromptError, TooLargeError
from assent.protocol.prompt import (
    MAX_FIELDS,
    MAX_LABEL,
    MAX_OPTIONS,
    MAX_TITLE,
    Field,
    Option,
    Prompt,
    check_prompt,
)

__all__ = ["HostOption", "HostQuestion", "HostReply", "host_prompt", "host_replies"]

_NOTHING_SHOWN = "(no text)"


class HostOption(msgspec.Struct, frozen=True):
    """One choice, as the host has it."""

    label: str
    description: str = ""


class HostQuestion(msgspec.Struct, frozen=True):
    """One question, as the host has it."""

    key: str
    """By which the host finds its answer: a text, an id, a place."""
    text: str
    options: tuple[HostOption, ...] = ()
    multiple: bool = False
    free: bool = True
    """Words of one's own are an answer, too. Without options they are the only one."""
    header: str = ""


class HostReply(msgspec.Struct, frozen=True):
    """The answer to one question, for the host."""

    key: str
    labels: tuple[str, ...] = ()
    """The host's own labels that were chosen, in the order in which they are listed."""
    text: str = ""
    """What was typed beside them."""

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything that was chosen or typed."""
        return (*self.labels, self.text) if self.text else self.labels


def host_prompt(questions: Sequence[HostQuestion], *, title: str = "", body: str = "") -> Prompt:
    """Return the prompt that asks all of `questions`; `title` stands above several of them.

    Raises:
        BadPromptError: there is none.
        TooLargeError: no person could be asked so much.
    """
    if not questions:
        raise BadPromptError("The host asked nothing.")
    if len(questions) > MAX_FIELDS:
        raise TooLargeError(f"A prompt has 1 to {MAX_FIELDS} questions.")
    if any(len(question.options) > MAX_OPTIONS for question in questions):
        raise TooLargeError(f"A question has at most {MAX_OPTIONS} options.")
    fields = [_field(number, question) for number, question in enumerate(questions, 1)]
    if len(questions) == 1:
        title, body = _headline(questions[0].text, body)
        fields = [msgspec.structs.replace(fields[0], text="")]
    else:
        title, body = _headline(title or f"{len(questions)} questions", body)
    prompt = Prompt(title, body, tuple(fields))
    check_prompt(prompt)
    return prompt


def host_replies(questions: Sequence[HostQuestion], ask: Ask) -> tuple[HostReply, ...]:
    """Return what was answered to each of `questions`; empty where the ask has no answer."""
    if ask.answer is None:
        return ()
    replies = []
    for field, question in zip(ask.prompt.fields, questions, strict=True):
        given = ask.answer.values[field.name]
        chosen = tuple(
            option.label
            for option, shown in zip(question.options, field.options, strict=True)
            if shown.key in given
        )
        keys = {shown.key for shown in field.options}
        typed = "\n".join(text for text in given if text not in keys)
        replies.append(HostReply(question.key, chosen, typed))
    return tuple(replies)


def _headline(text: str, body: str) -> tuple[str, str]:
    """Return a title that fits and a body that holds what does not."""
    text = text if not is_blank(text) else _NOTHING_SHOWN
    if len(text) <= MAX_TITLE and "\n" not in text.strip():
        return text.strip(), body
    first = next(line for line in text.strip().split("\n") if not is_blank(line))
    title = first if len(first) <= MAX_TITLE else first[: MAX_TITLE - 1] + "…"
    return title, f"{text}\n\n{body}" if body else text


def _field(number: int, question: HostQuestion) -> Field:
    name, text = f"q{number}", question.text
    free = question.free or not question.options
    plain = tuple(
        Option(option.label, option.label, description=option.description) for option in question.options
    )
    field = Field(name, text, plain, question.multiple, free)
    try:
        check_prompt(Prompt("?", fields=(field,)))
    except (BadPromptError, TooLargeError):
        numbered = tuple(_numbered(place, option) for place, option in enumerate(question.options, 1))
        return msgspec.structs.replace(field, options=numbered)
    return field


def _numbered(place: int, option: HostOption) -> Option:
    """Return an option that its number tells from every other one."""
    shown = option.label if not is_blank(option.label) else _NOTHING_SHOWN
    label = f"{place}. {shown}"
    rest = option.description
    if len(label) > MAX_LABEL:
        label, rest = label[: MAX_LABEL - 1] + "…", f"{option.label}\n{rest}".strip()
    return Option(str(place), label, description=rest)
