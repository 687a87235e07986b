"""People who answer from elsewhere, as doors of the world: replies on a pull request, and presses in Slack.

What counts is a reply that the person wrote, as it stands, to this ask; and a press of somebody whom the target names, on
the message that was sent. Everything else that arrives, signed or not, is nobody's deed.
"""

from __future__ import annotations

import hmac
import re
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.testclient import TestClient

from assent.client.client import blocking
from assent.client.embedded import EmbeddedDoor
from assent.client.outbox import Outbox, add_target
from assent.protocol.answer import find_destructive
from assent.protocol.ask import Ask
from assent.protocol.principal import Assurance
from assent.protocol.target import Secret, What
from assent.surfaces.http.site import Site
from assent.surfaces.http.slack import SIGNED_SECONDS, SLACK_PATH, slack_routes
from assent.surfaces.notify.delivery import Parcel
from assent.surfaces.notify.sender import Sender
from assent.surfaces.notify.slack import WORDS, Press, read_press, render_blocks
from torture.comments import Office
from torture.comments_cases import FLAWS, Draft
from torture.provenance_ledger import Deed
from torture.provenance_world import PEOPLE, World, compose

__all__ = ["PullRequests", "Slack"]

_SLACK_SECRET = "a secret of Slack's"
_CHANNEL = "C0SHOP"
_NAMED = {"U0ANA": "ana", "U0BOB": "bob"}
_STRANGER = "U0EVE"
_MOST_KEPT = 40
_WORD = re.compile(r"`/gate \w+ (?P<word>yes|confirm)`")


class PullRequests:
    """One pull request after the other, with a gate of an open ask on each."""

    def __init__(self, world: World) -> None:
        self._world, self._office = world, Office(world.store, world.chance)
        world.acts.append((4, self.reply))

    def reply(self) -> None:
        """Somebody replies to an open ask: rightly, or with a flaw; what cannot be undone is asked once more."""
        world, chance, forge = self._world, self._world.chance, self._office.forge
        ask, name = world.pick(), chance.choice(PEOPLE)
        risky = [each for each in world.looker.inbox(limit=200) if _risk(each)]
        if risky and chance.random() < 0.5:
            ask = chance.choice(risky)
        assert world.store.clock is not None
        if ask is None:
            return
        forge.begin()
        forge.at = world.store.clock.at
        reply, values, reason = compose(ask, chance)
        if (label := _risk(ask)) and chance.random() < 0.5:
            reply, values, reason = label, {ask.prompt.fields[0].name: (label,)}, ""
        said = f"{reply}: {reason}" if reason else reply
        draft = Draft(f"{name}-{forge.number}", "write", f"/gate {ask.ask_id[-6:]} {said}")
        flaw = chance.choice(list(FLAWS)) if chance.random() < 0.4 else ""
        is_risky = values is not None and find_destructive(ask.prompt, values) is not None
        deed = None
        if values is not None and not flaw and not is_risky:
            deed = self._did(ask, draft, values, reason)
        if flaw:
            draft = FLAWS[flaw](draft, chance)
        told = self._office.send(*self._office.write(ask.ask_id, draft))
        _acknowledge(deed, told)
        world.tally.add("replies with a flaw" if flaw else "replies by comment")
        if is_risky and values is not None and not flaw:
            self._reply_again(ask, draft, values)

    def _reply_again(self, ask: Ask, draft: Draft, values: dict[str, tuple[str, ...]]) -> None:
        """The same person confirms, or another one tries to, or it is said to another ask."""
        world, chance, forge = self._world, self._world.chance, self._office.forge
        found = _WORD.search(str(forge.comments[-1]["body"]))
        if found is None:
            return
        word, way = (
            found["word"],
            chance.choice(("same", "same", "other person", "other ask", "edited", "bot")),
        )
        again = replace(draft, body=f"/gate {ask.ask_id[-6:]} {word}")
        deed = None
        if way == "same":
            deed = self._did(ask, again, values, "")
        elif way == "other person":
            again = replace(again, login=f"eve-{forge.number}")
        elif way == "other ask":
            again = replace(again, body=f"/gate zzzzzz {word}")
        elif way == "edited":
            again = replace(again, is_edited=True)
        else:
            again = replace(again, kind="Bot")
        _acknowledge(deed, self._office.send(*self._office.write_more(again)))
        world.tally.add("second replies by comment")

    def _did(self, ask: Ask, draft: Draft, values: dict[str, tuple[str, ...]], reason: str) -> Deed:
        content = ({key: list(given) for key, given in values.items()}, reason)
        number = self._office.forge.account(draft.login)["id"]
        by = f"human:{draft.login}@github"
        return self._world.ledger.did(
            Deed("answer", by, ask.ask_id, content, ("comment",), via=f"github:{number}")
        )


def _risk(ask: Ask) -> str:
    """Return the option that cannot be undone; it has its label for a key."""
    return next(
        (
            option.label
            for option in ask.prompt.fields[0].options
            if option.key == option.label and option.destructive
        ),
        "",
    )


def _acknowledge(deed: Deed | None, told: Any) -> None:
    if deed is not None and told.status_code == 200 and told.json()["status"] == "decided":
        deed.is_acknowledged = True


