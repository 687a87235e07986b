"""Thousands of deliveries about comments, of people who may answer and of all others: only the first ever count (S8)."""

from __future__ import annotations

import random
from typing import Any

import httpx2
import msgspec
from starlette.testclient import TestClient

from assent.client.client import Client
from assent.client.embedded import EmbeddedDoor
from assent.protocol.principal import Assurance
from assent.protocol.review import PullRequest
from assent.surfaces.comment_gate import post_gate
from assent.surfaces.comment_hook import Hook, sign
from assent.surfaces.http.app import build_app
from assent.surfaces.http.github import ProjectLedger
from assent.surfaces.http.guard import Guard
from assent.surfaces.http.names import names_of
from assent.surfaces.http.site import Site
from assent.testing import FakeClock, ThrowawayStore, throwaway
from torture.comments_cases import FLAWS, FORMS, Draft, disturb
from torture.comments_forge import HEAD, NOW, Forge
from torture.nest import Nest
from torture.nursery import Wire
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["DELIVERIES", "TRIAL", "Office", "deliver", "run"]

DELIVERIES = 2_000
ACCEPTED, DENIED, ALTERED, AGAIN = (
    "accepted outside the allowed set",
    "refused in the allowed set",
    "other words than were written",
    "decided twice",
)
_GOOD = 0.3
"""So many deliveries of all have no flaw."""
_SECRET = "a secret of both sides"
_PORT = 8484
_STATUSES = (200, 401, 429)
"""Taken, not signed, and too many of one author: the poster is the same on every pull request."""


