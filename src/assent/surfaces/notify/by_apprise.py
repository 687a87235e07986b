"""Every other service, by Apprise: a line that something waits, and a link. One way, and nothing folds.

Apprise connects by itself, so where it leads is checked before, and not at the connection: a name that changes its mind in
between is not noticed here. The only module that imports it.
"""

from __future__ import annotations

import re

import apprise

from assent.effects.outward import check_outward
from assent.protocol.error import BadRequestError
from assent.surfaces.notify.delivery import DeliveryError, Parcel

__all__ = ["check_address", "deliver"]

_MARKUP = re.compile(r"([\\`*_{}\[\]()#+\-.!|>~<@])")


def deliver(parcel: Parcel) -> str:
    """Send a message; return its id here."""
    plugin = _find(parcel.secret.address)
    host = getattr(plugin, "host", None)
    if isinstance(host, str) and host:
        port = getattr(plugin, "port", None)
        check_outward(host, port or 443, allows_internal=parcel.target.allows_internal)
    letter = parcel.letter
    is_markup = plugin.notify_format == apprise.NotifyFormat.MARKDOWN
    parts = [letter.title, letter.body, letter.foot]
    said = [_MARKUP.sub(r"\\\1", part) if is_markup else part for part in parts if part]
    body = "\n".join([*said, letter.link]).rstrip()
    # Apprise's own parser must not read instructions in agents' text, as it does for more formats than plain text.
    if not plugin.notify(body=body, title=letter.head, notify_type=apprise.NotifyType.INFO):
        raise DeliveryError(f"Apprise could not deliver it by {parcel.target.host}.")
    return parcel.notice.reference or parcel.notice.message_id


def check_address(address: str) -> None:
    """See that Apprise knows an address.

    Raises:
        BadRequestError: it does not.
    """
    _find(address)


def _find(address: str) -> apprise.NotifyBase:
    plugin = apprise.Apprise.instantiate(address, suppress_exceptions=True)
    if not isinstance(plugin, apprise.NotifyBase):
        raise BadRequestError("Neither Assent nor Apprise knows an address like this one.")
    return plugin
