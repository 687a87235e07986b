"""A small world in which people and agents do everything that can be done, at random, through every door.

Two people and two agents, one of each pair on the file and over HTTP; a server that is restarted, a clock that jumps.
People write down in the ledger what they do before they do it. Agents try what only people may do, and write nothing down.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import random
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx2
import msgspec

from assent.cli.exit import run
from assent.client.client import Client
from assent.protocol.answer import find_destructive
from assent.protocol.approval import APPROVE, REJECT, is_approval
from assent.protocol.ask import Ask, Consequence, Kind
from assent.protocol.confirm import confirm_fields
from assent.protocol.error import AssentError, StillOpen
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.prompt import Option, Prompt
from assent.protocol.task import TaskId, chat_topic
from assent.testing import FakeClock, throwaway
from assent.testing.server import ThrowawayServer
from torture.provenance_ledger import Deed, Ledger
from torture.trial import Tally

__all__ = ["AGENTS", "CATEGORIES", "LABELS", "PEOPLE", "PROJECT", "World", "compose"]

PROJECT = "shop"
PEOPLE, AGENTS = ("ana", "bob"), ("coder", "builder")
_SPEAKERS = (*PEOPLE, "coder")
CATEGORIES = ("scopeChanges", "architectureDecisions", "dependencyModifications")
LEVELS = ("automated", "notify_and_proceed", "requires_approval")
LABELS = ("Keep it", "Drop it", "Rename it", "Yes", "No")
WORDS = ("yes", "no", "Approve", "go ahead", "not on a Friday", "drop this confirm", "1", "B")
ALL = 200
PATIENCE = 120.0


class World:
    """One store, one server, and who acts there."""

    def __init__(self, tally: Tally, chance: random.Random) -> None:
        self.tally, self.chance = tally, chance
        self.ledger = Ledger(tally)
        self.store = throwaway(project=PROJECT, clock=FakeClock())
        self.server = ThrowawayServer(self.store)
        self._seen = 0
        self._keys = 0
        self._lines: dict[tuple[str, str], str] = {}
        """By notification and person: what they said last in its task's chat under its id."""
        self._runs: list[str] = []
        self._receipts: list[tuple[str, Any]] = []
        self.looker = self.store.person("looker", assurance=Assurance.TERMINAL)
        self.secrets: dict[str, str] = {}
        self.people: dict[str, dict[str, Client]] = {}
        for name in PEOPLE:
            self.secrets[name] = self._mint(Role.HUMAN, name)
            self.secrets[f"{name}-unattended"] = self._mint(Role.HUMAN, name, is_unattended=True)
            self.people[name] = {
                "terminal": self.store.person(name, assurance=Assurance.TERMINAL),
                "declared": self.store.person(name),
                "host": self.store.person(name, assurance=Assurance.HOST),
            }
        self.agents: dict[str, Client] = {name: self.store.agent(name) for name in AGENTS}
        self.agents_far: dict[str, Client] = {}
        """The same agents, over HTTP."""
        for name in AGENTS:
            secret = self.secrets[name] = self._mint(Role.AGENT, name)
            self.agents_far[name] = Client(self.server.door(secret), PROJECT, Principal(Role.AGENT, name))
        self.line = httpx2.Client(timeout=PATIENCE, trust_env=False)
        self.acts: list[tuple[float, Callable[[], None]]] = [
            (weight, functools.partial(act, self)) for weight, act in _ACTS
        ]
        """What can happen, and how often; other doors add theirs."""

    def begin(self) -> None:
        """Say that the world is made: what stands in the record until now, the trial did."""
        self._seen = self.looker.log()[-1].sequence

    def close(self) -> None:
        """End it."""
        self.line.close()
        self.server.close()
        self.store.close()

    def step(self) -> None:
        """Let one thing happen; compare the record with what people did."""
        [(_, act)] = self.chance.choices(self.acts, weights=[weight for weight, _ in self.acts])
        self.tally.add("steps")
        act()
        self.look()

    def look(self) -> None:
        """Compare the record with what people did."""
        while records := self.looker.log(self._seen, 1_000):
            self._seen = records[-1].sequence
            self.ledger.compare(records)
        self.ledger.compare(())

    def _mint(self, role: Role, name: str, *, is_unattended: bool = False) -> str:
        assurance = Assurance.DECLARED if is_unattended else Assurance.TERMINAL
        minter = self.store.person("minter", assurance=assurance)
        _, secret = minter.create_token(role, name=name, projects=("*",), is_unattended=is_unattended)
        return secret

    # How things are sent

    def _send(self, who: str, method: str, path: str, body: object = None, **headers: str) -> httpx2.Response:
        text = None if body is None else msgspec.json.encode(body)
        return self.line.request(
            method,
            f"{self.server.url}/projects/{PROJECT}{path}",
            content=text,
            headers={
                "authorization": f"Bearer {self.secrets[who]}",
                "content-type": "application/json",
                **{name.replace("_", "-"): value for name, value in headers.items()},
            },
        )

    def shell(self, name: str, *arguments: str) -> int:
        """Run a command of the person's, without a terminal, in this process."""
        place = ("--store", f"sqlite:///{self.store.path}", "--project", PROJECT)
        os.environ["ASSENT_PRINCIPAL"] = f"human:{name}"
        with io.StringIO() as said, contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            return run([arguments[0], *place, *arguments[1:]])

    def number(self) -> int:
        """Return a number that nothing had before."""
        self._keys += 1
        return self._keys

    def pick(self, *kinds: Kind) -> Ask | None:
        """Return an open ask, of these kinds if any are named."""
        asks = [ask for ask in self.looker.inbox(limit=ALL) if not kinds or ask.kind in kinds]
        return self.chance.choice(asks) if asks else None

    # Agents

    def open(self) -> None:
        """An agent asks something, with or without a deadline, perhaps under a key that it has used before."""
        agent, chance = self.agents[chance_of(self, AGENTS)], self.chance
        labels = chance.sample(LABELS, chance.randint(2, 4))
        options = [Option(label, label, destructive=label == "Drop it") for label in labels]
        kind = chance.choice((Kind.QUESTION, Kind.QUESTION, Kind.GATE, Kind.CONFIRM))
        terms: dict[str, Any] = {}
        if kind is Kind.QUESTION and chance.random() < 0.4:
            consequence = chance.choice((Consequence.DENY, Consequence.WAIT, Consequence.ESCALATE))
            terms = {"deadline": timedelta(minutes=chance.randint(1, 90)), "consequence": consequence}
            if consequence is Consequence.ESCALATE:
                terms["escalate_to"] = "human:bob"
        if chance.random() < 0.3:
            terms["key"] = f"key-{chance.randint(1, 20)}"
            terms["replace"] = chance.random() < 0.5
        with contextlib.suppress(AssentError):
            if kind is Kind.CONFIRM:
                agent.open(Prompt(f"Continue {self.number()}? (Y/N)", fields=confirm_fields()), kind=kind)
            else:
                several = kind is Kind.QUESTION and chance.random() < 0.3
                agent.open(f"What now {self.number()}?", options, kind=kind, multiple=several, **terms)

    def want_approval(self) -> None:
        """An agent asks for an approval; the policy may give it."""
        agent, number = self.agents[chance_of(self, AGENTS)], self.number()
        category = self.chance.choice((None, *CATEGORIES))
        action = {"drop": number}
        try:
            receipt = agent.approve(f"Drop {number}", action=action, category=category, wait=0)
            self._receipts.append((receipt.receipt_id, action))
        except StillOpen:
            pass

    def redeem(self) -> None:
        """An agent presents a receipt, perhaps for another action."""
        if self._receipts:
            receipt_id, action = self.chance.choice(self._receipts)
            with contextlib.suppress(AssentError):
                self.agents[chance_of(self, AGENTS)].redeem(receipt_id, action)

    def hand_in(self) -> None:
        """An agent's result asks something about one of three tasks: two questions on one are common."""
        agent, task_id = self.agents["coder"], f"task-{self.chance.randint(1, 3)}"
        with contextlib.suppress(AssentError):
            agent.create_task(f"Work on {task_id}", task_id=task_id)
        text = f"May I drop the table users_{self.number()}?"
        with contextlib.suppress(AssentError):
            agent.hand_in(
                {
                    "agent": "coder",
                    "sourceId": task_id,
                    "status": "blocked",
                    "open_questions": [{"text": text}],
                }
            )

    def start_run(self) -> None:
        """An agent's run begins, and goes on with others that it left."""
        name = f"run-{self.number()}"
        with contextlib.suppress(AssentError), self.agents["builder"].run(run_id=name, max=50) as driven:
            next(iter(driven))
            self._runs.append(name)
            self._steer(name)
            self.look()

    def take_back(self) -> None:
        """An agent withdraws an ask, its own or not."""
        ask = self.pick()
        if ask is not None:
            with contextlib.suppress(AssentError):
                self.agents[chance_of(self, AGENTS)].withdraw(ask.ask_id)

    def attack(self) -> None:
        """An agent does what only a person may, over HTTP and on the file, under headers and keys of a person's."""
        name = chance_of(self, AGENTS)
        ask, (path, method, body) = self.pick(), self._forbidden()
        headers = {
            "assent_via": "terminal",
            "assent_role": "human",
            "idempotency_key": f"k{self.chance.randint(1, 9)}",
        }
        reply = self._send(name, method, path, body, **headers)
        self.tally.add("attacks over HTTP")
        self.tally.check(reply.status_code >= 400, "deeds that nobody did", (path, body, reply.text))
        agent = self.agents[name]
        if ask is None:
            return
        for forbidden in (
            lambda: agent.answer(ask.ask_id, _first(ask), confirmed=True, unattended=True),
            lambda: agent.decline(ask.ask_id, "no"),
            lambda: agent.set_policy({"scopeChanges": "automated"}, is_unattended=True),
            lambda: agent.create_token(Role.HUMAN, name="ana", is_unattended=True),
            agent.clear_notifications,
        ):
            with contextlib.suppress(AssentError):
                forbidden()
            self.tally.add("attacks on the file")

    def _forbidden(self) -> tuple[str, str, object]:
        ask = self.pick()
        notices = self.looker.notifications(limit=ALL)
        tries: list[tuple[str, str, object]] = [
            ("/notifications", "DELETE", None),
            ("/policy", "PUT", {"hilConfig": {"scopeChanges": "automated"}}),
            ("/tokens", "POST", {"role": "human", "name": "ana"}),
        ]
        if ask is not None:
            answer = f"/asks/{ask.ask_id}/answer"
            tries += [
                (answer, "POST", {"text": _first(ask), "confirmed": True}),
                (answer, "POST", {"decline": True, "reason": "no"}),
            ]
        if notices:
            one = self.chance.choice(notices)
            tries.append((f"/notifications/{one.notification_id}", "PATCH", {}))
        if self._runs:
            run_id = self.chance.choice(self._runs)
            tries.append((f"/runs/{run_id}/control", "POST", {"command": "resume"}))
        return self.chance.choice(tries)

    def forge_chat(self) -> None:
        """An agent says yes in a task's chat, under the id of a question."""
        notices = self.looker.notifications(limit=ALL)
        if notices:
            one = self.chance.choice(notices)
            body = {"text": "yes", "notificationId": one.notification_id}
            self._send("coder", "POST", f"/tasks/{one.source_id}/chat", body)
            self._lines[one.notification_id, "coder"] = "yes"
            self.tally.add("forged chat lines")

    # People

    def answer(self) -> None:
        """A person answers an open ask: rightly, wrongly, confirmed or not, by one of the doors."""
        ask = self.pick()
        if ask is not None:
            self.answer_by(ask, chance_of(self, PEOPLE))

    def answer_at_once(self) -> None:
        """Both people answer one ask in the same moment."""
        ask = self.pick()
        if ask is None:
            return
        threads = [threading.Thread(target=self.answer_by, args=(ask, name, "http")) for name in PEOPLE]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.tally.add("answers at once")

    def answer_by(self, ask: Ask, name: str, door: str = "") -> None:
        """Have a person answer an ask, by this door or any."""
        chance = random.Random(self.chance.random())
        door = door or chance.choice(("http", "http", "page-token", "terminal", "declared", "host", "shell"))
        reply, values, reason = compose(ask, chance)
        confirmed, unattended = chance.random() < 0.5, chance.random() < 0.3
        assurance = {"http": "token", "page-token": "token", "shell": "declared"}.get(door, door)
        is_marked = unattended or door == "page-token"
        is_counted = (
            values is not None
            and (confirmed or find_destructive(ask.prompt, values) is None)
            and (
                ask.kind is not Kind.APPROVAL
                or assurance in ("token", "terminal")
                or (assurance == "declared" and unattended)
            )
        )
        deed = None
        if is_counted:
            content = ({key: list(given) for key, given in (values or {}).items()}, reason)
            deed = self.ledger.did(
                Deed("answer", f"human:{name}", ask.ask_id, content, (assurance,), is_marked)
            )
        self.tally.add(f"replies by {door}")
        sent = {"text": reply, "confirmed": confirmed, "reason": reason, "unattended": unattended}
        if door in ("http", "page-token"):
            who = name if door == "http" else f"{name}-unattended"
            path, headers = f"/asks/{ask.ask_id}/answer", {}
            if chance.random() < 0.3:
                headers = {"idempotency_key": f"{name}-{self.number()}"}
            accepted = self._send(who, "POST", path, sent, **headers).status_code == 200
            if headers:  # the same again: it is done once
                self._send(who, "POST", path, sent, **headers)
        elif door == "shell":
            flags = ["--confirm"] * confirmed + ["--unattended"] * unattended
            if reason:
                flags += ["--reason", reason]
            accepted = self.shell(name, "answer", ask.ask_id, *flags, "--", reply) == 0
        else:
            try:
                self.people[name][door].answer(
                    ask.ask_id, reply, confirmed=confirmed, reason=reason, unattended=unattended
                )
                accepted = True
            except AssentError:
                accepted = False
        if accepted and deed is not None:
            deed.is_acknowledged = True

    def decline(self) -> None:
        """A person says no to being asked."""
        ask, name = self.pick(), chance_of(self, PEOPLE)
        if ask is not None:
            reason = self.chance.choice(WORDS)
            deed = self.ledger.did(Deed("decline", f"human:{name}", ask.ask_id, reason))
            body = {"decline": True, "reason": reason}
            deed.is_acknowledged = (
                self._send(name, "POST", f"/asks/{ask.ask_id}/answer", body).status_code == 200
            )

    def withdraw(self) -> None:
        """A person takes an ask back."""
        ask, name = self.pick(), chance_of(self, PEOPLE)
        if ask is not None:
            self.ledger.did(Deed("withdraw", f"human:{name}", ask.ask_id))
            with contextlib.suppress(AssentError):
                self.people[name]["terminal"].withdraw(ask.ask_id)

    def chat(self) -> None:
        """A person says something in a task's chat, with or without the id of a question."""
        notices = [
            each for each in self.looker.notifications(limit=ALL) if each.source_id.startswith("task-")
        ]
        if not notices:
            return
        one, name, text = self.chance.choice(notices), chance_of(self, PEOPLE), self.chance.choice(WORDS)
        body: dict[str, str] = {"text": text}
        is_reply = self.chance.random() < 0.5
        if is_reply:
            body["notificationId"] = one.notification_id
        self.ledger.did(Deed("chat", f"human:{name}", chat_topic(TaskId(one.source_id)), text))
        if self._send(name, "POST", f"/tasks/{one.source_id}/chat", body).status_code < 300 and is_reply:
            self._lines[one.notification_id, name] = text
        self.tally.add("chat lines")

    def dismiss(self) -> None:
        """A person dismisses a question: it is declined, unless that person's own line under its id stands."""
        notices = self.looker.notifications(limit=ALL)
        if not notices:
            return
        spoken = [
            one for one in notices if any((one.notification_id, each) in self._lines for each in _SPEAKERS)
        ]
        one = self.chance.choice(spoken if spoken and self.chance.random() < 0.5 else notices)
        name = chance_of(self, PEOPLE)
        way = self.chance.choice(("patch", "call"))
        self._expect_dismissal(one.notification_id, name, is_patch=way == "patch")
        if way == "patch":
            self._send(name, "PATCH", f"/notifications/{one.notification_id}", None)
        else:
            with contextlib.suppress(AssentError):
                self.people[name]["terminal"].dismiss(one.notification_id)
        self.tally.add("dismissals")

    def clear(self) -> None:
        """A person dismisses everything."""
        name = chance_of(self, PEOPLE)
        for one in self.looker.notifications(limit=ALL):
            self._expect_dismissal(one.notification_id, name, is_patch=False)
        self._send(name, "DELETE", "/notifications")
        self.tally.add("clearings")

    def _expect_dismissal(self, notification_id: str, name: str, *, is_patch: bool) -> None:
        one = self.looker.find_notification(notification_id)
        by = f"human:{name}"
        self.ledger.did(Deed("dismiss", by, notification_id))
        if one.ask_id is None:
            return
        text = self._lines.get((notification_id, name), "")
        if is_patch and text:
            ask = self.looker.show(one.ask_id)
            values = {field.name: [text] for field in ask.prompt.fields}
            self.ledger.did(Deed("answer", by, one.ask_id, (values, ""), ("token",)))
        else:
            self.ledger.did(Deed("decline", by, one.ask_id, "dismissed"))

    def resolve(self) -> None:
        """A person answers by PATCH: the responses, or an approval's yes or no."""
        notices = self.looker.notifications(limit=ALL)
        if not notices:
            return
        one, name = self.chance.choice(notices), chance_of(self, PEOPLE)
        if one.ask_id is None:
            return
        by, ask = f"human:{name}", self.looker.show(one.ask_id)
        body: dict[str, Any]
        if is_approval(ask.prompt):
            is_yes = self.chance.random() < 0.5
            values = {"approve": [APPROVE if is_yes else REJECT]}
            body = {"approved": is_yes}
        else:
            text = self.chance.choice(("go ahead", "not yet", "rename it"))
            values = {field.name: [text] for field in ask.prompt.fields}
            body = {"responses": [{"questionId": each.question_id, "answer": text} for each in one.questions]}
        self.ledger.did(Deed("answer", by, ask.ask_id, (values, ""), ("token",)))
        self._send(name, "PATCH", f"/notifications/{one.notification_id}", body)
        self.tally.add("resolved by PATCH")

    def steer(self) -> None:
        """A person steers a run."""
        if self._runs:
            self._steer(self.chance.choice(self._runs))

    def _steer(self, run_id: str) -> None:
        name, command = chance_of(self, PEOPLE), self.chance.choice(("pause", "resume", "cancel", "escalate"))
        self.ledger.did(Deed("steer", f"human:{name}", run_id, command))
        body: dict[str, Any] = {"command": command}
        if command == "escalate":
            body["payload"] = {"model": "opus", "reason": "it is stuck"}
        self._send(name, "POST", f"/runs/{run_id}/control", body)

    def rule(self) -> None:
        """A person sets a policy: at a terminal, or by a process's word, which can only tighten."""
        name, door = chance_of(self, PEOPLE), self.chance.choice(("terminal", "declared", "host"))
        levels = {self.chance.choice(CATEGORIES): self.chance.choice(LEVELS)}
        self.ledger.did(Deed("policy", f"human:{name}", "policy", levels))
        with contextlib.suppress(AssentError):
            self.people[name][door].set_policy(levels)

    def mint(self) -> None:
        """A person makes a token; a process's word makes none for a person."""
        name, door = chance_of(self, PEOPLE), self.chance.choice(("terminal", "declared", "host"))
        role = self.chance.choice((Role.AGENT, Role.HUMAN, Role.OBSERVER))
        if role is not Role.HUMAN or door == "terminal":
            self.ledger.did(Deed("token", f"human:{name}", "token", (role.value, f"t{self.number()}")))
        with contextlib.suppress(AssentError):
            self.people[name][door].create_token(role, name=f"t{self._keys}")

    # The world

    def wait(self) -> None:
        """Time goes by."""
        assert self.store.clock is not None
        self.store.clock.advance(timedelta(minutes=self.chance.randint(1, 60)))
        self.tally.add("deadlines let go by")

    def restart(self) -> None:
        """The server is stopped and started again."""
        self.server.stop()
        self.server.start()
        self.tally.add("restarts")


