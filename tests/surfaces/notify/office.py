"""A store whose asks somebody is told of: targets, a sender, agents and people, on a clock of its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from assent.client.client import Client
from assent.client.outbox import Outbox
from assent.engine.target import AddTarget, RemoveTarget
from assent.protocol.ask import Ask
from assent.protocol.principal import Assurance
from assent.protocol.prompt import Option
from assent.protocol.target import Delivery, Secret, Target
from assent.surfaces.notify import by_apprise
from assent.surfaces.notify.carrier import Carriers
from assent.surfaces.notify.sender import Sender
from assent.testing import FakeClock, ThrowawayStore
from tests.hub.conftest import tell
from tests.samples import ANA

__all__ = ["SIGNING", "URL", "Office"]

URL = "https://assent.example.com"
SIGNING = "whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"
COLOURS = ("Red", "Blue")


class Office:
    """What a test of messages needs."""

    def __init__(self, store: ThrowawayStore, clock: FakeClock) -> None:
        self.store, self.clock = store, clock
        self.hub = store.hub()
        self.outbox = Outbox(self.hub)
        self.agent: Client = store.agent()
        self.person: Client = store.person(assurance=Assurance.TERMINAL)
        self.smtp = ""
        self.sender = self.new_sender()

    def new_sender(self, **parts: Any) -> Sender:
        """Return a sender of this store, as another process would have it."""
        carry = Carriers(lambda: by_apprise).deliver
        return Sender(self.outbox, lambda: self.clock.at, carry, url=URL, smtp=self.smtp, **parts)

    def add(self, address: str, name: str = "hook", **changes: Any) -> Target:
        """Add a target, which may be on this machine unless `changes` say otherwise."""
        command = AddTarget(
            name, Secret(address, SIGNING), assurance=Assurance.TERMINAL, allows_internal=True
        )
        target = tell(self.hub, replace(command, **changes), ANA, project=self.store.project)
        assert isinstance(target, Target)
        return target

    def remove(self, name: str = "hook") -> None:
        """Tell a target nothing more."""
        tell(self.hub, RemoveTarget(name), ANA, project=self.store.project)

    def ask(
        self, title: str = "Which colour?", options: Sequence[str | Option] = COLOURS, **parts: Any
    ) -> Ask:
        """Open an ask."""
        return self.agent.show(self.agent.open(title, options, **parts).ask_id)

    def answer(self, ask: Ask, reply: str = "Blue") -> Ask:
        """Answer it elsewhere."""
        return self.person.answer(ask.ask_id, reply)

    def send(self) -> int:
        """Deliver what is due; return how many targets had something."""
        found = 0
        while more := self.sender.send_due():
            found += more
        return found

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.advance(timedelta(seconds=seconds))

    def far(self, name: str = "hook") -> tuple[Target, Delivery]:
        """Return a target, and how far it is."""
        (found,) = [each for each in self.outbox.targets(self.store.project) if each[0].name == name]
        return found

    def log(self) -> list[tuple[str, bytes]]:
        """Return the type and the body of each event."""
        with self.hub.store.reading() as reader:
            records = reader.records(self.store.project, 0, 1_000)
        return [(record.type, bytes(record.body or b"")) for record in records]
