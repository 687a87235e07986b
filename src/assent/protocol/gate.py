"""A gate: a point where a person must choose before anything goes on. The standard contexts, and their text.

Rule 1: labels are fixed, the same everywhere, in the order of the table (G10, G28-G35).
Rule 2: the table says what a gate advertises. `todo:` and `pause` are known at every gate, and an option that needs
        an argument may be typed with it (G-X3, G-X6); nothing else is.
Rule 3: the block is exactly as the protocol has it (G9). Text that agents wrote stands in it with every hidden
        character made visible, and with nothing else changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from assent.protocol.answer import FieldValues, gate_values
from assent.protocol.command import ANY_REPLY, parse_command, render_command
from assent.protocol.display import display, fold, is_blank, quote
from assent.protocol.error import BadPromptError, NotFoundError, UnrecognisedError
from assent.protocol.prompt import Field, Option, Prompt

__all__ = [
    "ACTION",
    "AREAS",
    "CHUNK_LOOP",
    "CHUNK_PLAN",
    "CONTEXTS",
    "DEEP_DIVE",
    "MISMATCH",
    "PAUSE",
    "PHASE_GATE",
    "POST_ONLY",
    "SYNTHESIS",
    "TODO",
    "VISUAL_DISCOVERY",
    "Check",
    "Choice",
    "Context",
    "Gate",
    "check_question",
    "find_context",
    "follow_up",
    "is_no",
    "is_yes",
    "read_choice",
    "render_gate",
    "render_options",
    "slug",
]

ACTION = "action"
"""The name of a gate's one field."""
TODO, PAUSE = "todo", "pause"
AREAS = ("security", "performance", "correctness", "types", "error-handling")
"""What a review can be focused on (G-U3)."""

_EVERYWHERE = (f"{TODO}: {{text}}", PAUSE)
_HEADING = "### \N{OCTAGONAL SIGN} REVIEW GATEWAY: "
_ANSWER = "reply"
"""The name of the field of a question that belongs to a gate."""
_SHOWN_NAMES, _SHOWN_NAME = 30, 40
_PAUSE_OPTION = "Pause & save"


class Check(msgspec.Struct, frozen=True):
    """A command that a person confirms before it runs (G22)."""

    command: str
    """Its first words."""
    text: str
    """The question; `{N}` is how many findings it is about."""
    names_at_least: int = 0
    """It asks from so many names on: taking back one mark is no bulk (G-X5)."""


class Context(msgspec.Struct, frozen=True):
    """What kind of gate it is: a row of the table."""

    name: str
    options: tuple[str, ...]
    commands: tuple[str, ...] = ()
    """What it advertises: `{IDs}` and the like stand for what is there when it opens."""
    accepts: tuple[str, ...] = ()
    """Known here and not advertised, beside what is known everywhere."""
    checks: tuple[Check, ...] = ()


_DESELECT = Check("deselect", "This will unmark {N} findings. They won't be posted. Proceed? [y/n]", 2)

PHASE_GATE = Context(
    "Phase Gate", ("Proceed", "Set focus", "Quick mode", "Cancel"), accepts=("set focus {area}",)
)
VISUAL_DISCOVERY = Context(
    "Visual Discovery", ("Proceed with Visual Review", "Skip Visual Review", "Refresh Context")
)
CHUNK_PLAN = Context(
    "Chunk Plan",
    ("Start from chunk 1", "Skip to chunk N", "Review all at once", "Cancel"),
    accepts=("skip to chunk {N}",),
)
CHUNK_LOOP = Context(
    "Chunk Loop",
    ("Continue", "Deep-dive", _PAUSE_OPTION, "Skip to synthesis"),
    ("discard", "todo: {text}", "deselect {IDs}"),
    ("deep-dive {ID}",),
    (
        Check(
            "discard",
            "This will remove {N} findings from this chunk. They won't be recoverable. Proceed? [y/n]",
        ),
        _DESELECT,
    ),
)
DEEP_DIVE = Context(
    "Deep-dive", ("Analyze context", "Suggest fix", "Check similar patterns", "Return to chunk")
)
_POSTING = ("Post all marked", "Post only Action Required", "Select specific")
SYNTHESIS = Context(
    "Synthesis",
    (*_POSTING, "Save locally"),
    ("discard",),
    ("select specific {IDs}", "deep-dive {ID}"),
    (Check("discard", "This will discard all {N} findings and exit without posting. Proceed? [y/n]"),),
)
POST_ONLY = Context(
    "Post-only",
    (*_POSTING, "Cancel"),
    ("toggle {IDs}", "all", "none"),
    ("select specific {IDs}", "deep-dive {ID}"),
)
MISMATCH = Context("Continue (mismatch)", ("Resume saved session", "Start fresh"))

CONTEXTS: dict[str, Context] = {
    context.name: context
    for context in (
        PHASE_GATE,
        VISUAL_DISCOVERY,
        CHUNK_PLAN,
        CHUNK_LOOP,
        DEEP_DIVE,
        SYNTHESIS,
        POST_ONLY,
        MISMATCH,
    )
}
"""G28-G35."""


class Choice(msgspec.Struct, frozen=True):
    """What a person chose at a gate: an option, or a command."""

    label: str
    """The option's label, or the words of the command."""
    arguments: tuple[str, ...] = ()
    """What was named with it."""


