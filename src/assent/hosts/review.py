"""Everything that a framework lets a person do with a tool call: yes, no, other arguments, words instead.

A yes is one answer, and it binds. Whoever says no is asked what else, where the framework takes more than a no; whoever
said why is not, where the agent can be told. Changed
arguments are a call that nobody has said yes to, so they are approved like any other: what runs was shown.

Each step has a key of its own under the call's, so all of it is found again after a restart.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Unpack

from msgspec.structs import replace

from assent.client.calls import Calls, no_answer
from assent.client.door import Call
from assent.hosts.framework import (
    Patience,
    Terms,
    ToolReview,
    Verdict,
    Way,
    open_approval,
    settle_approval,
    tool_title,
)
from assent.protocol.ask import Ask
from assent.protocol.display import quote
from assent.protocol.error import BadJsonError, RejectedBefore, TooLargeError
from assent.protocol.json_text import Json, parse_json
from assent.protocol.prompt import Option, Prompt, question

__all__ = ["open_reviews", "settle_review", "settle_reviews"]

_INSTEAD = (
    Option(Way.EDIT, "Run it with other arguments"),
    Option(Way.RESPOND, "Answer in its place"),
    Option(Way.IGNORE, "Ignore it"),
    Option(Way.REJECT, "Reject it"),
)
_MORE_THAN_NO = {Way.EDIT, Way.RESPOND}
_MOST_TRIES = 100
"""So often arguments may be typed that are no JSON object; then it is a no."""


def settle_reviews(
    calls: Calls, reviews: Sequence[ToolReview], *, wait: float | None = None, **terms: Unpack[Terms]
) -> Call[tuple[Verdict, ...]]:
    """Wait until every call is decided, and spend nothing; `wait` are seconds for all of them, None is without end.

    Raises:
        StillOpen: the time is over. What is open stays open, what was answered stays answered.
    """
    patience = Patience(wait)
    yield from open_reviews(calls, reviews, terms)
    verdicts: tuple[Verdict, ...] = ()
    for review in reviews:
        verdicts = (*verdicts, (yield from settle_review(calls, review, patience, terms)))
    return verdicts


def open_reviews(calls: Calls, reviews: Sequence[ToolReview], terms: Terms) -> Call[None]:
    """Ask about every call at once, so that people see all that waits."""
    for review in reviews:
        if Way.APPROVE in review.ways:
            with suppress(RejectedBefore):  # it is told when the call is settled
                yield from open_approval(calls, review, terms)


def settle_review(calls: Calls, review: ToolReview, patience: Patience, terms: Terms) -> Call[Verdict]:
    """Wait until one call is decided; see `settle_reviews`."""
    ways, verdict = review.ways, Verdict(Way.REJECT, "The framework takes no decision about it.")
    if Way.APPROVE in ways:
        verdict = yield from settle_approval(calls, review, patience, terms)
        # Nobody who declined to be asked, and nobody who never came, is asked a second thing.
        is_rejected = verdict.way is Way.REJECT and verdict.ask is not None and verdict.ask.answer is not None
        is_explained = verdict.ask is not None and bool(verdict.ask.words) and Way.REJECT in ways
        if not is_rejected or is_explained or not ways & _MORE_THAN_NO:
            return verdict
        ways |= {Way.REJECT}  # whoever said no may leave it at that, whatever the framework calls it
    others = tuple(option for option in _INSTEAD if option.key in ways)
    if not others:
        return verdict
    return (yield from _settle_instead(calls, review, others, verdict, patience, terms))


def _settle_instead(
    calls: Calls,
    review: ToolReview,
    options: Sequence[Option],
    rejection: Verdict,
    patience: Patience,
    terms: Terms,
) -> Call[Verdict]:
    way = Way(options[0].key)
    if len(options) > 1:
        prompt = question(f"{tool_title(review.name)} What instead?", options, body=_describe(review))
        ask = yield from _wait_for(calls, prompt, f"{review.key}:instead", patience)
        if ask.answer is None:
            return Verdict(Way.REJECT, no_answer(ask).message, ask=ask)
        way = Way(_only(ask))
        rejection = replace(rejection, ask=ask)
    if way is Way.EDIT:
        return (yield from _settle_edit(calls, review, patience, terms))
    if way is Way.RESPOND:
        prompt = question(
            f"What is the answer to {quote(review.name) or 'it'}?", free=True, body=_describe(review)
        )
        ask = yield from _wait_for(calls, prompt, f"{review.key}:respond", patience)
        if ask.answer is None:
            return Verdict(Way.REJECT, no_answer(ask).message, ask=ask)
        return Verdict(Way.RESPOND, _only(ask), ask=ask)
    return rejection if way is Way.REJECT else Verdict(Way.IGNORE, rejection.text, ask=rejection.ask)


def _settle_edit(calls: Calls, review: ToolReview, patience: Patience, terms: Terms) -> Call[Verdict]:
    title, trouble = f"Other arguments for {quote(review.name) or 'it'}?", ""
    for number in range(1, _MOST_TRIES + 1):
        body = (
            f"{trouble}All of its arguments, as one JSON object. The agent's were:\n\n{_spell(review.args)}"
        )
        key = f"{review.key}:edit:{number}"
        ask = yield from _wait_for(calls, question(title, free=True, body=body), key, patience)
        if ask.answer is None:
            return Verdict(Way.REJECT, no_answer(ask).message, ask=ask)
        try:
            args = parse_json(_only(ask))
        except (BadJsonError, TooLargeError) as error:
            trouble = f"That was no JSON object: {error.message}\n\n"
            continue
        if isinstance(args, dict):
            edited = replace(review, key=f"{key}:approve", args=args)
            verdict = yield from settle_approval(calls, edited, patience, terms)
            return replace(verdict, way=Way.EDIT) if verdict.way is Way.APPROVE else verdict
        trouble = "That was JSON, but no object.\n\n"
    return Verdict(Way.REJECT, "Nobody gave other arguments for it.")


def _wait_for(calls: Calls, prompt: Prompt, key: str, patience: Patience) -> Call[Ask]:
    ask = yield from calls.open(prompt, key=key)
    return (yield from calls.wait(ask.ask_id, patience.left)) if ask.is_open else ask


def _only(ask: Ask) -> str:
    assert ask.answer is not None  # noqa: S101 - the callers have just looked
    return ask.answer.values[ask.prompt.fields[0].name][0]


def _describe(review: ToolReview) -> str:
    return "\n\n".join(part for part in (review.body, _spell(review.action)) if part)


def _spell(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)
