"""Which service delivers what, and whether an address is one that it can use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol
from urllib.parse import urlsplit

from assent.effects.outward import check_outward
from assent.protocol.error import AssentError, BadRequestError
from assent.protocol.target import Service, host_of, service_of
from assent.surfaces.notify import mail, ntfy, slack, webhook
from assent.surfaces.notify.delivery import DeliveryError, Parcel

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
    def check_address(self, address: str, *, allows_internal: bool) -> None: ...


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
        carrier = _CARRIERS.get(parcel.target.service) or self._find_others().deliver
        try:
            return carrier(parcel)
        except AssentError:
            raise
        except Exception as error:  # noqa: BLE001 - a service's library may raise anything, with the address in it
            raise DeliveryError(f"It failed with {type(error).__name__}.") from None

    def check_address(self, address: str, *, smtp: str = "", allows_internal: bool = False) -> Service:
        """Return the service of an address that can be used.

        Raises:
            BadRequestError: something of it is missing or not allowed.
            OutwardError: it leads nowhere, or inside.
        """
        service = service_of(address)
        host_of(address)
        match service:
            case Service.SLACK:
                _check_url(slack.read_place(address).api, allows_internal=allows_internal)
            case Service.NTFY:
                _check_url(ntfy.read_place(address).url, allows_internal=allows_internal)
            case Service.MAIL:
                place = mail.read_place(address, smtp)
                check_outward(place.host, place.port, allows_internal=allows_internal)
            case Service.WEBHOOK | Service.SLACK_HOOK:
                _check_url(address, allows_internal=allows_internal)
            case Service.APPRISE:
                self._find_others().check_address(address, allows_internal=allows_internal)
        return service


def _check_url(url: str, *, allows_internal: bool) -> None:
    parts = urlsplit(url)
    if parts.username is not None:
        raise BadRequestError("No user and no password stand in this address: they would not be sent.")
    if parts.scheme != "https" and not allows_internal:
        raise BadRequestError(
            "Without TLS everybody on the way reads along: write https, or say --allow-internal for a host "
            "of your own."
        )
    default = 443 if parts.scheme == "https" else 80
    check_outward(parts.hostname or "", parts.port or default, allows_internal=allows_internal)
