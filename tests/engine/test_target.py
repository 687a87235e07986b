"""Who may say who is told of asks, and what of an address is in the log: nothing but its host."""

import msgspec
import pytest
from msgspec.structs import replace

from assent.engine.stamp import NOBODY, Stamp
from assent.engine.target import (
    GiveUpMessage,
    RemoveTarget,
    TargetAdded,
    TargetFailed,
    TargetRemoved,
    decide,
    evolve,
)
from assent.protocol.ask import AskId, Kind
from assent.protocol.error import BadRequestError, ConflictError, ForbiddenError, NotFoundError
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.target import Secret, Service, What, host_of, message_id_of, read_people, service_of
from tests.samples import ANA, NOON
from tests.target_samples import SECRET, adding, new_target

__all__: list[str] = []

BY_ANA = Stamp(NOON, ANA, "cmd_1")
GIVING_UP = GiveUpMessage(
    "hook", 1, 7, AskId("ask_1"), What.OPENED, 10, "The webhook replied with status 500."
)


def test_target_that_a_person_adds_has_its_host_in_the_log_and_not_its_address() -> None:
    """The address is a secret: whoever reads the log cannot write there."""
    (event,) = decide(None, adding(kinds=(Kind.GATE, Kind.GATE), stamp=BY_ANA))
    assert isinstance(event, TargetAdded)
    assert (event.service, event.host, event.kinds, event.by) == (
        Service.WEBHOOK,
        "hooks.example.com",
        (Kind.GATE,),
        "human:ana",
    )
    told = msgspec.json.encode(event)
    assert b"a-secret-path" not in told
    assert SECRET.signing.encode() not in told
    target = evolve(None, event, project="p", sequence=4)
    assert target == new_target(since=4, sequence=4, kinds=(Kind.GATE,), command_id="cmd_1")


@pytest.mark.parametrize("role", [Role.AGENT, Role.OPERATOR, Role.OBSERVER])
def test_target_is_set_by_people_only(role: Role) -> None:
    """Decided rule 8: an agent would choose who hears of its own work."""
    stamp = Stamp(NOON, Principal(role, "x"), "cmd_1")
    with pytest.raises(ForbiddenError):
        decide(None, adding(stamp=stamp))
    with pytest.raises(ForbiddenError):
        decide(new_target(), RemoveTarget("hook", stamp))


def test_target_on_a_process_s_word_takes_an_explicit_consent_which_the_log_shows() -> None:
    """As loosening a policy does."""
    with pytest.raises(ForbiddenError, match="a process's word is not enough"):
        decide(None, adding(assurance=Assurance.DECLARED, stamp=BY_ANA))
    (event,) = decide(None, adding(assurance=Assurance.DECLARED, is_unattended=True, stamp=BY_ANA))
    assert isinstance(event, TargetAdded)
    assert event.is_unattended


def test_name_that_is_taken_is_refused_and_a_retry_is_not() -> None:
    """What is sent again does nothing; once removed, the name is free."""
    known = new_target(command_id="cmd_1")
    assert decide(known, adding(stamp=BY_ANA)) == ()
    with pytest.raises(ConflictError, match="already"):
        decide(known, adding(stamp=replace(BY_ANA, command_id="cmd_2")))
    removed = replace(known, removed_at=NOON)
    assert decide(removed, RemoveTarget("hook", BY_ANA)) == ()
    assert len(decide(removed, adding(stamp=replace(BY_ANA, command_id="cmd_2")))) == 1


def test_target_that_is_removed_is_told_nothing_more() -> None:
    """And one that is not there cannot be removed."""
    (event,) = decide(new_target(), RemoveTarget("hook", BY_ANA))
    assert isinstance(event, TargetRemoved)
    assert not evolve(new_target(), event, sequence=9).is_live
    with pytest.raises(NotFoundError):
        decide(None, RemoveTarget("hook", BY_ANA))


