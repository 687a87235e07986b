"""A selection tool of a host as a surface: dialogs go out, labels and texts come back.

Rule 1: the tool only carries. What a reply means is decided where it always is, so a gate takes the same answers here
        as in plain text (G44).
Rule 2: an empty, cancelled or timed-out dialog is no decision: `read` returns None and the ask stays open.
Rule 3: what was not recognised is echoed in the next dialog, above the list and without the context (G17, G18). There is
        no end to that (G20); a host that allows only so many dialogs sets `most`, and after them there is no decision.
Rule 4: a tool that fails says so by `ToolFailedError`, and the same ask goes to the next surface.
Rule 5: a tool that has to be loaded is loaded and waited for; only if there is none, or the loading fails, has it failed
        (W3, W4).
Rule 6: of a menu the block is said before the dialog, which holds the question alone (W29).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from assent.client.drive import Surface
from assent.flows.step import Answered, Ask, Ended
from assent.protocol.capability import CAPABILITIES, Capability
from assent.protocol.dialog import Dialog, Given, PageTurn, echo_in, turn_page, unfold
from assent.protocol.display import quote
from assent.protocol.error import AssentError, NotFoundError
from assent.protocol.folding import fold_prompt
from assent.protocol.menu import is_menu, render_explanation
from assent.protocol.prompt import Prompt
from assent.protocol.reply import parse_reply, read_field

__all__ = ["FallbackSurface", "Load", "Select", "ToolFailedError", "ToolSurface"]

Select: TypeAlias = Callable[[Sequence[Dialog]], Sequence[Given] | None]
"""Shows dialogs, one per question and as many as the tool takes at once; returns what came back for each, in order.

