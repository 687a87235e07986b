"""All services by which targets are told, and what of this place they need; Apprise is loaded when an address needs it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assent.protocol.error import AssentError, BadRequestError
from assent.surfaces.notify.carrier import Carriers

if TYPE_CHECKING:
    from assent.surfaces.notify.carrier import Others

__all__ = ["find_carriers", "find_smtp", "find_url"]

_INSTALL = "This address needs the extra `notify`, which is not installed: pip install 'assent[notify]'"


def find_carriers() -> Carriers:
    """Return all services of this installation."""
    return Carriers(_find_apprise)


def find_url(environ: Mapping[str, str]) -> str:
    """Return where people find the inbox page, for the links in messages; empty where nobody has said so.

    Raises:
        BadRequestError: it is no address of a page.
    """
    url = environ.get("ASSENT_URL", "")
    try:
        parts = urlsplit(url)
        is_page = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
    except ValueError:
        is_page = False
    if url and not is_page:
        raise BadRequestError("ASSENT_URL is where people open the inbox, as in https://assent.example.com.")
    return url.partition("#")[0]


def find_smtp(environ: Mapping[str, str]) -> str:
    """Return the mail server of this place; empty where there is none."""
    return environ.get("ASSENT_SMTP", "")


def _find_apprise() -> Others:
    if find_spec("apprise") is None:
        raise AssentError(_INSTALL)
    from assent.surfaces.notify import by_apprise

    return by_apprise