def run(plan: Plan) -> Verdict:
    """Have another process take them all, and look at what it tells of each."""
    tally = Tally((ACCEPTED, DENIED, ALTERED, AGAIN, "failed replies"))
    count = plan.count(DELIVERIES, len(FLAWS))
    met: set[str] = set()
    with Nest(plan.twin, in_memory=True) as nest:
        worker = nest.start("torture.comments:deliver", count=count, seed=plan.seed)
        for _ in range(count):
            _judge(tally, worker.hear(), met)
    tally.add("flaws met", len(met))
    tally.require("deliveries", count)
    tally.require("accepted", max(1, round((count - len(FLAWS)) * _GOOD / 2)))
    tally.require("flaws met", len(FLAWS))
    tally.require("sent again", count // 20)
    return tally.verdict()


def _judge(tally: Tally, told: dict[str, Any], met: set[str]) -> None:
    flaws = told["flaws"]
    met.update(flaws)
    tally.add("deliveries")
    tally.add("with a flaw" if flaws else "without one")
    tally.check(told["status"] in _STATUSES, "failed replies", told)
    if told["is_answered"]:
        tally.add("accepted")
        tally.check(not flaws, ACCEPTED, told)
        tally.check(told["is_faithful"], ALTERED, told)
    else:
        tally.check(bool(flaws), DENIED, told)
    tally.add("sent again", told["sent_again"])
    tally.check(not told["decided_again"], AGAIN, told)


# The worker


def deliver(wire: Wire, count: int, seed: int) -> None:
    """Deliver so many comments, each on a pull request and to an ask of its own; tell what came of each."""
    chance = random.Random(seed)
    with throwaway(clock=FakeClock(NOW)) as store:
        post = Office(store, chance)
        for number in range(count):
            # Each flaw alone at first, so that none is left to chance; then as they come.
            flaws = list(FLAWS)[number : number + 1] or _choose(chance)
            wire.say(**post.deliver(flaws))


def _choose(chance: random.Random) -> list[str]:
    if chance.random() < _GOOD:
        return []
    return chance.sample(list(FLAWS), chance.choice([1, 1, 1, 2, 3]))


class Office:
    """A server that GitHub delivers to."""

    def __init__(self, store: ThrowawayStore, chance: random.Random) -> None:
        self._chance, self.forge = chance, Forge()
        self._agent: Client = store.agent()
        door = EmbeddedDoor(store.hub())
        hook = Hook(self.forge, _SECRET, ProjectLedger(door, store.project))
        guarded = Guard(build_app(Site(door), hook=hook), names_of("127.0.0.1", _PORT))
        self._line = TestClient(guarded, f"http://127.0.0.1:{_PORT}", client=("127.0.0.1", 1))
        self._sent = 0

    def deliver(self, flaws: list[str]) -> dict[str, Any]:
        """Deliver a reply to an ask of its own; return what came of it."""
        forge, chance = self.forge, self._chance
        forge.begin()
        ask_id = self._agent.open("Which colour?", ["Red", "Blue"]).ask_id
        form = chance.choice(FORMS)
        right = chance.choice(["write", "maintain", "admin"])
        draft = Draft(f"ana-{forge.number}", right, form(ask_id[-6:]))
        for flaw in flaws:
            draft = FLAWS[flaw](draft, chance)
        text, headers = self.write(ask_id, draft)
        status = self.send(text, headers).status_code
        found = self._agent.show(ask_id)
        again = self._send_again(ask_id, text, headers) if chance.random() < 0.2 or found.answer else None
        answer = found.answer
        return {
            "flaws": flaws,
            "body": draft.body,
            "status": status,
            "is_answered": answer is not None,
            "is_faithful": answer is not None
            and answer.values == {"q1": ("Blue",)}
            and answer.by == f"human:{draft.login}@github"
            and answer.via == f"github:{forge.numbers[draft.login]}"
            and answer.assurance is Assurance.COMMENT,
            "sent_again": again is not None,
            "decided_again": bool(again),
        }

    def write(self, ask_id: str, draft: Draft) -> tuple[bytes, dict[str, str]]:
        """Put gate and reply on the pull request; return what is delivered."""
        forge = self.forge
        early = self._comment(draft) if draft.is_early else None
        post_gate(forge, PullRequest("acme", "shop", forge.number, HEAD), self._agent.show(ask_id), "n0nce")
        gate = forge.comments[-1]
        if draft.age:  # the gate is as old as the reply, so that only its age speaks against it
            moment = f"2029-01-0{self._chance.randint(1, 9)}T00:00:00Z"
            gate.update(created_at=moment, updated_at=moment)
        reply = early or self._comment(draft)
        disturb(forge, gate, draft)
        return self._pack(draft, dict(reply))

    def write_more(self, draft: Draft) -> tuple[bytes, dict[str, str]]:
        """Put one more comment on the pull request; return what is delivered."""
        return self._pack(draft, dict(self._comment(draft)))

    def _comment(self, draft: Draft) -> dict[str, Any]:
        forge = self.forge
        user = forge.account(draft.login, draft.kind)
        if draft.right is not None:
            forge.rights[draft.login] = draft.right
        comment = forge.write(user, draft.body, app={"id": 1} if draft.app else None, age=draft.age)
        if draft.is_edited:
            forge.edit(comment, draft.body)
        if draft.is_recycled:
            forge.register_again(draft.login)
        return comment

    def _pack(self, draft: Draft, comment: dict[str, Any]) -> tuple[bytes, dict[str, str]]:
        issue = {"number": self.forge.number, "pull_request": {}}
        payload = {
            "action": "created",
            "issue": issue,
            "comment": comment,
            "repository": {"full_name": "acme/shop"},
        }
        event = "issue_comment"
        for what in draft.delivery:
            if what in ("edited", "deleted"):
                payload["action"] = what
            elif what == "plain issue":
                del issue["pull_request"]
            elif what == "other event":
                event = "pull_request_review"
            elif what == "lies":
                helper = f"helper-{self.forge.number}"
                self.forge.rights[helper] = "admin"
                comment["user"] = self.forge.account(helper)
            elif what == "swapped":  # in the same second, so that the comment itself does not tell
                comment["body"] = "Looks good to me."
            elif what == "invents":
                comment["id"] += 1_000_000
        text = msgspec.json.encode(payload)
        headers = {"x-github-event": event, "x-hub-signature-256": sign(_SECRET, text)}
        if "no signature" in draft.delivery:
            headers["x-hub-signature-256"] = sign("another secret", text)
        if "tampered" in draft.delivery:
            text += b" "
        return text, headers

    def send(self, text: bytes, headers: dict[str, str]) -> httpx2.Response:
        """Deliver it."""
        self._sent += 1
        told = {"content-type": "application/json", "x-github-delivery": f"delivery-{self._sent:08}"}
        return self._line.post("/github/webhook", content=text, headers=told | headers)

    def _send_again(self, ask_id: str, text: bytes, headers: dict[str, str]) -> bool:
        """Deliver the same under another name; say whether anything was decided by it."""
        before = len(self._agent.log(self._agent.show(ask_id).sequence))
        self.send(text, headers)
        return len(self._agent.log(self._agent.show(ask_id).sequence)) != before


TRIAL = Trial(
    "comments",
    "of thousands of delivered comments only those count that a person who may wrote, to this gate, as it stands",
    run,
    (
        Twin("any-signature", "the check of a delivery's signature", ACCEPTED, 0.05),
        Twin("any-standing", "the look at what somebody may do", ACCEPTED, 0.05),
        Twin("any-number", "that a login is still the same person's", ACCEPTED, 0.05),
        Twin("edits-count", "that an edited comment says nothing", ACCEPTED, 0.05),
        Twin("swaps-count", "that a comment still says what was delivered", ACCEPTED, 0.05),
        Twin("any-commit", "that the pull request has no newer commit", ACCEPTED, 0.05),
        Twin("quotes-count", "that what is quoted is not said", ACCEPTED, 0.05),
        Twin("old-ones-count", "that an old comment does not count", ACCEPTED, 0.05),
        Twin("any-poster", "that a gate is by somebody who may write", ACCEPTED, 0.05),
        Twin("bots-count", "that bots and apps never answer", ACCEPTED, 0.05),
    ),
)
