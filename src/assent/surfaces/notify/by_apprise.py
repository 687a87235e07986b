"""Every other service, by Apprise: a line that something waits, and a link. One way: of the end comes another message.

Rule 1: Apprise connects by itself, so it does it under a guard: what it connects to is checked as it does. It follows nothing.
Rule 2: agents' text is escaped for the form that a service reads; only our link is a link.
Rule 3: what Apprise logs has addresses in it, and is kept from every log.

The only module that imports it.
"""

from __future__ import annotations

import logging
import re
from html import escape as escape_html

import apprise

from assent.effects.outward import OutwardError, check_outward, is_inside, refuse_inside
from assent.effects.outward_guard import guarded
from assent.protocol.error import BadRequestError
from assent.surfaces.notify.delivery import DeliveryError, Parcel
from assent.surfaces.notify.letter import Letter

__all__ = ["check_address", "deliver", "render_for"]

_MARKUP = re.compile(r"([\\`*_{}\[\]()#+\-.!|>~<@&=])")
_HOST = "{host}"

# A filter, and not `disabled`: whoever sets logging up afterwards, as a server does, would undo that.
logging.getLogger("apprise").addFilter(lambda _: False)


def render_for(letter: Letter, form: apprise.NotifyFormat) -> str:
    """Return what a message says under its title, in the form that a service reads."""
    said, link = letter.said.split("\n"), letter.link
    match form:
        case apprise.NotifyFormat.MARKDOWN:
            return "\n".join(
                [*(_MARKUP.sub(r"\\\1", line) for line in said), f"<{link}>" if link else ""]
            ).rstrip()
        case apprise.NotifyFormat.HTML:
            shown = escape_html(link)
            anchor = [f'<a href="{shown}">{shown}</a>'] if link else []
            return "<br/>\n".join([*map(escape_html, said), *anchor])
        case _:
            return "\n".join([*said, link]).rstrip()


def deliver(parcel: Parcel) -> str:
    """Send a message; return its id here."""
    plugin = _find(parcel.secret.address)
    form = plugin.resolve_format(apprise.NotifyFormat.TEXT)
    body = render_for(parcel.letter, form)
    title = escape_html(parcel.letter.head) if form is apprise.NotifyFormat.HTML else parcel.letter.head
    with guarded(allows_internal=parcel.target.allows_internal):
        is_taken = plugin.notify(
            body=body, title=title, notify_type=apprise.NotifyType.INFO, body_format=form
        )
    if not is_taken:
        raise DeliveryError(f"Apprise could not deliver it by {parcel.target.host}.")
    return parcel.notice.reference or parcel.notice.message_id


def check_address(address: str, *, allows_internal: bool) -> None:
    """See that Apprise knows an address, and that it does not lead inside.

    Raises:
        BadRequestError: it does not know it.
        OutwardError: it names a host inside, which nobody has allowed.
    """
    plugin = _find(address)
    # Where a service has no host of its own, half of a secret stands in its place, which leads nowhere.
    shapes: tuple[str, ...] = plugin.templates
    if allows_internal or not any(_HOST in shape for shape in shapes):
        return
    try:
        numbers = check_outward(plugin.host or "", plugin.port or 443, allows_internal=True)
    except OutwardError:
        return  # it may be another name of that service; whoever sends it a message sees
    if any(is_inside(str(number[0])) for _, number in numbers):
        raise refuse_inside()


def _find(address: str) -> apprise.NotifyBase:
    asset = apprise.AppriseAsset(http_redirects=False)
    plugin = apprise.Apprise.instantiate(address, asset=asset, suppress_exceptions=True)
    if not isinstance(plugin, apprise.NotifyBase):
        raise BadRequestError("Neither Assent nor Apprise knows an address like this one.")
    return plugin
