"""When a question is a repeat: asked before, or one more confirmation in the same feedback cycle.

A feedback cycle lasts from the moment a feedback is handed in until it is categorised, cancelled or resolved (Q-X4).

Rule 1: two questions are the same if they look the same: letters that are drawn alike and characters that are not
        drawn at all make no new question (Q12, Q-X5).
Rule 2: where it is unclear whether a question asks for mere assent it does not: a prompt too many costs a glance, and a
        question that nobody was asked costs work on a guess (Q11, Q-X4).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from assent.protocol.canonical import canonical, digest
from assent.protocol.display import skeleton
from assent.protocol.open_question import Question

__all__ = ["digest_questions", "is_confirmation", "normalise", "sift"]


def normalise(text: str) -> str:
    """Return `text` as repeats are found (Q-X5): trimmed, lower case, white space collapsed, no final punctuation.

    >>> normalise("  Which   Database?! ")
    'which database'
    """
    return " ".join(text.split()).lower().rstrip(_FINAL)


def digest_questions(questions: Iterable[Question]) -> str:
    """Return what two sets of questions share if they are the same (Q-X5): their order and their ids do not count."""
    return digest(canonical(sorted({_shape(question.text) for question in questions})))


def sift(
    questions: Iterable[Question], asked_before: Iterable[str], had_confirmation: bool
) -> tuple[Question, ...]:
    """Return those of a feedback cycle's new questions that people are still to be asked.

    `asked_before` are the texts that the cycle has asked already. What stays out: a question that was asked, and every
    confirmation but the first (Q11, Q12, Q-X4, Q-X5).
    """
    seen = {_shape(text) for text in asked_before}
    kept = []
    for question in questions:
        shape = _shape(question.text)
        if shape in seen:
            continue
        seen.add(shape)
        if is_confirmation(question.text):
            if had_confirmation:
                continue
            had_confirmation = True
        kept.append(question)
    return tuple(kept)


def is_confirmation(text: str) -> bool:
    """Say whether `text` asks for mere assent, as "Are you sure?" does (Q-X4); known phrases of English only.

    >>> is_confirmation("Please confirm that all of it goes."), is_confirmation("Please confirm which part goes.")
    (True, False)
    """
    is_assent = False
    drawn = text if len(text) <= _MAX_DRAWN else _NO_ASCII(" ", text)
    for sentence in _SENTENCE_END(skeleton(drawn)):
        words = _WORD(sentence)
        if not words:
            continue
        spelled = f" {' '.join(words)} "
        asks_for_more = _asks_for_more(words)
        is_doubt = _holds(spelled, _DOUBTS) and words[0] not in _OPENERS
        if is_doubt or (_holds(spelled, _REQUESTS) and not asks_for_more):
            is_assent = True
        elif "?" in sentence and asks_for_more:
            return False  # a question of its own stands beside the assent
    return is_assent


def _holds(spelled: str, phrases: tuple[str, ...]) -> bool:
    return any(phrase in spelled for phrase in phrases)


def _asks_for_more(words: list[str]) -> bool:
    """Say whether the words ask what, which or how, or offer a choice; "this is what you want" does not."""
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        if word in _OPENERS and before not in _COPULAS:
            return True
        if word == _OR and after != _NOT and (before, after) != _YES_NO:
            return True
    return False


def _shape(text: str) -> str:
    # Once before, so that what has the same normal form has the same shape; once after, as looks may hide an end.
    normal = normalise(text)
    return normalise(skeleton(normal)) if len(text) <= _MAX_DRAWN else normal


_MAX_DRAWN = 500
"""Of a longer text only plain letters are compared. Its look takes long, as one sign may be drawn as eighteen, and is
of no use: who wants to ask such a text again can as well put it in other words."""


_FINAL = " .?!,;:…‥‽⁇⁈⁉。．｡？！，；：、؟؛،۔।॥։՞՜՝;¿¡"
"""What ends a sentence in one script or another. Not all punctuation: "C" and "C#" are two languages."""

# Each part splits at one sign or takes what the next cannot: none of them can blow up.
_SENTENCE_END = re.compile(r"(?<=[.?!]) ").split
_WORD = re.compile(r"[^\W_]+").findall
_NO_ASCII = re.compile(r"[^\x00-\x7f]+").sub


def _phrases(*phrases: str) -> tuple[str, ...]:
    # A skeleton is compared with skeletons: an i is drawn as an l there.
    return tuple(f" {skeleton(phrase)} " for phrase in phrases)


_DOUBTS = _phrases(
    *(
        f"are you {degree}{word}"
        for degree in ("", "really ", "absolutely ", "quite ", "very ", "completely ", "totally ", "still ")
        for word in ("sure", "certain")
    ),
    *(f"do you {degree} want" for degree in ("really", "actually", "truly")),
)
"""Whatever else the sentence says, it doubts what was said before; unless it begins as "What do you really want"."""
_REQUESTS = _phrases(
    *(f"{way} confirm" for way in ("please", "kindly", "can you", "could you", "do you")),
    *(
        f"{verb} {who} {go}"
        for verb in ("shall", "should", "may", "can")
        for who in ("i", "we")
        for go in ("proceed", "continue", "go ahead")
    ),
)
"""Assent, unless the sentence asks for more: "please confirm which one"."""
_OPENERS = frozenset(map(skeleton, ("which", "what", "who", "whom", "whose", "when", "where", "why", "how")))
_COPULAS = frozenset(map(skeleton, ("is", "s", "was", "are")))
_OR, _NOT = skeleton("or"), skeleton("not")
_YES_NO = (skeleton("yes"), skeleton("no"))
