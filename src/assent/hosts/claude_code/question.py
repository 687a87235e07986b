"""The host's question tool: read into questions that people can be asked, and answered in its own way.

Its answers go by the question's text, and are texts themselves: a label, several labels with commas between (a label that
has a comma itself stands in quotes), or words of one's own. The input goes back as it came, with the answers added.

Rule: what the host made by itself is no answer: one that is empty, or that its own timer gave.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from assent.protocol.ask import Ask
from assent.protocol.error import BadRequestError
from assent.protocol.host_question import HostOption, HostQuestion, HostReply, host_replies
from assent.protocol.prompt import Field

__all__ = ["answered_input", "parse_questions", "parse_response"]

_BY_TIMER = "afkTimeoutMs"


def parse_questions(given: object) -> tuple[HostQuestion, ...]:
    """Return the questions of the tool's input.

    Raises:
        BadRequestError: it is not the input of the question tool.
    """
    questions = given.get("questions") if isinstance(given, dict) else None
    if not isinstance(questions, list) or not questions:
        raise BadRequestError("Claude Code asked no question.")
    return tuple(_question(question) for question in questions)


def _question(question: object) -> HostQuestion:
    if not isinstance(question, dict) or not isinstance(question.get("question"), str):
        raise BadRequestError("Claude Code asked a question that has no text.")
    text = question["question"]
    options = question.get("options")
    if not isinstance(options, list):
        raise BadRequestError("Claude Code asked a question that has no options.")
    return HostQuestion(
        text,
        text,
        tuple(_option(option) for option in options),
        question.get("multiSelect") is True,
        header=_text(question, "header"),
    )


def _option(option: object) -> HostOption:
    if not isinstance(option, dict) or not isinstance(option.get("label"), str):
        raise BadRequestError("Claude Code asked a question with an option that has no label.")
    shown = (_text(option, "description"), _text(option, "preview"))
    return HostOption(option["label"], "\n\n".join(text for text in shown if text))


def _text(given: Mapping[str, Any], key: str) -> str:
    value = given.get(key)
    return value if isinstance(value, str) else ""


def answered_input(given: Mapping[str, Any], questions: Sequence[HostQuestion], ask: Ask) -> dict[str, Any]:
    """Return the tool's input with what people answered."""
    replies = zip(questions, host_replies(questions, ask), strict=True)
    return {**given, "answers": {reply.key: _answer(question, reply) for question, reply in replies}}


def _answer(question: HostQuestion, reply: HostReply) -> str:
    if not question.multiple:
        return ", ".join(reply.texts)
    return ", ".join(f'"{text}"' if "," in text else text for text in reply.texts)


def parse_response(
    response: object, questions: Sequence[HostQuestion], ask: Ask
) -> dict[str, tuple[str, ...]]:
    """Return what was answered in the host's own dialog, by the fields of `ask`; empty where that is no answer."""
    answers = response.get("answers") if isinstance(response, dict) else None
    if not isinstance(response, dict) or not isinstance(answers, dict) or _BY_TIMER in response:
        return {}
    values = {
        field.name: _values(question, field, answers.get(question.key))
        for question, field in zip(questions, ask.prompt.fields, strict=True)
    }
    return values if all(values.values()) else {}


def _values(question: HostQuestion, field: Field, answer: object) -> tuple[str, ...]:
    if not isinstance(answer, str) or not answer.strip():
        return ()
    keys = {option.label: shown.key for option, shown in zip(question.options, field.options, strict=True)}
    if not question.multiple:
        return (keys.get(answer, answer),)
    parts = [*_split(answer, keys)]
    chosen = tuple(dict.fromkeys(keys[part] for part in parts if part in keys))
    typed = ", ".join(part for part in parts if part not in keys)
    return (*chosen, typed) if typed else chosen


def _split(answer: str, labels: Collection[str]) -> Iterator[str]:
    """Yield the labels that the host has joined with commas, some of them in quotes, and what else was typed.

    >>> [*_split('Lint, "Types, strict", as you like', ["Lint", "Types, strict"])]
    ['Lint', 'Types, strict', 'as you like']
    """
    spelled = {label: label for label in labels} | {
        '"' + label.replace('"', '""') + '"': label for label in labels
    }
    known = sorted(spelled, key=len, reverse=True)
    while answer:
        found = next((each for each in known if f"{answer},".startswith(f"{each},")), None)
        if found is None and answer[0] == " ":
            answer = answer[1:]
            continue
        part, _, answer = (
            (found, ",", answer[len(found) + 1 :]) if found is not None else answer.partition(",")
        )
        if found is not None or part.strip():
            yield spelled.get(part, part.strip())