None is for all of them: cancelled, skipped, ended by a timer. It may raise anything: then the tool has failed.
"""

Load: TypeAlias = Callable[[], bool]
"""Loads the tool and returns once it is there, or False: a lookup found none. It may raise anything: the loading failed."""

_NOTHING = Prompt("")
"""Before the first ask."""


class ToolFailedError(AssentError):
    """The tool cannot present this ask."""

    code = "tool_failed"


class ToolSurface:
    """A host's selection tool as the place of a review: `client.review(…, surface=ToolSurface(…))`.

    `select` shows dialogs and returns what came back for each. `capability` is a record of what the tool can show, or the
    name of one of the [table](capabilities.md), as in `claude-code`. `say` shows Markdown where the host does. `most` is
    how many times the tool may be called for one ask. `load` is for a tool that may not be there from the start.
    """

    def __init__(
        self,
        select: Select,
        capability: Capability | str,
        say: Callable[[str], None],
        *,
        most: int | None = None,
        load: Load | None = None,
    ) -> None:
        if isinstance(capability, str):
            if capability not in CAPABILITIES:
                raise NotFoundError(f'Nothing is known of the tool of "{quote(capability)}".')
            capability = CAPABILITIES[capability]
        self._select, self._capability, self._say, self._most = select, capability, say, most
        self._load = load
        self._prompt = _NOTHING
        self._dialogs: tuple[Dialog, ...] = ()
        self._open: dict[int, Dialog] = {}
        self._replies: dict[int, str] = {}
        self._calls = 0

    def present(self, ask: Ask) -> None:
        """Lay the ask out; a tool shows and reads in one go, so the person sees it with `read`.

        Raises:
            ToolFailedError: this tool cannot show it.
        """
        self._prompt, self._calls = ask.prompt, 0
        self._dialogs = fold_prompt(ask.prompt, self._capability)
        if not self._dialogs:
            raise ToolFailedError(f'"{quote(ask.prompt.title)}" cannot be asked by {self._capability.name}.')
        self._be_loaded()
        block = render_explanation(ask.prompt) if is_menu(ask.prompt) else ""
        if block:
            self._say(block)
        self._begin()

    def _be_loaded(self) -> None:
        if self._load is None:
            return
        try:
            is_there = self._load()
        except Exception as error:
            raise ToolFailedError(f"{self._capability.name} cannot be loaded: {quote(str(error))}") from error
        if not is_there:
            raise ToolFailedError(f"{self._capability.name} has no such tool.")
        self._load = None  # what is loaded stays

    def _begin(self) -> None:
        self._replies = {}
        self._open = {}
        for dialog in self._dialogs:
            self._open.setdefault(dialog.question, dialog)

    def read(self) -> str | None:
        """Return the reply, or None: nothing was decided.

        Raises:
            ToolFailedError: the tool failed.
        """
        while self._open:
            if self._most is not None and self._calls >= self._most:
                return None
            shown = self._next()
            given = self._call(shown)
            if given is None or not self._take(shown, given):
                return None
        return _compose(self._prompt, self._replies)

    def _next(self) -> list[Dialog]:
        """Return as many of the open questions as fit, in rounds of about the same size."""
        waiting = list(self._open.values())
        rounds = -(-len(waiting) // (self._capability.max_questions or len(waiting)))
        return waiting[: -(-len(waiting) // rounds)]

    def _call(self, shown: list[Dialog]) -> Sequence[Given] | None:
        self._calls += 1
        try:
            given = self._select(shown)
        except Exception as error:
            raise ToolFailedError(f"{self._capability.name} failed: {quote(str(error))}") from error
        if given is not None and (isinstance(given, str) or len(given) != len(shown)):
            raise ToolFailedError(f"{self._capability.name} did not answer what it was asked.")
        return given

    def _take(self, shown: list[Dialog], given: Sequence[Given]) -> bool:
        """Keep what came back; return whether all of it leads on."""
        leads_on = True
        for dialog, one in zip(shown, given, strict=True):
            came = unfold(dialog, one)
            if came is None:
                leads_on = False
            elif isinstance(came, PageTurn):
                self._open[dialog.question] = turn_page(self._dialogs, came, self._capability)
            else:
                self._keep(dialog, came)
        return leads_on

    def _keep(self, dialog: Dialog, reply: str) -> None:
        field = self._prompt.fields[dialog.question]
        # Of a round each answer is looked at by itself: a slip in one must not cost the others.
        if len(self._prompt.fields) > 1 and read_field(field, reply) is None:
            alone = parse_reply(Prompt(self._prompt.title, fields=(field,)), reply)
            message = " ".join([f'I didn\'t recognize "{quote(reply)}".', *alone.hints])
            self._open[dialog.question] = echo_in(self._page(dialog), message, self._capability)
        else:
            self._replies[dialog.question] = reply
            del self._open[dialog.question]

    def _page(self, dialog: Dialog) -> Dialog:
        return next(page for page in self._dialogs if page.question == dialog.question)

    def echo(self, ask: Ask, refusal: AssentError) -> None:  # noqa: ARG002 - the ask is the one that was presented
        """Ask again; the next dialog says first what was not recognised."""
        self._begin()
        self._open[0] = echo_in(self._open[0], refusal.message, self._capability)

    def say(self, markdown: str) -> None:
        """Show what the flow says, where the host shows such things."""
        self._say(markdown)


def _compose(prompt: Prompt, replies: dict[int, str]) -> str:
    """Return the replies to all questions as one reply."""
    if len(prompt.fields) == 1:
        return replies[0]
    text = _spell(replies)
    expected = {field.name: read_field(field, replies[number]) for number, field in enumerate(prompt.fields)}
    if parse_reply(prompt, text).values != expected:
        # A line of somebody's own text reads like the beginning or the end of an answer.
        text = _spell({number: " ".join(reply.splitlines()) for number, reply in replies.items()})
    return text


def _spell(replies: dict[int, str]) -> str:
    return "\n".join(f"q{number + 1}: {reply}" for number, reply in sorted(replies.items()))


class FallbackSurface:
    """The first of several surfaces that can present an ask. Each ask begins with the first one again.

    Where one fails, the next presents the same ask; where the last one fails, so does this.
    """

    def __init__(self, surfaces: Sequence[Surface]) -> None:
        self._surfaces = tuple(surfaces)
        self._place = 0
        self._ask = Ask(_NOTHING)

    @property
    def _surface(self) -> Surface:
        return self._surfaces[self._place]

    def present(self, ask: Ask) -> None:
        """Show what is asked.

        Raises:
            ToolFailedError: no surface can.
        """
        self._ask, self._place = ask, 0
        self._present()

    def _present(self) -> None:
        while True:
            try:
                return self._surface.present(self._ask)
            except ToolFailedError as error:
                self._fall(error)

    def _fall(self, error: ToolFailedError) -> None:
        if self._place + 1 == len(self._surfaces):
            raise error
        self._place += 1

    def read(self) -> str | Answered | Ended | None:
        """Return what the surface reads that presents the ask.

        Raises:
            ToolFailedError: the last one failed.
        """
        while True:
            try:
                return self._surface.read()
            except ToolFailedError as error:
                self._fall(error)
                self._present()

    def echo(self, ask: Ask, refusal: AssentError) -> None:
        """Say that the reply was not recognised, where it was given."""
        self._surface.echo(ask, refusal)

    def say(self, markdown: str) -> None:
        """Show what the flow says, where the last ask was."""
        self._surface.say(markdown)
