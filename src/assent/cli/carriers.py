"""All services by which targets are told; Apprise is loaded when an address needs it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from assent.protocol.error import AssentError
from assent.surfaces.notify.carrier import Carriers

if TYPE_CHECKING:
    from assent.surfaces.notify.carrier import Others

__all__ = ["find_carriers"]

_INSTALL = "This address needs the extra `notify`, which is not installed: pip install 'assent[notify]'"


def find_carriers() -> Carriers:
    """Return all services of this installation."""
    return Carriers(_find_apprise)


def _find_apprise() -> Others:
    if find_spec("apprise") is None:
        raise AssentError(_INSTALL)
    from assent.surfaces.notify import by_apprise

    return by_apprise
