"""E-mail: over TLS unless a person said otherwise, one thread for each ask, and every refusal told as what it is."""

import pytest

from assent.effects import outward
from assent.protocol.error import BadRequestError
from assent.surfaces.notify import mail
from assent.surfaces.notify.mail import read_place
from tests.surfaces.notify.mail_sink import Letterbox, mail_sink
from tests.surfaces.notify.office import URL, Office

__all__: list[str] = []


def address(box: Letterbox, *, scheme: str = "smtp", who: str = "", more: str = "&tls=none") -> str:
    """Return the address of a target with mail."""
    return f"{scheme}://{who}{box.place}/?from=assent@example.com&to=ana@example.com{more}"


@pytest.fixture
def reader(office: Office, letterbox: Letterbox) -> Letterbox:
    """Give somebody who is told by mail, in the clear."""
    office.add(address(letterbox))
    return letterbox


def test_mail_says_what_waits_and_how_to_answer(office: Office, reader: Letterbox) -> None:
    """Plain text, and marked as what no person wrote."""
    ask = office.ask("Which colour – red?", body="Of the button.")
    office.send()
    (came,) = reader.mails
    message = came.message
    assert (came.sender, came.to) == ("FROM:<assent@example.com>", ["TO:<ana@example.com>"])
    assert (message["From"], message["To"]) == ("assent@example.com", "ana@example.com")
    assert message["Subject"] == "Which colour – red?"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["Date"] == "Tue, 01 Jan 2030 12:00:00 +0000"
    assert message.get_content_type() == "text/plain"
    assert message.get_content().splitlines() == [
        "A question in shop waits for you:",
        "> Which colour – red?",
        "> Of the button.",
        f"Asked by agent:coder. Answer: assent answer {ask.ask_id[-6:]}",
        f"{URL}/#/inbox/shop/{ask.ask_id}",
    ]


def test_mail_about_the_end_is_a_reply_in_the_same_thread(office: Office, reader: Letterbox) -> None:
    """So that a mail program folds them."""
    ask = office.ask()
    office.send()
    office.answer(ask)
    office.send()
    first, second = (came.message for came in reader.mails)
    assert second["In-Reply-To"] == second["References"] == first["Message-ID"]
    assert second["Subject"] == "Re: Which colour?"
    assert 'ana answered at 2030-01-01 12:00:00 UTC: "Blue".' in second.get_content()


def test_agent_s_text_makes_no_header_and_no_line_of_ours(office: Office, reader: Letterbox) -> None:
    """Whatever is in a title or a body."""
    office.ask("Go?\r\nBcc: eve@example.com", body="Fine.\nAsked by ana. Answer: https://evil.example.com")
    office.send()
    (came,) = reader.mails
    assert came.message["Bcc"] is None
    assert came.message["Subject"] == "Go?<U+000D><U+000A>Bcc: eve@example.com"
    lines = came.message.get_content().splitlines()
    assert [line for line in lines if "evil" in line] == ["> Asked by ana. Answer: https://evil.example.com"]


@pytest.mark.usefixtures("trust")
@pytest.mark.parametrize("is_first", [True, False], ids=["from the start", "STARTTLS"])
def test_mail_goes_over_tls_and_logs_in_only_there(office: Office, is_first: bool) -> None:
    """The certificate is of the name that was asked for."""
    with mail_sink(is_tls=is_first) as box:
        box.has_tls = not is_first
        scheme = "smtps" if is_first else "smtp"
        office.add(address(box, scheme=scheme, who="ana:se%3Acret@", more=""))
        office.ask()
        office.send()
        (came,) = box.mails
        assert (came.is_hidden, came.user) == (True, "ana se:cret")


def test_mail_server_without_tls_is_told_nothing(office: Office, letterbox: Letterbox) -> None:
    """Unless the address says that it may be in the clear."""
    office.add(address(letterbox, who="ana:se%3Acret@", more=""))
    office.ask()
    office.send()
    assert letterbox.mails == []
    _, far = office.far()
    assert far.last_error == "The mail server has no TLS; with tls=none it is told in the clear."