class Gate(msgspec.Struct, frozen=True):
    """A context with what is there just now."""

    context: Context
    summary: str
    ids: tuple[str, ...] = ()
    """The findings that commands may name."""
    chunks: int = 0
    """The last number of a chunk."""
    count: int | None = None
    """How many findings it is about, where that is not the number of ids."""

    @property
    def prompt(self) -> Prompt:
        """What is asked."""
        context = self.context
        if is_blank(self.summary):
            raise BadPromptError("A gate needs a summary: one line on where things stand.")
        body = self.summary.strip()
        if context.commands:  # G-X12
            body += f"\n\nCommands: {', '.join(f'`{command}`' for command in context.commands)}"
        specs = dict.fromkeys((*context.commands, *context.accepts, *_EVERYWHERE))
        commands = tuple(self._fill(spec) for spec in specs)
        options = tuple(Option(label, label) for label in context.options)
        return Prompt(context.name, body, (Field(ACTION, options=options),), commands=commands)

    def _fill(self, spec: str) -> str:
        head, _, placeholder = spec.partition("{")
        name = placeholder.removesuffix("}")
        known: Mapping[str, tuple[str, ...]] = {
            "ID": self.ids,
            "IDs": self.ids,
            "N": tuple(str(number) for number in range(1, self.chunks + 1)),
            "area": AREAS,
        }
        return render_command(head.strip(), name, known[name]) if placeholder != name in known else spec

    def check(self, choice: Choice) -> str | None:
        """Return what to ask before `choice` is carried out, or nothing."""
        named = len(set(self.ids).intersection(choice.arguments))
        total = len(self.ids) if self.count is None else self.count
        for check in self.context.checks:
            if _means(fold(check.command), choice.label) and named >= check.names_at_least:
                return check.text.replace("{N}", str(named or total))
        return None


def _means(words: str, label: str) -> bool:
    """Whether the words of a command are a short form of an option: `skip to chunk 3` is `Skip to chunk N`."""
    return fold(label) in (words, f"{words} n") or (words == PAUSE and label == _PAUSE_OPTION)


def read_choice(prompt: Prompt, values: FieldValues) -> Choice:
    """Return what the values of an answered gate mean. A short form is the option that it stands for.

    Raises:
        UnrecognisedError: they are not those of an answer to it.
    """
    field = prompt.fields[0]
    typed = gate_values(prompt, values[field.name][0])
    if typed.text is None:
        raise UnrecognisedError(f'I didn\'t recognize "{quote(values[field.name][0])}".')
    for option in field.options:
        is_short = (typed.arguments or typed.head == PAUSE) and _means(typed.head, option.label)
        if typed.head == option.label or is_short:
            return Choice(option.label, typed.arguments)
    return Choice(typed.head, typed.arguments)


def check_question(text: str) -> Prompt:
    """Return the question that a command is confirmed with: any reply ends it, and only a yes is one (G25, G26)."""
    return Prompt(text, fields=(Field(_ANSWER),), commands=("y", "yes", "n", "no", ANY_REPLY))


def is_yes(reply: str) -> bool:
    """Whether a reply to such a question confirms (G-X4)."""
    return fold(reply) in ("y", "yes")


def is_no(reply: str) -> bool:
    """Whether a reply to such a question says no in so many words."""
    return fold(reply) in ("n", "no")


def follow_up(title: str, commands: Iterable[str], body: str = "") -> Prompt:
    """Return the one question that an option without its argument leads to (G-X6)."""
    return Prompt(title, body, (Field(_ANSWER),), commands=tuple(commands))


def slug(name: str) -> str:
    """Return a name as it is easily typed in a shell.

    >>> slug("Continue (mismatch)")
    'continue-mismatch'
    """
    kept = "".join(letter if letter.isalnum() else " " for letter in fold(name))
    return "-".join(kept.split())


def find_context(name: str, contexts: Mapping[str, Context] = CONTEXTS) -> Context:
    """Return the context that goes by `name`, in any case, or as `chunk-loop`.

    Raises:
        NotFoundError: there is none.
    """
    for context in contexts.values():
        if slug(context.name) == slug(name):
            return context
    known = ", ".join(f'"{context}"' for context in contexts)
    raise NotFoundError(f'There is no gate "{quote(name)}". There are {known}.')


def render_gate(prompt: Prompt, *, is_marked: bool = False) -> str:
    """Return the Protocol Block of a gate (G9); of a question that belongs to one, the question.

    Among other text the asker's lines are marked with `: `, so that none of them can pass for one of ours.
    """
    title = display(prompt.title.strip(), lines=False)
    body = display(prompt.body)
    if is_marked and body:
        body = "\n".join(f": {line}" if line else ":" for line in body.split("\n"))
    if not prompt.fields[0].options:
        return "\n\n".join(filter(None, [body, title]))
    parts = [
        f"{_HEADING}{title}",
        body,
        f"**Select an action:**\n{render_options(prompt)}",
        "*Type a number or command to proceed.*",
    ]
    return "\n\n".join(filter(None, parts))


def _describe(spec: str) -> str:
    command = parse_command(spec)
    if not command.is_list or command.head:
        return quote(spec)
    several = "one or more of" if command.is_plural else "one of"
    shown = ", ".join(quote(value, _SHOWN_NAME) for value in command.values[:_SHOWN_NAMES])
    return f"{several} {shown}{', …' if len(command.values) > _SHOWN_NAMES else ''}"


def render_options(prompt: Prompt) -> str:
    """Return the numbered options and nothing else (G18); without options, what else is taken."""
    options = prompt.fields[0].options
    if not options:
        return f"Type {' or '.join(_describe(spec) for spec in prompt.commands if spec != ANY_REPLY)}."
    return "\n".join(
        f"{number}. {display(option.label, lines=False)}" for number, option in enumerate(options, start=1)
    )
