"""Assent: one inbox for every question your agents ask. Ask once, answer anywhere, and silence is never a yes.

The public names load on first use, so that `import assent` costs almost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assent.client.async_client import AsyncClient as AsyncClient
    from assent.client.async_client import AsyncHandle as AsyncHandle
    from assent.client.async_client import connect_async as connect_async
    from assent.client.client import Client as Client
    from assent.client.client import Handle as Handle
    from assent.client.connect import connect as connect
    from assent.protocol.ask import Ask as Ask
    from assent.protocol.ask import Consequence as Consequence
    from assent.protocol.ask import Kind as Kind
    from assent.protocol.ask import State as State
    from assent.protocol.error import AssentError as AssentError
    from assent.protocol.error import BadRequestError as BadRequestError
    from assent.protocol.error import ConflictError as ConflictError
    from assent.protocol.error import Declined as Declined
    from assent.protocol.error import Expired as Expired
    from assent.protocol.error import ForbiddenError as ForbiddenError
    from assent.protocol.error import KeyReusedError as KeyReusedError
    from assent.protocol.error import NoAnswer as NoAnswer
    from assent.protocol.error import NotFoundError as NotFoundError
    from assent.protocol.error import StillOpen as StillOpen
    from assent.protocol.error import Superseded as Superseded
    from assent.protocol.error import UnrecognisedError as UnrecognisedError
    from assent.protocol.error import Withdrawn as Withdrawn
    from assent.protocol.prompt import Field as Field
    from assent.protocol.prompt import Option as Option
    from assent.protocol.prompt import Prompt as Prompt

__version__ = "0.1.0"

_HOMES = {
    "assent.client.async_client": ("AsyncClient", "AsyncHandle", "connect_async"),
    "assent.client.client": ("Client", "Handle"),
    "assent.client.connect": ("connect",),
    "assent.protocol.ask": ("Ask", "Consequence", "Kind", "State"),
    "assent.protocol.error": (
        "AssentError",
        "BadRequestError",
        "ConflictError",
        "Declined",
        "Expired",
        "ForbiddenError",
        "KeyReusedError",
        "NoAnswer",
        "NotFoundError",
        "StillOpen",
        "Superseded",
        "UnrecognisedError",
        "Withdrawn",
    ),
    "assent.protocol.prompt": ("Field", "Option", "Prompt"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]  # noqa: PLE0604 - the table above is the list


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'assent' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return list(__all__)
