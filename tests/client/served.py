"""A throw-away store whose clients come through a server: what behaves on a file must behave so here."""

from datetime import timedelta

from assent.client.async_client import AsyncClient
from assent.client.client import Client
from assent.client.http.door import HttpDoor
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.token import ALL_PROJECTS, MAX_TOKEN_SECONDS
from assent.testing import FakeClock, ScriptedPerson, ThrowawayStore
from assent.testing.server import ThrowawayServer

__all__ = ["KEY_PROJECT", "ServedStore"]

KEY_PROJECT = "keys"
"""Where the tokens are made: apart, so that a test's own project holds what the test did and nothing else."""


class ServedStore(ThrowawayStore):
    """Gives clients that speak HTTP. A scripted person answers on the file, beside the server, as `assent` may."""

    def __init__(
        self, server: ThrowawayServer, *, project: str = "test", clock: FakeClock | None = None
    ) -> None:
        super().__init__(project=project, clock=clock)
        self._minter = super().person("minter", project=KEY_PROJECT, assurance=Assurance.TERMINAL)
        self.server = server
        server.move(self)

    def agent(self, name: str = "coder", *, project: str | None = None) -> Client:
        """Return a client that asks."""
        principal = Principal(Role.AGENT, name)
        return Client(self.door(principal), project or self.project, principal)

    def person(
        self, name: str = "ana", *, project: str | None = None, assurance: Assurance = Assurance.DECLARED
    ) -> Client:
        """Return a client that answers; whatever it says of its assurance, the server says `token`."""
        principal = Principal(Role.HUMAN, name)
        return Client(self.door(principal), project or self.project, principal, assurance=assurance)

    def async_agent(self, name: str = "coder", *, project: str | None = None) -> AsyncClient:
        """Return a client that asks, for tasks."""
        principal = Principal(Role.AGENT, name)
        return AsyncClient(self.door(principal), project or self.project, principal)

    def async_person(
        self, name: str = "ana", *, project: str | None = None, assurance: Assurance = Assurance.DECLARED
    ) -> AsyncClient:
        """Return a client that answers, for tasks."""
        principal = Principal(Role.HUMAN, name)
        return AsyncClient(self.door(principal), project or self.project, principal, assurance=assurance)

    def scripted_person(
        self, name: str = "ana", *, project: str | None = None, strict: bool = True
    ) -> ScriptedPerson:
        """Return somebody who answers by script, on the file."""
        return ScriptedPerson(super().person(name, project=project), strict=strict)

    def door(self, principal: Principal) -> HttpDoor:
        """Return a door to the server for somebody who has a token for everything, as long as tokens can live."""
        _, secret = self._minter.create_token(
            principal.role,
            name=principal.name,
            projects=(ALL_PROJECTS,),
            life=timedelta(seconds=MAX_TOKEN_SECONDS),
        )
        return self.server.door(secret)
