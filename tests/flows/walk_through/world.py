"""A document on disk, somebody who replies by a script, and a record of all that was said, asked and done, in order.

Documents are read and written by those who do it outside of tests, so what a test sees in the file is what a person
would. Anything of theirs can be made to go wrong, or to be overtaken by somebody else.
"""

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from assent.client.drive import drive
from assent.effects.applier import NO_APPLIER, Apply, walk_through_performers
from assent.effects.performer import Intention, Performer, Performers
from assent.effects.performer import World as Standing
from assent.flows.document import WriteDocument
from assent.flows.step import Answered, Ask, Effect, Ended, Flow
from assent.flows.walk_through.effect import CheckAppend
from assent.flows.walk_through.walk_through import Outcome, ReviewInputs, walk_through
from assent.protocol.block import render_field
from assent.protocol.canonical import Json
from assent.protocol.decision import CompletionReport, Verb
from assent.protocol.error import AssentError, EffectError
from assent.protocol.finding import Action, AutofixClass, Edit, Finding, FindingType, Intake, Severity
from assent.protocol.primer import Primer

__all__ = [
    "DATE",
    "DOCUMENT",
    "READ_ONLY",
    "SECTION",
    "Mishap",
    "Reply",
    "World",
    "chain",
    "clumsy",
    "new_finding",
    "safe_finding",
    "unfixable",
    "words",
]

DATE = "2030-01-31"
SECTION = "## Deferred / Open Questions"
READ_ONLY = "document is read-only in this environment"
DOCUMENT = b"# Plan\n\n## Scope\n\nalpha bravo charlie delta echo foxtrot golf hotel india juliett\n"
"""Each of its words stands there once, so each can be what a fix changes."""

Reply = str | Ended | Callable[[], str]
"""What the person types, how they end the question, or what they do before they type."""
Mishap = EffectError | Callable[[], None] | None
"""What goes wrong with one effect, what somebody does before it, or nothing."""


def new_finding(title: str = "Two tiers", word: str = "", **changes: Any) -> Finding:
    """Return a finding with a fix; `word` of the document is what it changes, `changes` are fields of it."""
    finding = Finding(
        f"id of {title}",
        title,
        Severity.P2,
        "Scope",
        f"{title} stops its readers. They ask.",
        FindingType.ERROR,
        AutofixClass.GATED_AUTO,
        75,
        Action.APPLY,
        evidence=(f"the passage of {title}",),
        reviewers=("coherence",),
        suggested_fix=f"Say what {title} means.",
        edit=Edit(word, word.upper()) if word else None,
    )
    return replace(finding, **changes)


def unfixable(title: str, **changes: Any) -> Finding:
    """Return a finding that names no fix."""
    manual = {"autofix_class": AutofixClass.MANUAL, "recommended_action": Action.DEFER, "suggested_fix": None}
    return new_finding(title, **(manual | changes))


def safe_finding(title: str, word: str = "", **changes: Any) -> Finding:
    """Return a finding whose fix is applied before anybody is asked."""
    return new_finding(
        title, word, **({"autofix_class": AutofixClass.SAFE_AUTO, "confidence": 100} | changes)
    )


def chain(root: Finding, *dependents: Finding) -> tuple[Finding, ...]:
    """Return a root and what falls with it, linked to each other."""
    names = tuple(finding.finding_id for finding in dependents)
    below = (replace(finding, depends_on=root.finding_id) for finding in dependents)
    return (replace(root, dependents=names), *below)


def words(report: CompletionReport) -> dict[str, tuple[Verb, str]]:
    """Return by title what was decided, and how it came to that."""
    return {each.finding.title: (each.verb, each.note) for each in report.decisions}


def clumsy(_: dict[str, Json], __: str) -> str:
    """Try to work a fix in words into a document, and fail."""
    raise EffectError(NO_APPLIER)


