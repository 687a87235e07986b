"""The agent `librarian`: asks several questions at once, some with options, some in a person's own words."""

from __future__ import annotations

from itertools import count

import assent
from assent.cli.demo_world.stage import Stage

__all__ = ["play"]

_TOPICS = ("the on-call guide", "the page for new colleagues", "the travel rules")


def play(stage: Stage) -> None:
    """Hold a round for one page after the other, then tell what was understood."""
    for number in count():
        topic = _TOPICS[number % len(_TOPICS)]
        try:
            answers = stage.client.ask_all(
                _questions(),
                title=f"Before I rewrite {topic}",
                body="Four things that I could guess, and would rather not. Send them together.",
            )
        except assent.NoAnswer:
            stage.pause()
            continue
        stage.rest()
        readers = answers["readers"]
        stage.ask(
            f"Did I understand you about {topic}?",
            ["Yes, write it", "No, leave the page alone"],
            body=f"- for: {', '.join(readers)}\n- tone: {answers['tone']}\n"
            f"- length: {answers['length']}\n- what must stand in it: {answers['must']}",
        )
        stage.pause()


def _questions() -> list[assent.Field]:
    return [
        assent.Field("readers", "Who reads it?", _options("Engineers", "Support", "New colleagues"), True),
        assent.Field("tone", "Which tone?", _options("Plain steps", "A friendly letter"), free=True),
        assent.Field(
            "length", "How long may it be?", _options("One screen", "Two pages", "As long as needed")
        ),
        assent.Field("must", "What must stand in it, whatever else goes?", free=True),
    ]


def _options(*labels: str) -> tuple[assent.Option, ...]:
    return tuple(assent.Option(label, label) for label in labels)