class _Message(msgspec.Struct, frozen=True):
    """What stands in the channel about an ask."""

    ask_id: str
    at: str
    presses: tuple[str, ...]
    """What its buttons say."""


class Slack:
    """A channel in memory, and whoever presses what stands in it."""

    def __init__(self, world: World) -> None:
        self._world = world
        hub = world.store.hub()
        self._messages: list[_Message] = []
        self._sender = Sender(Outbox(hub), self._now, self._carry, url="https://assent.example.com")
        site = Site(EmbeddedDoor(hub))
        site.slack_secret = _SLACK_SECRET
        self._line = TestClient(Starlette(routes=slack_routes(site, self._say)), "http://127.0.0.1")
        owner = world.store.person("owner", assurance=Assurance.TERMINAL)
        blocking(add_target)(owner, "team", Secret(f"slack://xoxb-1@{_CHANNEL}", ""), people=_NAMED)
        world.acts.append((3, self.press))

    def _now(self) -> Any:
        assert self._world.store.clock is not None
        return self._world.store.clock.at

    async def _say(self, url: str, text: str) -> None:
        """Nobody listens."""

    def _carry(self, parcel: Parcel) -> str:
        if parcel.notice.what is What.ENDED or parcel.notice.reference:
            return parcel.notice.reference
        at = f"{self._world.number()}.000100"
        blocks = render_blocks(parcel.notice.ask, parcel.letter, has_buttons=True)
        presses = [
            each["value"] for block in blocks if block["type"] == "actions" for each in block["elements"]
        ]
        self._messages.append(_Message(parcel.notice.ask.ask_id, at, tuple(presses)))
        del self._messages[:-_MOST_KEPT]
        return f"{_CHANNEL}:{at}"

    def press(self) -> None:
        """Somebody presses a button: a person whom the target names, a stranger; in time, late, twice, elsewhere."""
        world, chance = self._world, self._world.chance
        while self._sender.send_due():
            pass
        if not self._messages:
            return
        message = chance.choice(self._messages)
        press = read_press(chance.choice(message.presses))
        ask = world.looker.show(message.ask_id)
        user = chance.choice((*_NAMED, _STRANGER))
        flaw = chance.choice(("", "", "", "late", "unsigned", "elsewhere", "another prompt", "another ask"))
        payload = self._payload(message, press, user)
        if flaw == "elsewhere":
            payload = self._payload(replace(message, at="1.000100"), press, user)
        elif flaw == "another prompt":
            payload = self._payload(message, replace(press, digest="0" * 64), user)
        elif flaw == "another ask":
            other = chance.choice(self._messages)
            is_other = other.ask_id != message.ask_id
            payload = self._payload(message, replace(press, ask_id=other.ask_id) if is_other else press, user)
            flaw = flaw if is_other else ""
        if not flaw and user in _NAMED and ask.is_open:
            self._did(ask, press, user)
        sent = self._sign(payload, late=SIGNED_SECONDS + 1 if flaw == "late" else 0)
        if flaw == "unsigned":
            sent[1]["x-slack-signature"] = "v0=" + "0" * 64
        self._line.post(SLACK_PATH, content=sent[0], headers=sent[1])
        if chance.random() < 0.3:  # the same again, and the other button
            self._line.post(SLACK_PATH, content=sent[0], headers=sent[1])
            world.tally.add("presses again")
        world.tally.add("presses with a flaw" if flaw else "replies by slack")

    def _did(self, ask: Ask, press: Press, user: str) -> None:
        by = f"human:{_NAMED[user]}@slack"
        if press.key is None:
            deed = Deed("decline", by, ask.ask_id, "not now" if press.has_words else "")
        else:
            content = ({ask.prompt.fields[0].name: [press.key]}, "")
            deed = Deed("answer", by, ask.ask_id, content, ("declared",), via=f"slack:{user}")
        self._world.ledger.did(deed).is_acknowledged = True

    @staticmethod
    def _payload(message: _Message, press: Press, user: str) -> dict[str, Any]:
        if press.has_words:  # the dialog that its button opens, filled in and sent
            place = f"{_CHANNEL}:{message.at}"
            metadata = msgspec.json.encode(replace(press, place=place)).decode()
            typed = {"values": {WORDS: {WORDS: {"value": "not now"}}}}
            view = {"private_metadata": metadata, "state": typed}
            return {"type": "view_submission", "user": {"id": user}, "view": view}
        return {
            "type": "block_actions",
            "user": {"id": user},
            "container": {"channel_id": _CHANNEL, "message_ts": message.at},
            "actions": [{"action_id": "assent:1", "value": msgspec.json.encode(press).decode()}],
        }

    def _sign(self, payload: dict[str, Any], *, late: int) -> tuple[bytes, dict[str, str]]:
        body = urlencode({"payload": msgspec.json.encode(payload)}).encode()
        moment = str(int(self._now().timestamp()) - late)
        signed = hmac.new(_SLACK_SECRET.encode(), f"v0:{moment}:".encode() + body, sha256).hexdigest()
        return body, {
            "content-type": "application/x-www-form-urlencoded",
            "x-slack-request-timestamp": moment,
            "x-slack-signature": f"v0={signed}",
        }