class World:
    """One document with its findings, and everybody around it."""

    def __init__(
        self,
        root: Path,
        *findings: Finding,
        document: bytes = DOCUMENT,
        primer: Primer | None = None,
        apply: Apply | None = clumsy,
    ) -> None:
        self.path = root / "plan.md"
        self.path.write_bytes(document)
        self.inputs = ReviewInputs(Intake(merged=findings), "plan.md", DATE, primer or Primer())
        self.replies: list[Reply] = []
        self.mishaps: defaultdict[type[Effect], list[Mishap]] = defaultdict(list)
        """By kind: what happens to each effect, in order; without one it goes well."""
        self.log: list[str] = []
        """All that happened: `say: …`, `ask: …`, `type: …`, `echo: …`, and the names of effects."""
        self.asked: list[Ask] = []
        self.seen: list[bytes] = []
        """The document as it was at each question."""
        self.said: list[str] = []
        self.echoed: list[str] = []
        self.effects: list[Effect] = []
        whole = walk_through_performers(root, apply)
        self.performers: Performers = {
            kind: _Watched(self, kind, performer) for kind, performer in whole.items()
        }

    # Going through it

    def walk(self, *replies: Reply) -> CompletionReport:
        """Go through it to its report. Every reply of the script is used, and none of them twice."""
        outcome = self.drive(*replies)
        assert self.replies == [], f"{len(self.replies)} replies were not asked for"
        assert outcome.report is not None, outcome.ended
        return outcome.report

    def drive(self, *replies: Reply, flow: Flow[Outcome] | None = None) -> Outcome:
        """Go through it to its end, whichever that is."""
        self.replies = list(replies)
        return drive(flow or walk_through(self.inputs), self, self.performers, by="human:ana")

    def trip(self, kind: type[Effect], *mishaps: Mishap) -> None:
        """Say what happens to the next effects of a kind."""
        self.mishaps[kind] += mishaps

    def lock(self) -> None:
        """Make appending unavailable, and nothing else."""
        self.trip(CheckAppend, EffectError(f"{READ_ONLY}."))

    def save(self, content: bytes) -> None:
        """Save the document as somebody else."""
        self.path.write_bytes(content)

    # What came of it

    @property
    def content(self) -> bytes:
        """The document as it is now; nothing where somebody took it away."""
        return self.path.read_bytes() if self.path.exists() else b""

    @property
    def text(self) -> str:
        """The same as text."""
        return self.content.decode()

    @property
    def stems(self) -> list[str]:
        """The questions, without what explains them."""
        return [ask.prompt.title for ask in self.asked]

    @property
    def menus(self) -> list[str]:
        """The options of each question, as a terminal prints them."""
        return [render_field(ask.prompt.fields[0]) for ask in self.asked]

    @property
    def confirmations(self) -> list[str]:
        """What was said after decisions."""
        return [said for said in self.said if said.startswith("→")]

    @property
    def writes(self) -> list[bytes]:
        """What somebody was to write, in order."""
        return [effect.content for effect in self.effects if isinstance(effect, WriteDocument)]

    # The person

    def present(self, ask: Ask) -> None:
        """Note what is asked, and what the document says at that moment."""
        self.asked.append(ask)
        self.seen.append(self.content)
        self.log.append(f"ask: {ask.prompt.title}")

    def read(self) -> str | Answered | Ended | None:
        """Give the next reply."""
        if not self.replies:
            return None
        reply = self.replies.pop(0)
        typed = reply() if callable(reply) else reply
        self.log.append(f"type: {typed if isinstance(typed, str) else typed.state}")
        return typed

    def echo(self, ask: Ask, refusal: AssentError) -> None:  # noqa: ARG002 - the sentence says which
        """Note what was not understood."""
        self.echoed.append(refusal.message)
        self.log.append(f"echo: {refusal.message}")

    def say(self, markdown: str) -> None:
        """Note what is said."""
        self.said.append(markdown)
        self.log.append(f"say: {markdown}")


class _Watched:
    """Somebody who does an effect, and everything that can happen to them."""

    def __init__(self, world: World, kind: type[Effect], performer: Performer[Any]) -> None:
        self._world, self._kind, self._performer = world, kind, performer

    def intend(self, effect: Effect) -> Intention:
        world = self._world
        world.effects.append(effect)
        world.log.append(self._kind.__name__)
        mishaps = world.mishaps[self._kind]
        mishap = mishaps.pop(0) if mishaps else None
        if isinstance(mishap, EffectError):
            raise mishap
        if mishap is not None:
            mishap()
        return self._performer.intend(effect)

    def look(self, intention: Intention) -> Standing:
        return self._performer.look(intention)

    def perform(self, intention: Intention) -> Json:
        return self._performer.perform(intention)
