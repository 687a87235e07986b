"""The workers of the server trial: agents, people and listeners, in processes of their own that are never killed.

Each says what it was told was done, and nothing else: what was sent and never acknowledged may have happened or not.
Whatever a worker does is done through the public client, which sends again what a dying server did not answer.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from assent.client.client import Client
from assent.protocol.ask import Ask
from assent.protocol.error import ConflictError, NoAnswer, NotFoundError, RunTakenError
from torture.nursery import Wire
from torture.site import Trusted, caller

__all__ = ["OPTIONS", "TOPIC", "agents", "people"]

OPTIONS = ("Go on", "Stop here", "Ask again")
TOPIC = "notes"
_TURNS = 4
_PATIENCE = 90.0
"""How long a reply to something that people must do may take, deaths of the server included."""

Body = Callable[[], None]


class _Crew:
    """The threads of one process: each repeats one piece of work until the trial calls for rest."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._is_over = threading.Event()
        self._threads: list[threading.Thread] = []

    def say(self, kind: str, **message: Any) -> None:
        """Tell the trial of something that was done."""
        self._wire.say(kind=kind, **message)

    def add(self, body: Body, *, lasts: bool = False) -> None:
        """Have a piece of work repeated; with `lasts` until this process ends."""
        thread = threading.Thread(target=self._repeat, args=(body, lasts), daemon=True)
        self._threads += [] if lasts else [thread]
        thread.start()

    def run(self) -> None:
        """Work until the trial calls for rest, and say when it is here."""
        self._wire.say(kind="ready")
        self._wire.hear()
        self._is_over.set()
        for thread in self._threads:
            thread.join(2 * _PATIENCE)
        self._wire.say(kind="rested")
        self._wire.hear()

    def _repeat(self, body: Body, lasts: bool) -> None:
        while lasts or not self._is_over.is_set():
            try:
                body()
            except Exception as error:  # noqa: BLE001 - whatever it is, the trial must hear of it
                self._wire.say(kind="trouble", what=f"{body.__qualname__}: {error!r}")


def agents(wire: Wire, who: list[Trusted]) -> None:
    """Ask, wait, withdraw, ask for approval, work on tasks, post and drive runs."""
    crew = _Crew(wire)
    trusted = msgspec.convert(who, list[Trusted])
    makers = (_asker, _asker, _approver, _coder, _poster, _driver)
    for number, make in enumerate(makers):
        agent = trusted[number % len(trusted)]
        crew.add(make(crew, _acquainted(agent), _names(number)))
    crew.run()


def people(wire: Wire, who: list[Trusted]) -> None:
    """Answer, decline, resolve and steer. They go on while the agents come to rest, or those would wait for ever."""
    crew = _Crew(wire)
    trusted = msgspec.convert(who, list[Trusted])
    for number, make in enumerate((_answerer, _answerer, _resolver, _steerer)):
        person = trusted[number % len(trusted)]
        crew.add(make(crew, _acquainted(person), person.name), lasts=True)
    crew.run()


def _acquainted(who: Trusted) -> Client:
    """Return a client that has spoken with the server: one that never answered is given up sooner."""
    client = caller(who)
    client.count()
    return client


def _names(number: int) -> Iterator[str]:
    return (f"{number}-{count}" for count in itertools.count())


def _asker(crew: _Crew, client: Client, names: Iterator[str]) -> Body:
    def ask() -> None:
        name = next(names)
        # Without a key of its own nothing but the command's id keeps it from being opened twice.
        key = f"key-{name}" if random.random() < 0.5 else None
        handle = client.open(f"Question {name}?", OPTIONS, key=key)
        crew.say("opened", ask_id=handle.ask_id, title=f"Question {name}?")
        if random.random() < 0.15:
            try:
                handle.withdraw()
            except ConflictError:
                pass
            else:
                crew.say("withdrawn", ask_id=handle.ask_id)
        ended = client.wait(handle.ask_id, _PATIENCE)
        values = None if ended.answer is None else {k: list(v) for k, v in ended.answer.values.items()}
        crew.say("woken", ask_id=ended.ask_id, state=ended.state, values=values)

    return ask