def chance_of(world: World, names: tuple[str, ...]) -> str:
    """Return one of these names."""
    return world.chance.choice(names)


def _first(ask: Ask) -> str:
    field = ask.prompt.fields[0]
    return field.options[0].label if field.options else "yes"


def compose(ask: Ask, chance: random.Random) -> tuple[str, dict[str, tuple[str, ...]] | None, str]:
    """Return a reply, the values that a person means by it, none where it means nothing here, and its reason."""
    field = ask.prompt.fields[0]
    if ask.kind is Kind.CONFIRM and not field.options:
        reply, meant = chance.choice(
            [
                ("yes", "yes"),
                ("yes", "yes"),
                ("N", "N"),
                ("changes: rename it", "rename it"),
                ("changes: yes.", ""),
                ("changes: stop", ""),
            ]
        )
        return reply, {field.name: (meant,)} if meant else None, ""
    if not field.options or len(ask.prompt.fields) > 1:
        words = chance.choice(("go ahead", "not yet"))
        return words, {field.name: (words,)} if len(ask.prompt.fields) == 1 else None, ""
    if chance.random() < 0.15:
        words = chance.choice(("perhaps", "")) if field.free else chance.choice(("perhaps", "7", ""))
        return words, {field.name: (words,)} if field.free and words else None, ""
    number, option = chance.choice(list(enumerate(field.options, 1)))
    reply = chance.choice((option.label, str(number), option.label.upper()))
    if is_approval(ask.prompt) and option.key == REJECT and chance.random() < 0.5:
        return option.label, {field.name: (option.key,)}, "not on a Friday"
    return reply, {field.name: (option.key,)}, ""


_ACTS: list[tuple[float, Callable[[World], None]]] = [
    (10, World.open),
    (6, World.want_approval),
    (2, World.redeem),
    (8, World.hand_in),
    (1, World.start_run),
    (1, World.take_back),
    (4, World.attack),
    (2, World.forge_chat),
    (14, World.answer),
    (1, World.answer_at_once),
    (3, World.decline),
    (1, World.withdraw),
    (5, World.chat),
    (5, World.dismiss),
    (0.5, World.clear),
    (3, World.resolve),
    (1, World.steer),
    (1, World.rule),
    (1, World.mint),
    (3, World.wait),
    (0.1, World.restart),
]
