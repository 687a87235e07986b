"""Whether an address can be used: said when it is added, before anything is sent, and without repeating it."""

import socket
from typing import Any

import pytest

from assent.effects.outward import OutwardError
from assent.protocol.error import AssentError, BadRequestError
from assent.protocol.target import Service
from assent.surfaces.notify import by_apprise
from assent.surfaces.notify.carrier import Carriers

__all__: list[str] = []

pytestmark = pytest.mark.filterwarnings(
    "ignore:'imghdr' is deprecated"
)  # Apprise loads a library that uses it

SMTP = "smtp://mail.example.com/?from=a@example.com"
GOOD = {
    "https://hooks.example.com/in/secret": Service.WEBHOOK,
    "https://hooks.slack.com/services/T0/B0/secret": Service.SLACK_HOOK,
    "slack://xoxb-secret@C024BE91L": Service.SLACK,
    "ntfy://ntfy.example.com/secret": Service.NTFY,
    "smtp://ana:secret@mail.example.com/?from=a@example.com&to=b@example.com": Service.MAIL,
    "mailto:secret@example.com": Service.MAIL,
    "gotify://gotify.example.com/AbCdEfGhIjKlMnO": Service.APPRISE,
    "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js": Service.APPRISE,
}
WRONG = [
    *(
        "",
        "secret",
        "://secret",
        "https://",
        "https://ho st/secret",
        "https://host:99999/secret",
        "https://[/secret",
    ),
    *("http://hooks.example.com/secret", "https://secret:secret@hooks.example.com/", "ntfy://host/secret/x"),
    *("ntfy+http://ntfy.example.com/secret", "slack://secret", "smtp://host/?to=secret@example.com"),
    *(
        "slack://secret@C1?api=http://slack.example.com/api",
        "slack://secret@C1?api=secret",
        "nothing://secret",
    ),
    "https://hooks.example.com/secret\n",
]


@pytest.fixture
def carriers(monkeypatch: pytest.MonkeyPatch) -> Carriers:
    """Give all services, in a world where every name leads outside, but for those that say otherwise."""

    def look_up(host: str, port: int, *_: object, **__: object) -> list[tuple[Any, ...]]:
        number = "10.0.0.1" if "inner" in host else host if host[0].isdecimal() else "93.184.216.34"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (number, port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return Carriers(lambda: by_apprise)


@pytest.mark.parametrize(("address", "service"), GOOD.items())
def test_address_that_can_be_used_is_taken(carriers: Carriers, address: str, service: Service) -> None:
    """One of every kind."""
    assert carriers.check_address(address, smtp=SMTP) is service


@pytest.mark.parametrize("address", WRONG)
def test_address_that_lacks_something_is_refused_and_not_repeated(carriers: Carriers, address: str) -> None:
    """Nothing is sent in the clear unless somebody says that the host is their own."""
    with pytest.raises(BadRequestError) as refused:
        carriers.check_address(address, smtp=SMTP)
    assert "secret" not in refused.value.message


@pytest.mark.parametrize(
    "address",
    [
        "https://inner.example.com/secret",
        "https://127.0.0.1/secret",
        "slack://secret@C1?api=https://inner.example.com/api",
        "ntfy://inner.example.com/secret",
        "smtp://inner.example.com/?from=a@example.com&to=b@example.com",
        "jsons://inner.example.com/secret",
        "gotifys://10.1.2.3/AbCdEfGhIjKlMnO",
    ],
)
def test_address_that_leads_inside_takes_a_person_s_word(carriers: Carriers, address: str) -> None:
    """By whichever service."""
    with pytest.raises(OutwardError, match="--allow-internal"):
        carriers.check_address(address)
    carriers.check_address(address, allows_internal=True)


def test_mail_by_a_server_inside_takes_a_person_s_word(carriers: Carriers) -> None:
    """It is the server that is connected to, and not the recipient's."""
    smtp = "smtp://inner.example.com/?from=a@example.com"
    with pytest.raises(OutwardError):
        carriers.check_address("mailto:ana@example.com", smtp=smtp)
    assert carriers.check_address("mailto:ana@example.com", smtp=smtp, allows_internal=True) is Service.MAIL


def test_address_in_the_clear_is_taken_for_a_host_of_one_s_own(carriers: Carriers) -> None:
    """Twin of the tests above."""
    assert carriers.check_address("http://inner/x", allows_internal=True) is Service.WEBHOOK


def test_service_that_is_not_installed_is_told() -> None:
    """With the line that installs it; ours go on working."""

    def find_others() -> Any:
        raise AssentError("pip install")

    carriers = Carriers(find_others)
    with pytest.raises(AssentError, match="pip install"):
        carriers.check_address("discord://id/token")