def _approver(crew: _Crew, client: Client, names: Iterator[str]) -> Body:
    def approve() -> None:
        action = {"does": next(names)}
        try:
            receipt = client.approve(f"Do {action['does']}", action=action, wait=_PATIENCE)
        except NoAnswer:
            return
        crew.say("granted", receipt_id=receipt.receipt_id)
        client.redeem(receipt.receipt_id, action)
        crew.say("redeemed", receipt_id=receipt.receipt_id)
        try:
            client.redeem(receipt.receipt_id, action)
        except ConflictError:
            return
        crew.say("spent again", receipt_id=receipt.receipt_id)

    return approve


def _coder(crew: _Crew, client: Client, names: Iterator[str]) -> Body:
    def work() -> None:
        task_id = f"T-{next(names)}"
        client.create_task(f"Build {task_id}", task_id=task_id)
        crew.say("task", task_id=task_id)
        questions = [{"text": f"Which way for {task_id}?"}, {"text": f"And how far for {task_id}?"}]
        handed = client.hand_in(
            {"agent": "Coder", "sourceId": task_id, "status": "failed", "open_questions": questions}
        )
        assert handed.notification is not None
        crew.say("handed", task_id=task_id, notification_id=handed.notification.notification_id)
        until = time.monotonic() + _PATIENCE
        while client.find_task(task_id).status != "open":
            if time.monotonic() > until:
                raise TimeoutError(f"Nobody answered for {task_id}.")
            time.sleep(0.02)
        crew.say("clarified", task_id=task_id, text=client.clarify(task_id))

    return work


def _poster(crew: _Crew, client: Client, names: Iterator[str]) -> Body:
    def post() -> None:
        name = next(names)
        message = client.post(TOPIC, {"note": name})
        crew.say("posted", note=name, sequence=message.sequence)

    return post


def _driver(crew: _Crew, client: Client, names: Iterator[str]) -> Body:
    del names

    def drive() -> None:
        try:
            with client.run(max=_TURNS, model="haiku") as run:
                for turn in run:
                    crew.say("turn", run_id=run.run_id, number=turn.number)
        except (NoAnswer, RunTakenError):
            return

    return drive


def _answerer(crew: _Crew, client: Client, name: str) -> Body:
    tried: set[str] = set()

    def answer() -> None:
        waiting = [ask for ask in client.inbox() if ask.ask_id not in tried and not _is_about_task(ask)]
        for ask in random.sample(waiting, min(3, len(waiting))):
            tried.add(ask.ask_id)
            is_approval = ask.kind == "approval"
            field = ask.prompt.fields[0]
            option = field.options[0] if is_approval else random.choice(field.options)
            try:
                if not is_approval and random.random() < 0.15:
                    client.decline(ask.ask_id, name)
                    crew.say("declined", ask_id=ask.ask_id, by=name)
                else:
                    client.answer(ask.ask_id, {field.name: option.key})
                    crew.say("answered", ask_id=ask.ask_id, by=name, values={field.name: [option.key]})
            except ConflictError as error:
                ending = error.ask and (error.ask.answer or error.ask.outcome)
                crew.say("refused", ask_id=ask.ask_id, by=name, winner=ending.by if ending else "")
        if not waiting:
            time.sleep(0.01)

    return answer


def _is_about_task(ask: Ask) -> bool:
    # Those are answered by resolving their notification, as the protocol has it.
    return ask.prompt.title.startswith(("Which way", "And how far")) or ask.kind not in (
        "question",
        "approval",
    )


def _resolver(crew: _Crew, client: Client, name: str) -> Body:
    del name

    def resolve() -> None:
        waiting = [note for note in client.notifications() if note.kind == "open_question"]
        for note in waiting:
            text = f"By the left for {note.source_id}"
            client.resolve(note.notification_id, text)
            crew.say("resolved", notification_id=note.notification_id, task_id=note.source_id, text=text)
        if not waiting:
            time.sleep(0.01)

    return resolve


def _steerer(crew: _Crew, client: Client, name: str) -> Body:
    del name

    def steer() -> None:
        for run in client.runs():
            command = random.choice(("pause", "pause", "escalate", "cancel"))
            model = "opus" if command == "escalate" else None
            try:
                result = client.control(run.run_id, command, model=model)
                crew.say("steered", command=command, status=result.payload["status"])
                if command == "pause":
                    result = client.control(run.run_id, "resume")
                    crew.say("steered", command="resume", status=result.payload["status"])
            except (NotFoundError, ConflictError):
                continue
        time.sleep(0.05)

    return steer
