"""Targets that many tests start from."""

from typing import Any

from msgspec.structs import replace

from assent.engine.target import AddTarget
from assent.protocol.principal import Assurance
from assent.protocol.target import Secret, Service, Target
from tests.samples import NOON

__all__ = ["ADDRESS", "SECRET", "adding", "new_target"]

ADDRESS = "https://hooks.example.com/in/a-secret-path"
SECRET = Secret(ADDRESS, "whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0")


def new_target(**changes: Any) -> Target:
    """Return a webhook that ana added; `changes` are fields of it."""
    target = Target("hook", "p", Service.WEBHOOK, "hooks.example.com", NOON, "human:ana", since=1, sequence=1)
    return replace(target, **changes)


def adding(name: str = "hook", secret: Secret = SECRET, **changes: Any) -> AddTarget:
    """Return the command that adds it, by somebody at a terminal."""
    return replace(AddTarget(name, secret, assurance=Assurance.TERMINAL), **changes)