def test_message_that_is_given_up_is_counted_and_what_is_gone_is_disabled() -> None:
    """By the hub itself, and by nobody who says so."""
    command = replace(GIVING_UP, stamp=Stamp(NOON, NOBODY, ""))
    (event,) = decide(new_target(), command)
    assert isinstance(event, TargetFailed)
    failed = evolve(new_target(), event, sequence=9)
    assert (failed.failed, failed.is_live) == (1, True)
    (gone,) = decide(new_target(), replace(command, is_gone=True))
    assert not evolve(new_target(), gone, sequence=9).is_live
    with pytest.raises(ForbiddenError):
        decide(new_target(), replace(GIVING_UP, stamp=Stamp(NOON, Principal(Role.OPERATOR, "ops"), "")))
    with pytest.raises(NotFoundError):
        decide(new_target(removed_at=NOON), command)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "no address",
        "https:///path",
        "https://[::1/x",
        "https://host:port/",
        "https://host/a b",
        "https://host/\x1b[2J",
        "https://host/" + 5_000 * "x",
        "//host/x",
    ],
    ids=["empty", "spaces", "no-host", "bracket", "port", "blank", "escape", "long", "no-scheme"],
)
def test_address_that_cannot_be_is_refused_and_not_repeated(address: str) -> None:
    """Whatever was typed may be a secret."""
    with pytest.raises(BadRequestError) as caught:
        decide(None, adding(secret=Secret(address), stamp=BY_ANA))
    assert not address or address not in caught.value.message


def test_agent_that_is_named_as_a_person_of_a_chat_cannot_be() -> None:
    """Names are of people, and written so that they are what they look like."""
    assert read_people(("U024BE7LH=ana", "W1234=Bob")) == {"U024BE7LH": "ana", "W1234": "Bob"}
    for wrong in ("ana", "U024BE7LH=", "U024BE7LH=a b", "u1=ana", "U024BE7LH=\u202eana", "U024=" + "a" * 61):
        with pytest.raises(BadRequestError):
            read_people((wrong,))
    with pytest.raises(BadRequestError, match="each user's id once"):
        read_people(("U024BE7LH=ana", "U024BE7LH=bob"))


@pytest.mark.parametrize(
    ("address", "service", "host"),
    [
        ("https://example.com/x?y=z", Service.WEBHOOK, "example.com"),
        ("https://hooks.slack.com/services/T/B/x", Service.SLACK_HOOK, "hooks.slack.com"),
        ("slack://xoxb-secret@C024BE91L", Service.SLACK, "slack.com"),
        ("slack://xoxb-secret@C024BE91L?api=https://slack-gov.com/api", Service.SLACK, "slack-gov.com"),
        ("ntfy://tk_secret@ntfy.sh/topic", Service.NTFY, "ntfy.sh"),
        ("smtp://ana:secret@mail.example.com/?from=a@b.c&to=d@e.f", Service.MAIL, "mail.example.com"),
        ("mailto:ana@example.com", Service.MAIL, "example.com"),
        ("tgram://123456:secret/789", Service.APPRISE, "tgram"),
    ],
    ids=["webhook", "slack-hook", "slack", "slack-elsewhere", "ntfy", "smtp", "mailto", "apprise"],
)
def test_address_says_its_service_and_shows_nothing_secret(address: str, service: Service, host: str) -> None:
    """What is shown is the host, and of a service without one its name."""
    assert (service_of(address), host_of(address)) == (service, host)


def test_message_s_id_is_the_same_for_every_try_and_of_no_other_message() -> None:
    """By it, whoever gets a message twice drops one."""
    target = new_target()
    assert message_id_of(target, 7) == message_id_of(replace(target, failed=3, sequence=40), 7)
    others = {
        message_id_of(replace(target, **change), number)
        for change in ({}, {"name": "x"}, {"project": "q"}, {"since": 9})
        for number in (7, 8)
    }
    assert len(others) == 8


def test_target_of_a_person_is_that_person_s_and_no_agent_has_one() -> None:
    """Whose it is stands in the log; a name may come without its role."""
    (event,) = decide(None, adding(person="sam", stamp=BY_ANA))
    target = evolve(None, event, project="p", sequence=4)
    assert target.person == "human:sam"
    assert [target.is_of(name) for name in ("human:sam", "sam", "human:ana", "", None)] == [
        *(True, True),
        *(False, False, False),
    ]
    assert not new_target().is_of("")
    for name in ("agent:coder", "human:", "operator:ops", " sam"):
        with pytest.raises(BadRequestError):
            decide(None, adding(person=name, stamp=BY_ANA))


def test_target_on_the_word_of_an_agent_s_host_is_refused() -> None:
    """It is no more than a process's."""
    with pytest.raises(ForbiddenError):
        decide(None, adding(assurance=Assurance.HOST, stamp=BY_ANA))
