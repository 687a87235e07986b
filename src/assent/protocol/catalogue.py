"""The six protocols by id (C1), as values: what an asker may name, and what a prompt must then be like.

Rule 1: a protocol is referred to by its id and by nothing else (C2). Naming one adds nothing to an ask: it makes sure
        that what is asked is what the id promises.
Rule 2: closed means that every question has options and takes no other text (C3, C6, C15, C18). Free means that every
        question takes words of one's own, after its options (C8, C11, C21, C22).
Rule 3: single means one question (C4, C9), multi 2 to 4 in a round unless the asker sets another most (C16, C-X8).
Rule 4: what is confirmed is a part of a plan and not a prompt, so nothing is asked by the ids of the two confirms.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from assent.protocol.display import quote
from assent.protocol.error import BadPromptError, BadRequestError
from assent.protocol.prompt import Prompt

__all__ = ["MOST_IN_A_ROUND", "PROTOCOLS", "Protocol", "check_protocol", "find_protocol", "follow_protocol"]

MOST_IN_A_ROUND = 4
"""C16; an asker may set another."""
_LEAST_IN_A_ROUND = 2


class Protocol(msgspec.Struct, frozen=True):
    """One way of asking, or of holding work until it is confirmed."""

    protocol_id: str
    is_multi: bool = False
    """Several questions in a round."""
    is_free: bool = False
    """Words of one's own are an answer, too."""
    is_confirm: bool = False
    """It belongs to a `<confirm>` of a plan."""


PROTOCOLS: dict[str, Protocol] = {
    protocol.protocol_id: protocol
    for protocol in (
        Protocol("ask-single-question-closed"),
        Protocol("ask-single-question-free", is_free=True),
        Protocol("ask-multi-question-closed", is_multi=True),
        Protocol("ask-multi-question-free", is_multi=True, is_free=True),
        Protocol("yield-human-confirm", is_confirm=True),
        Protocol("yield-ai-confirm", is_confirm=True),
    )
}
"""By id."""


def find_protocol(protocol_id: str) -> Protocol:
    """Return the protocol that something is asked by.

    >>> find_protocol("ask-multi-question-free").is_free
    True

    Raises:
        BadRequestError: there is none of that id, or it confirms and does not ask.
    """
    protocol = PROTOCOLS.get(protocol_id)
    if protocol is None:
        asked = ", ".join(known.protocol_id for known in PROTOCOLS.values() if not known.is_confirm)
        raise BadRequestError(f'There is no protocol "{quote(protocol_id)}": use one of {asked}.')
    if protocol.is_confirm:
        raise BadRequestError(
            f'"{protocol_id}" confirms a part of a plan and asks no question: see assent confirm.'
        )
    return protocol


def check_protocol(protocol_id: str, prompt: Prompt, most: int = MOST_IN_A_ROUND) -> None:
    """Check that `prompt` is what the protocol promises; a round of it has at most `most` questions.

    Raises:
        BadRequestError: nothing is asked by that id.
        BadPromptError: the prompt does not fit; the sentence says where.
    """
    protocol = find_protocol(protocol_id)
    _check_count(protocol, len(prompt.fields), most)
    if prompt.commands:
        raise BadPromptError(f"By {protocol_id} no commands are offered: that is a gate.")
    for field in prompt.fields:
        name = quote(field.name)
        if protocol.is_free and not field.free:
            raise BadPromptError(f'By {protocol_id} words of one\'s own are an answer, but not to "{name}".')
        if not protocol.is_free and field.free:
            raise BadPromptError(f'By {protocol_id} only options are answers, but "{name}" takes any text.')
        if not protocol.is_free and not field.options:
            raise BadPromptError(f'By {protocol_id} only options are answers, and "{name}" has none.')


def _check_count(protocol: Protocol, count: int, most: int) -> None:
    name = protocol.protocol_id
    if not protocol.is_multi and count != 1:
        raise BadPromptError(f"By {name} one question is asked at a time, and these are {count}.")
    if protocol.is_multi and count < min(_LEAST_IN_A_ROUND, most):
        raise BadPromptError(f"By {name} a round has at least {min(_LEAST_IN_A_ROUND, most)} questions.")
    if protocol.is_multi and count > most:
        raise BadPromptError(f"By {name} a round has at most {most} questions, and these are {count}.")


def follow_protocol(protocol_id: str, prompt: Prompt, most: int = MOST_IN_A_ROUND) -> Prompt:
    """Return `prompt` as the protocol has it: a free one adds the position for one's own words to every question.

    Raises:
        BadRequestError: nothing is asked by that id.
        BadPromptError: the prompt does not fit.
    """
    if find_protocol(protocol_id).is_free:
        prompt = replace(prompt, fields=tuple(replace(field, free=True) for field in prompt.fields))
    check_protocol(protocol_id, prompt, most)
    return prompt