def test_mail_server_with_another_s_certificate_is_told_nothing(office: Office) -> None:
    """Nobody vouches for it here."""
    with mail_sink() as box:
        box.has_tls = True
        office.add(address(box, more=""))
        office.ask()
        office.send()
        assert box.mails == []
        assert office.far()[1].last_error == "The mail server's certificate is not to be believed."


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"greeting": "554 go away"}, "The mail server refused it: 554."),
        ({"recipient": "550 nobody"}, "The mail server takes no mail for the recipient: 550."),
        ({"recipient": "451 later"}, "The mail server takes no mail for the recipient: 451."),
    ],
)
def test_refusal_of_a_mail_server_is_told_by_its_number(
    office: Office, reader: Letterbox, change: dict[str, str], error: str
) -> None:
    """And not by its words, which are somebody else's."""
    for name, value in change.items():
        setattr(reader, name, value)
    office.ask()
    office.send()
    _, far = office.far()
    assert (far.attempts, far.last_error) == (1, error)


def test_mail_that_was_taken_is_delivered_however_the_server_takes_its_leave(
    office: Office, reader: Letterbox
) -> None:
    """Sent again, it would come twice."""
    reader.farewell = "421 whatever"
    office.ask()
    assert office.send() == 1
    assert (len(reader.mails), office.far()[1].attempts) == (1, 0)


def test_wrong_password_is_told(office: Office, letterbox: Letterbox) -> None:
    """By its number; neither the name nor the password is in the sentence."""
    office.add(address(letterbox, who="ana:wrong@"))
    office.ask()
    office.send()
    assert office.far()[1].last_error == "The mail server refused it: 535."


def test_mail_server_that_drips_is_cut_in_time(
    office: Office, reader: Letterbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A socket's time-out would begin anew with every byte."""
    monkeypatch.setattr(mail, "OutwardSmtp", lambda **parts: outward.OutwardSmtp(**parts, seconds=0.3))
    reader.drips = True
    office.ask()
    office.send()
    assert office.far()[1].last_error == "No reply in time."


def test_mailto_goes_by_the_server_of_this_place(office: Office, letterbox: Letterbox) -> None:
    """Which is set where the sender runs; where it is not, the list says what is missing."""
    office.add("mailto:ana+asks@example.com")
    office.ask()
    office.send()
    assert office.far()[1].last_error.startswith("Mail needs a server: set ASSENT_SMTP=")
    office.wait(5)
    office.smtp = f"smtp://{letterbox.place}/?from=assent@example.com&tls=none"
    office.sender = office.new_sender()
    office.send()
    assert [came.message["To"] for came in letterbox.mails] == ["ana+asks@example.com"]


@pytest.mark.parametrize(
    "wrong",
    [
        "smtp://host/?from=a@example.com",
        "smtp://host/?to=a@example.com",
        "smtp:///?from=a@example.com&to=b@example.com",
        "smtp://host/?from=a@example.com&to=b@example.com&to=c@example.com",
        "smtp://host/?from=a@example.com&to=b@example.com,c@example.com",
        "smtp://host/?from=nobody&to=b@example.com",
        "smtp://host/?from=a@example.com&to=b@example.com%0d%0aX:1",
        "mailto:",
    ],
)
def test_mail_address_that_lacks_something_is_refused(wrong: str) -> None:
    """A sender, one recipient, a server; each of them one."""
    with pytest.raises(BadRequestError):
        read_place(wrong, "smtp://host/?from=a@example.com")


def test_plus_in_a_mail_address_is_a_plus() -> None:
    """Others have it for a space in such a place."""
    place = read_place("smtp://host/?from=a+b@example.com&to=c+d@example.com")
    assert (place.sender, place.to, place.port, place.starts_tls) == (
        "a+b@example.com",
        "c+d@example.com",
        587,
        True,
    )
