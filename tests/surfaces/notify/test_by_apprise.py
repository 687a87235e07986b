"""Everything that Apprise knows: told one way, with agents' text escaped, and never inside unless somebody allowed it."""

import logging
import logging.config
import socket

import apprise
import pytest

from assent.effects import outward_guard
from assent.effects.outward import OutwardError
from assent.protocol.error import BadRequestError
from assent.surfaces.notify.by_apprise import check_address, render_for
from assent.surfaces.notify.letter import Letter
from tests.surfaces.notify.office import URL, Office
from tests.surfaces.notify.sink import Answer, Sink, sink

__all__: list[str] = []

pytestmark = pytest.mark.filterwarnings(
    "ignore:'imghdr' is deprecated"
)  # Apprise loads a library that uses it

LETTER = Letter(
    "A question", "Go <b>on</b>? *now*", "@here\n[x](http://evil)", "Answer: it", f"{URL}/#/inbox/p/a"
)
INSIDE = "The host leads to an address inside this network, which nobody has allowed (--allow-internal)."


def test_apprise_tells_of_an_ask_and_of_its_end(office: Office, http: Sink) -> None:
    """By its own plain JSON, here."""
    office.add(f"json://{http.place}/in?+X-Key=secret")
    ask = office.ask()
    office.send()
    office.answer(ask)
    office.send()
    first, second = (sent.json for sent in http.sent)
    assert first["title"] == "A question in shop waits for you"
    assert first["message"] == (
        f"> Which colour?\nAsked by agent:coder. Answer: assent answer {ask.ask_id[-6:]}\n"
        f"{URL}/#/inbox/shop/{ask.ask_id}"
    )
    assert second["title"] == "A question in shop is decided"
    assert http.sent[0].headers["x-key"] == "secret"


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (
            apprise.NotifyFormat.TEXT,
            "> Go <b>on</b>? *now*\n> @here\n> [x](http://evil)\nAnswer: it\n" + LETTER.link,
        ),
        (
            apprise.NotifyFormat.HTML,
            (
                "&gt; Go &lt;b&gt;on&lt;/b&gt;? *now*<br/>\n&gt; @here<br/>\n&gt; [x](http://evil)<br/>\nAnswer: it<br/>\n"
                f'<a href="{LETTER.link}">{LETTER.link}</a>'
            ),
        ),
        (
            apprise.NotifyFormat.MARKDOWN,
            (
                "\\> Go \\<b\\>on\\</b\\>? \\*now\\*\n\\> \\@here\n\\> \\[x\\]\\(http://evil\\)\nAnswer: it\n"
                f"<{LETTER.link}>"
            ),
        ),
    ],
)
def test_agent_s_text_is_escaped_for_the_form_of_the_service(form: apprise.NotifyFormat, said: str) -> None:
    """Only our link is a link."""
    assert render_for(LETTER, form) == said


@pytest.mark.parametrize(
    "address",
    ["discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js", "tgram://123456789:abcdefg_hijklmnop/12315544/"],
)
def test_service_without_a_host_of_its_own_is_reached(
    office: Office, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands where a host would is half of a secret: it is neither looked up nor shown."""
    check_address(address, allows_internal=False)
    asked: list[str] = []

    def look_up(host: str, *_: object, **__: object) -> list[object]:
        asked.append(host)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    office.add(address, allows_internal=False)
    office.ask()
    office.send()
    target, far = office.far()
    scheme = address.partition(":")[0]
    assert (target.host, far.last_error) == (scheme, f"Apprise could not deliver it by {scheme}.")
    assert {host.rpartition(".")[2] for host in asked} <= {"com", "org"}
    assert asked


def test_address_inside_is_refused_when_it_is_added_and_when_it_is_told(office: Office, http: Sink) -> None:
    """The check at the connection counts: the first one is for whoever types."""
    address = f"json://{http.place}/"
    with pytest.raises(OutwardError):
        check_address(address, allows_internal=False)
    check_address(address, allows_internal=True)
    office.add(address, allows_internal=False)
    office.ask()
    office.send()
    assert (office.far()[1].last_error, http.sent) == (INSIDE, [])


def test_redirect_is_not_followed(office: Office, http: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither inside nor anywhere else."""
    monkeypatch.setattr(outward_guard, "is_inside", lambda number: number != "127.0.0.2")
    with sink("127.0.0.2") as outer:
        outer.answers = [Answer(307, headers={"location": f"http://{http.place}/"})]
        office.add(f"json://{outer.place}/", allows_internal=False)
        office.ask()
        office.send()
        assert (len(outer.sent), http.sent) == (1, [])
    assert office.far()[1].last_error == "Apprise could not deliver it by json."


@pytest.mark.parametrize("address", ["nothing://host/secret", "discord://secret", "json://"])
def test_address_that_apprise_does_not_know_is_refused_and_not_repeated(
    address: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Apprise would log it, also in a process that has set logging up since, as a server does."""
    logging.config.dictConfig({"version": 1, "disable_existing_loggers": False})
    caplog.set_level(logging.DEBUG)
    with pytest.raises(BadRequestError) as refused:
        check_address(address, allows_internal=False)
    told = refused.value.message + caplog.text + "".join(capfd.readouterr())
    assert "secret" not in told


def test_library_that_fails_is_told_without_its_words(
    office: Office, http: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may have the address in them."""

    def fail(*_: object, **__: object) -> bool:
        raise RuntimeError("https://secret")

    monkeypatch.setattr("apprise.plugins.custom_json.NotifyJSON.send", fail)
    office.add(f"json://{http.place}/")
    office.ask()
    office.send()
    assert office.far()[1].last_error == "It failed with RuntimeError."
