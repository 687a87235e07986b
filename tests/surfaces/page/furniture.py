"""A store with something on every page: an ask of each kind, fates, runs, a review that waits, and one that has ended."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import msgspec

from assent.client.client import Client
from assent.client.gate import pass_gate
from assent.protocol.canonical import Json
from assent.protocol.error import StillOpen
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.prompt import Field, Option, Prompt
from assent.testing.server import ThrowawayServer

__all__ = ["Furnished", "furnish"]

_FINDINGS = Path(__file__).parents[3] / "docs" / "reference" / "findings-example.json"
_DIFF = """--- a/app/models/user.py
+++ b/app/models/user.py
@@ -17,4 +17,3 @@
     id = Column(BigInteger)
-    legacy_id = Column(Text)
-    email = Column(Text)
+    email = Column(Text, nullable=False)
     created_at = Column(DateTime)
"""


class Furnished(msgspec.Struct):
    """Where to look: what a place is called, and its address behind the #."""

    places: dict[str, str] = {}
    runs: list[str] = []


def furnish(site: ThrowawayServer, folder: Path) -> Furnished:
    """Put it all there, in two projects."""
    hub, found = site.store.hub(), Furnished()
    agent = Client(hub, "shop", Principal(Role.AGENT, "planner"))
    other = Client(hub, "edge-infra", Principal(Role.AGENT, "migrator"))
    person = Client(hub, "shop", Principal(Role.HUMAN, "sam"), assurance=Assurance.TERMINAL)
    _ask(agent, other, found)
    _end(agent, person, found)
    _run(agent, person, found)
    _review(agent, folder, found)
    return found


def _ask(agent: Client, other: Client, found: Furnished) -> None:
    zones: list[str | Option] = [
        Option("UTC", "UTC", recommended=True, description="As the code does it now"),
        Option("own", "The customer's own zone", destructive=True, description="Needs a backfill"),
        "Head office",
    ]
    asks = {
        "question": agent.open(
            "Which time zone closes the month?",
            zones,
            body="Totals differ by **14 hours**.\n\n- `close.py` says UTC\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[why](https://example.com)",
            free=True,
            deadline=timedelta(minutes=50),
            consequence="escalate",
            escalate_to="human:sam",
        ),
        "several": agent.open(
            "Which regions go first?", ["Frankfurt", "Virginia", "Tokyo", "Lima"], multiple=True
        ),
        "words": agent.open("What should the release be called?"),
        "round": agent.open(
            Prompt(
                "Roll out the new cache",
                "",
                (
                    Field(
                        "q1",
                        "Which regions?",
                        (Option("f", "Frankfurt"), Option("v", "Virginia")),
                        multiple=True,
                    ),
                    Field("q2", "How old may a page be?", (Option("30", "30 seconds"),), free=True),
                    Field("q3", "What must it not touch?", free=True),
                ),
            )
        ),
        "confirm": agent.open("Phase P2: Backfill. Continue? (Y/N)", kind="confirm", body="Four tasks."),
    }
    for name, opened in asks.items():
        found.places[name] = f"inbox/shop/{opened.ask_id}"
    with suppress(StillOpen):
        pass_gate(
            agent, "Chunk Loop", "Chunk 2 of 5.\n\n4 findings in 3 files.", ids=["M4", "L2"], chunks=5, wait=0
        )
    action: Json = {
        "command": "psql --file migrations/0042.sql",
        "files": [{"path": "app/models/user.py", "diff": _DIFF}],
    }
    with suppress(StillOpen):
        other.approve(
            "Drop column users.legacy_id in production",
            action=action,
            risk="irreversible",
            body="No reader is left\u200b.",
            deadline=timedelta(minutes=11),
            consequence="deny",
            wait=0,
        )
    agent.create_task("Refund webhooks", task_id="T-118")
    questions = [
        {"id": "q1", "text": "Should it be retried after a 409?"},
        {"id": "q2", "text": "How often?"},
    ]
    agent.hand_in({"agent": "coder", "sourceId": "T-118", "status": "failed", "open_questions": questions})
    for client in (agent, other):
        for ask in client.inbox():
            if ask.kind in ("gate", "approval", "open_question"):
                found.places[str(ask.kind)] = f"inbox/{client.project}/{ask.ask_id}"


def _end(agent: Client, person: Client, found: Furnished) -> None:
    answered, declined, withdrawn = (
        agent.open(f"Is it {word}?", ["Yes", "No"]) for word in ("on", "off", "out")
    )
    person.answer(answered.ask_id, "1")
    person.decline(declined.ask_id, "Not mine to say.")
    agent.withdraw(withdrawn.ask_id, "No longer needed.")
    for name, ask in (("answered", answered), ("declined", declined), ("withdrawn", withdrawn)):
        found.places[name] = f"inbox/shop/{ask.ask_id}"


def _run(agent: Client, person: Client, found: Furnished) -> None:
    for run_id in ("loop-1", "loop-2"):
        with (
            suppress(KeyboardInterrupt),
            agent.run(run_id=run_id, max=5, model="haiku", title="Tidy up") as run,
        ):
            next(run)
            run.tell("reading 14 files\nwrote 3\n")
            person.control(run_id, "escalate", model="opus", reason="It is stuck.", wait=1)
            if run_id == "loop-2":  # whoever is interrupted leaves it open
                raise KeyboardInterrupt
        found.places[run_id] = f"runs/shop/{run_id}"
        found.places[f"timeline of {run_id}"] = f"history/run/shop/{run_id}"


def _review(agent: Client, folder: Path, found: Furnished) -> None:
    document = folder / "plan.md"
    document.write_text("# Plan\n\n## Retry\n\nThree tries.\n", encoding="utf-8")
    with suppress(StillOpen):
        agent.review(
            json.loads(_FINDINGS.read_text(encoding="utf-8")),
            document=document,
            durable=True,
            wait=0,
            document_type="plan",
        )
    for ask in agent.inbox():
        key = ask.key or ""
        if key.startswith("review:"):
            found.places["finding"] = f"inbox/shop/{ask.ask_id}"
            found.places["walk-through"] = f"walk/shop/{key.rpartition(':')[0].removesuffix(':next')}"
