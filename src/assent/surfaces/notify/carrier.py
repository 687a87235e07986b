"""Which service delivers what, and whether an address is one that it can use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol
from urllib.parse import urlsplit

from assent.effects.outward import check_outward
from assent.protocol.error import BadRequestError
from assent.protocol.target import Service, host_of, service_of
from assent.surfaces.notify import mail, ntfy, slack, webhook
from assent.surfaces.notify.delivery import Parcel

__all__ = ["Carrier", "Carriers", "Others"]

Carrier = Callable[[Parcel], str]

_CARRIERS: dict[Service, Carrier] = {
    Service.WEBHOOK: webhook.deliver,
    Service.SLACK: slack.deliver,
    Service.SLACK_HOOK: slack.deliver,
    Service.NTFY: ntfy.deliver,
    Service.MAIL: mail.deliver,
}


class Others(Protocol):
    """Who carries what no service of ours does."""

    def deliver(self, parcel: Parcel) -> str: ...
    def check_address(self, address: str) -> None: ...


class Carriers:
    """All services; `find_others` finds the rest when it is wanted, as it takes long to load."""

    def __init__(self, find_others: Callable[[], Others]) -> None:
        self._find_others = find_others

    def deliver(self, parcel: Parcel) -> str:
        """Deliver a message by its service; return how it is known there.

        Raises:
            DeliveryError: the other side did not take it.
            OutwardError: the other side was not reached.
        """
        carrier = _CARRIERS.get(parcel.target.service)
        return self._find_others().deliver(parcel) if carrier is None else carrier(parcel)

    def check_address(self, address: str, *, smtp: str = "", allows_internal: bool = False) -> Service:
        """Return the service of an address that can be used.

        Raises:
            BadRequestError: something of it is missing or not allowed.
            OutwardError: it leads nowhere, or inside.
        """
        service = service_of(address)
        host_of(address)
        parts = urlsplit(address)
        match service:
            case Service.SLACK:
                slack.check_address(address)
            case Service.NTFY:
                ntfy.check_address(address)
            case Service.MAIL:
                place = mail.read_place(address, smtp)
                check_outward(place.host, place.port, allows_internal=allows_internal)
            case Service.APPRISE:
                self._find_others().check_address(address)
            case _:
                pass
        if parts.scheme in ("http", "ntfy+http") and not allows_internal:
            raise BadRequestError(
                "Without TLS everybody on the way reads along: write https, or say --allow-internal for a host "
                "of your own."
            )
        if service in (Service.WEBHOOK, Service.SLACK_HOOK, Service.NTFY):
            default = 443 if parts.scheme in ("https", "ntfy") else 80
            check_outward(parts.hostname or "", parts.port or default, allows_internal=allows_internal)
        return service
