"""The past of the store that the pictures are taken of: a day of asks with how each ended, as a table and by rule.

Rule 1: nothing here is drawn by lot: the same day comes out every time.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec

from assent.protocol.approval import approval_prompt
from assent.protocol.ask import Consequence, Kind
from assent.protocol.principal import Assurance
from assent.testing import FakeClock, ThrowawayStore

__all__ = ["MIDNIGHT", "NOON", "PROJECTS", "live_the_morning"]

MIDNIGHT = datetime(2026, 11, 12, tzinfo=UTC)
NOON = MIDNIGHT + timedelta(hours=12)
PROJECTS = ("checkout-api", "edge-infra", "ledger-sync", "handbook")


class _Asked(msgspec.Struct, frozen=True):
    project: str
    asker: str
    kind: Kind
    title: str
    options: tuple[str, ...]
    reply: str
    """What was answered; or `decline` and `withdraw` with a reason behind a colon, or `expire`."""
    by: str = "ana"


_QUESTION, _GATE, _CONFIRM, _APPROVAL = Kind.QUESTION, Kind.GATE, Kind.CONFIRM, Kind.APPROVAL
_YES_NO = ("Yes", "No")
_ASKED = (
    _Asked("checkout-api", "storefront", _QUESTION, "Show prices with tax by default?", _YES_NO, "1"),
    _Asked("edge-infra", "deployer", _APPROVAL, "Rotate the signing key of the edge", (), "approve"),
    _Asked("ledger-sync", "migrator", _CONFIRM, "Copy the amounts as whole cents. Continue?", _YES_NO, "1"),
    _Asked("checkout-api", "reviewer", _GATE, "Chunk 1 of 3, charging again", ("Proceed", "Stop"), "1", "sam-k"),
    _Asked("handbook", "librarian", _QUESTION, "One glossary, or one for each team?", ("One", "Each"), "1"),
    _Asked("edge-infra", "deployer", _APPROVAL, "Open port 5432 to the office", (), "reject", "sam-k"),
    _Asked(
        "checkout-api", "storefront", _QUESTION, "Round after each discount, or once at the end?",
        ("After each", "At the end"), "2",
    ),
    _Asked(
        "ledger-sync", "planner", _QUESTION, "Delete the exports of 2019?", _YES_NO,
        "decline:Nobody here may decide that. Ask the auditors.",
    ),
    _Asked("edge-infra", "canary", _QUESTION, "Widen the canary to ten in a hundred?", _YES_NO, "expire"),
    _Asked("checkout-api", "reviewer", _GATE, "Chunk 2 of 3, refunds", ("Proceed", "Stop"), "1"),
    _Asked(
        "checkout-api", "linter", _QUESTION, "Pin pillow to 11?", _YES_NO,
        "withdraw:An upgrade has made it unnecessary.",
    ),
    _Asked(
        "handbook", "librarian", _QUESTION, "Which tone for new colleagues?", ("Plain", "Playful"), "1", "sam-k",
    ),
)  # fmt: skip
_ROUNDS = 4
_SECONDS = (42, 310, 95, 18, 1_260, 140, 60, 700, 0, 25, 480, 33)
"""How long each waited; those of later rounds wait a little longer. Nobody ever answered the ninth."""
_PATIENCE_SECONDS = 600
_APART = timedelta(minutes=7)


def live_the_morning(store: ThrowawayStore, clock: FakeClock) -> None:
    """Let everything up to noon happen, in order."""
    people = {
        (name, project): store.person(name, project=project, assurance=Assurance.TERMINAL)
        for name in ("ana", "sam-k")
        for project in PROJECTS
    }
    agents = {(asked.asker, asked.project): None for asked in _ASKED}
    clients = {place: store.agent(place[0], project=place[1]) for place in agents}
    opened: dict[int, str] = {}
    for at, is_end, number in sorted(_moments()):
        clock.set(at)
        asked = _ASKED[number % len(_ASKED)]
        agent, person = clients[asked.asker, asked.project], people[asked.by, asked.project]
        word, _, reason = asked.reply.partition(":")
        if not is_end:
            prompt = (
                approval_prompt(asked.title, {"do": asked.title}) if asked.kind is _APPROVAL else asked.title
            )
            patience = timedelta(seconds=_PATIENCE_SECONDS) if word == "expire" else None
            opened[number] = agent.open(
                prompt,
                list(asked.options),
                kind=asked.kind,
                deadline=patience,
                consequence=Consequence.WAIT if patience is None else Consequence.DENY,
            ).ask_id
        elif word == "decline":
            person.decline(opened[number], reason)
        elif word == "withdraw":
            agent.withdraw(opened[number], reason)
        elif word != "expire":  # that, the clock has done
            person.answer(opened[number], asked.reply)
    clock.set(NOON)


def _moments() -> list[tuple[datetime, bool, int]]:
    moments = []
    begun = MIDNIGHT + timedelta(hours=6, minutes=4)
    for number in range(len(_ASKED) * _ROUNDS):
        # Mornings are busy, and the hour before noon is not.
        at = begun + _APART * number - timedelta(minutes=number % 3 * 4)
        waited = _SECONDS[number % len(_ASKED)] * (1 + 0.2 * (number // len(_ASKED))) or _PATIENCE_SECONDS
        moments += [(at, False, number), (at + timedelta(seconds=waited), True, number)]
    return moments
