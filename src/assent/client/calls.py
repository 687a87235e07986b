"""Every call of a client, once. `Client` blocks on them, `AsyncClient` awaits them; neither has a body of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypedDict, TypeVar, Unpack, overload

from msgspec import structs

from assent.client.door import Call, Door, until
from assent.client.form import Schema, build_answer, form_of
from assent.client.tracing import trace_ask
from assent.flows.question import MOST_IN_A_ROUND, split_prompt
from assent.hub.command import (
    AnswerAsk,
    ClaimAsk,
    DeclineAsk,
    OpenAsk,
    ReportUndelivered,
    Request,
    WithdrawAsk,
    WriteStep,
)
from assent.hub.ids import CommandIds, is_ask_id, new_ask_id, new_command_id, opening_command_id
from assent.hub.record import Record, Step
from assent.protocol.answer import Values
from assent.protocol.ask import Ask, AskId, Consequence, Kind, State
from assent.protocol.canonical import Json, digest
from assent.protocol.catalogue import check_protocol, find_protocol, follow_protocol
from assent.protocol.display import is_encodable, quote
from assent.protocol.ending import render_ending
from assent.protocol.error import (
    AssentError,
    BadPromptError,
    BadRequestError,
    Declined,
    Expired,
    NoAnswer,
    NotFoundError,
    StillOpen,
    Superseded,
    Withdrawn,
)
from assent.protocol.form import form_value
from assent.protocol.principal import Assurance, Principal
from assent.protocol.prompt import Field, Option, Prompt, check_prompt, label_other, question

__all__ = [
    "Calls",
    "Question",
    "Value",
    "check_deadline",
    "ended_otherwise",
    "no_answer",
    "value_of",
    "value_of_form",
]

Value = str | list[str] | dict[str, str | list[str]]
"""A single answer, several chosen options, or a value for each of several questions."""
Question = str | Prompt

_NO_ANSWER: dict[State, type[NoAnswer]] = {
    State.DECLINED: Declined,
    State.WITHDRAWN: Withdrawn,
    State.EXPIRED: Expired,
    State.SUPERSEDED: Superseded,
}
_INBOX = 1_000
MAX_KEY = 500
SHORTEST_ID = 4
"""So many characters of the end of an id, at least, before it is looked for."""
T = TypeVar("T")


def value_of(ask: Ask) -> Value:
    """Return what was answered.

    Raises:
        NoAnswer: the ask ended otherwise; the error's class and code say how.
        StillOpen: it has not ended.
    """
    if ask.answer is None:
        raise no_answer(ask)
    values: dict[str, str | list[str]] = {}
    for field in ask.prompt.fields:
        given = ask.answer.values[field.name]
        values[field.name] = list(given) if field.multiple else given[0]
    return values if len(values) > 1 else next(iter(values.values()))


def value_of_form(ask: Ask) -> dict[str, Json]:
    """Return the object that was answered to a form; its values have the types of the schema.

    Raises:
        NoAnswer: the ask ended otherwise; the error's class and code say how.
        StillOpen: it has not ended.
    """
    if ask.answer is None:
        raise no_answer(ask)
    return form_value(ask.prompt, ask.answer.values)


def no_answer(ask: Ask) -> AssentError:
    """Return the typed error for an ask without an answer."""
    if ask.is_open:
        return StillOpen(ask=ask)
    return _NO_ANSWER[ask.state](render_ending(ask), ask=ask)


def ended_otherwise(state: State, reason: str) -> NoAnswer:
    """Return the typed error for a flow's ask without an answer."""
    return _NO_ANSWER[state](reason or None)


class _FormParts(TypedDict, total=False):
    """What `ask` takes in any case; the types of its arguments, once for both of its forms."""

    body: str
    kind: Kind | str
    key: str | None
    replace: bool
    run_id: str | None
    deadline: datetime | timedelta | None
    consequence: Consequence | str
    escalate_to: str | None
    wait: float | None


class _AskParts(_FormParts, total=False):
    """What `ask` takes without a schema."""

    multiple: bool
    free: bool | None
    protocol: str | None
    other: str


class Calls:
    """What one principal does in one project, through one door."""

    def __init__(  # noqa: PLR0913 - all that a call must know, each with a name
        self,
        door: Door,
        project: str,
        principal: Principal,
        via: str,
        assurance: Assurance,
        run_id: str | None = None,
        find_label: Callable[[], str] = str,
        *,
        is_unattended: bool = False,
    ) -> None:
        self.door = door
        self.project = project
        self.principal = principal
        self.via = via
        self.assurance = assurance
        self.run_id = run_id
        """The run that asks, where nothing else is said."""
        self.find_label = find_label
        """Says which label this project gives to words of one's own; empty for ours."""
        self.is_unattended = is_unattended
        """The credential was made where no person was: everything that is done with it is marked so."""

    def open(  # noqa: PLR0913 - the public call: every part of an ask has a name
        self,
        prompt: Question,
        options: Iterable[str | Option] = (),
        *,
        body: str = "",
        multiple: bool = False,
        free: bool | None = None,
        kind: Kind | str = Kind.QUESTION,
        key: str | None = None,
        replace: bool = False,
        run_id: str | None = None,
        deadline: datetime | timedelta | None = None,
        consequence: Consequence | str = Consequence.WAIT,
        escalate_to: str | None = None,
        protocol: str | None = None,
        other: str = "",
        again: str = "",
        command_id: str = "",
    ) -> Call[Ask]:
        """Ask, and return the stored ask at once; it may have been there before (`replayed`).

        Under a `command_id` of one's own it can be sent again, as often as one likes: it is asked once.

        `protocol` is the id of one of the ask protocols: what does not fit it is refused. `other` is the label of the
        option for one's own words; without it a text gets the project's, and a `Prompt` is shown as it is. `again` is
        why an approval is asked for although a person said no to the same action within a day.

        Raises:
            RejectedBefore: a person said no to it, and there is no `again`; the error carries their ask.
        """
        if isinstance(prompt, str):
            if protocol is not None and free is None:
                free = find_protocol(protocol).is_free
            prompt = question(prompt, options, body=body, multiple=multiple, free=free, other=other)
            prompt = _label(prompt, self.find_label())
            if protocol is not None:
                check_protocol(protocol, prompt)
        else:
            prompt = prompt if protocol is None else follow_protocol(protocol, prompt)
            prompt = _label(prompt, other)
        encoded = check_prompt(prompt)
        if key is not None and not 1 <= len(key) <= MAX_KEY:
            raise BadRequestError(f"A key has 1 to {MAX_KEY} characters.")
        check_deadline(deadline)
        if escalate_to is not None and consequence != Consequence.ESCALATE:
            raise BadRequestError('Somebody to escalate to needs the consequence "escalate".')
        ask_id = new_ask_id()
        if command_id:
            ask_id = self.ids(command_id).new_ask_id()
        request = OpenAsk(
            ask_id,
            prompt,
            digest(encoded),
            _member(Kind, kind),
            key,
            run_id or self.run_id,
            deadline,
            _member(Consequence, consequence),
            escalate_to,
            replace,
            again=again,
        )
        return (yield from self._send(request, ask_id, command_id or opening_command_id(ask_id)))

    @overload
    def ask(
        self, prompt: Question, options: Iterable[str | Option] = (), **parts: Unpack[_AskParts]
    ) -> Call[Value]: ...
    @overload
    def ask(self, prompt: str, *, schema: type[T], **parts: Unpack[_FormParts]) -> Call[T]: ...
    @overload
    def ask(
        self, prompt: str, *, schema: Mapping[str, Json], **parts: Unpack[_FormParts]
    ) -> Call[dict[str, Json]]: ...
    def ask(  # noqa: PLR0913 - as `open`
        self,
        prompt: Question,
        options: Iterable[str | Option] = (),
        *,
        body: str = "",
        multiple: bool = False,
        free: bool | None = None,
        kind: Kind | str = Kind.QUESTION,
        key: str | None = None,
        replace: bool = False,
        run_id: str | None = None,
        deadline: datetime | timedelta | None = None,
        consequence: Consequence | str = Consequence.WAIT,
        escalate_to: str | None = None,
        protocol: str | None = None,
        other: str = "",
        schema: Schema | None = None,
        wait: float | None = None,
    ) -> Call[Any]:
        """Ask, and return the answer's value, however long it takes.

        With a `schema` the question is a form, and the value an object: of the asker's type (a pydantic model, a
        dataclass, a msgspec Struct), or a dict where it is a JSON Schema. What the schema says is checked before the
        answer counts. What only the type's own code says can be checked no sooner than here, when the ask has ended.

        With a `key` the same ask is found again after a restart, with its answer if there is one. Without `wait`
        (seconds) there is no limit; when a wait lapses the ask stays open.

        Raises:
            NoAnswer: declined, withdrawn, expired or superseded.
            StillOpen: `wait` lapsed.
            KeyReusedError: the key belongs to an ask with another prompt.
            BadPromptError: the schema is none that a form can check; the sentence names the place.
            AnswerRefusedError: the type's own code refuses what its schema accepted; the sentence names the property.
        """
        if schema is not None:
            if not isinstance(prompt, str) or options or multiple or free is not None or other or protocol:
                raise BadPromptError(
                    "With a schema the question is a text, and all that can be answered is in the schema."
                )
            prompt = form_of(prompt, schema, body=body)
        with trace_ask(self.project) as span:
            ask = yield from self.open(
                prompt,
                options,
                body=body,
                multiple=multiple,
                free=free,
                kind=kind,
                key=key,
                replace=replace,
                run_id=run_id,
                deadline=deadline,
                consequence=consequence,
                escalate_to=escalate_to,
                protocol=protocol,
                other=other,
            )
            ended = (yield from self.wait(ask.ask_id, wait)) if ask.is_open else ask
            span.tell(ended)
        return value_of(ended) if schema is None else build_answer(schema, value_of_form(ended), ended)

    def ask_all(  # noqa: PLR0913 - as `open`
        self,
        questions: Sequence[Field | str],
        *,
        title: str = "",
        body: str = "",
        key: str | None = None,
        protocol: str | None = None,
        other: str = "",
        most: int = MOST_IN_A_ROUND,
        wait: float | None = None,
    ) -> Call[dict[str, str | list[str]]]:
        """Ask several questions; return a value for each field's name.

        More than `most` are asked in rounds of about the same size, one after the other. With a `key`, each round has
        its own (`KEY:1`, `KEY:2`, …), so that what was answered is not asked again. `wait` is for all of them.
        """
        fields = tuple(
            Field(f"q{number}", entry, free=True) if isinstance(entry, str) else entry
            for number, entry in enumerate(questions, 1)
        )
        count = f"{len(fields)} questions" if len(fields) > 1 else "A question"
        prompt = Prompt(title or count, body, fields)
        if protocol is not None:
            prompt = follow_protocol(protocol, prompt, max(most, len(fields)))
        prompt = _label(prompt, other or self.find_label())
        check_prompt(prompt)  # before the first round is asked
        rounds = split_prompt(prompt, most)
        until_at = None if wait is None else time.monotonic() + wait
        values: dict[str, str | list[str]] = {}
        for number, part in enumerate(rounds, start=1):
            part_key = f"{key}:{number}" if key is not None and len(rounds) > 1 else key
            left = None if until_at is None else max(0.0, until_at - time.monotonic())
            value = yield from self.ask(part, key=part_key, wait=wait if number == 1 else left)
            values |= value if isinstance(value, dict) else {part.fields[0].name: value}
        return values

    def wait(self, ask_id: str, seconds: float | None = None) -> Call[Ask]:
        """Return the ask once it has ended, in whichever process that happened.

        Raises:
            StillOpen: `seconds` went by; the ask stays open.
        """
        full_id = yield from self._full_id(ask_id)
        try:
            return (yield from until(self.door.until_ended(full_id, self.project, seconds, self.principal)))
        except StillOpen:
            ask = yield from self.show(full_id)
            if not ask.is_open:
                return ask  # it ended in the moment in which the wait lapsed
            raise StillOpen(ask=ask) from None

    def answer(
        self,
        ask_id: str,
        reply: str | Values,
        *,
        confirmed: bool = False,
        reason: str = "",
        unattended: bool = False,
        command_id: str = "",
    ) -> Call[Ask]:
        """Answer with typed text, or with the chosen values by field name; return the ask.

        `confirmed` says that the person was asked once more about what cannot be undone. A `reason` goes with a no
        to an approval, and the agent is told it.

        Raises:
            UnrecognisedError: the reply fits no option; the ask stays open.
            ConfirmFirstError: it chooses what cannot be undone, and is not confirmed; the ask stays open.
            ConflictError: somebody else was first; the error carries the ask with the winner's answer.
            ForbiddenError: an agent cannot answer.
        """
        full_id = yield from self._full_id(ask_id)
        if isinstance(reply, str):
            text, values = reply, None
        else:
            text, values = "", {name: _texts(given) for name, given in reply.items()}
        request = AnswerAsk(
            full_id,
            text,
            values,
            self.via,
            self.assurance,
            unattended or self.is_unattended,
            is_confirmed=confirmed,
            reason=reason,
        )
        return (yield from self._send(request, full_id, command_id))

    def decline(self, ask_id: str, reason: str = "", *, command_id: str = "") -> Call[Ask]:
        """Say no to being asked; the agent is told so, with the reason."""
        full_id = yield from self._full_id(ask_id)
        request = DeclineAsk(full_id, reason, self.via, self.assurance, is_unattended=self.is_unattended)
        return (yield from self._send(request, full_id, command_id))

    def withdraw(self, ask_id: str, reason: str = "", *, command_id: str = "") -> Call[Ask]:
        """Take an ask back; an agent only its own."""
        full_id = yield from self._full_id(ask_id)
        return (yield from self._send(WithdrawAsk(full_id, reason), full_id, command_id))

    def claim(self, ask_id: str) -> Call[Ask]:
        """Say that one is on it."""
        full_id = yield from self._full_id(ask_id)
        return (yield from self._send(ClaimAsk(full_id), full_id))

    def report_undelivered(self, ask_id: str, reason: str = "") -> Call[Ask]:
        """Say that no surface could show it; it stays open and is marked."""
        full_id = yield from self._full_id(ask_id)
        return (yield from self._send(ReportUndelivered(full_id, reason), full_id))

    def show(self, ask_id: str) -> Call[Ask]:
        """Return one ask, by its id or any unambiguous end of it.

        Raises:
            NotFoundError: no ask, or more than one, is meant.
        """
        if len(ask_id) < SHORTEST_ID:
            raise NotFoundError(
                f'"{quote(ask_id)}" is too short: give at least the last {SHORTEST_ID} characters of an id.'
            )
        found = (yield from until(self.door.find(ask_id, self.project))) if is_encodable(ask_id) else []
        if not found:
            raise NotFoundError(f"There is no ask {quote(ask_id)} in project {self.project}.")
        if len(found) > 1:
            raise NotFoundError(f"Several asks end in {quote(ask_id)}: give more of the id.")
        return found[0]

    def inbox(
        self, *, all_states: bool = False, all_projects: bool = False, limit: int = _INBOX
    ) -> Call[list[Ask]]:
        """Return what waits, newest first."""
        project = None if all_projects else self.project
        return (yield from until(self.door.asks(project, None if all_states else State.OPEN, limit)))

    def count(self, *, all_projects: bool = False) -> Call[int]:
        """Return how many asks wait."""
        return (yield from until(self.door.count(None if all_projects else self.project)))

    def log(self, after: int = 0, limit: int = 1_000) -> Call[list[Record]]:
        """Return the project's events after a number, oldest first."""
        return (yield from until(self.door.records(self.project, after, limit)))

    def steps(self, flow_id: str) -> Call[list[Step]]:
        """Return a durable flow's journal."""
        return (yield from until(self.door.steps(self.project, flow_id)))

    def write_step(self, step: Step, *, is_own: bool = False) -> Call[None]:
        """Keep one entry of a durable flow's journal; with `is_own`, only of one that no other agent wrote in.

        Raises:
            ForbiddenError: one did.
        """
        yield self.door.send(WriteStep(step, is_own), self.project, self.principal, new_command_id())

    def ids(self, command_id: str) -> CommandIds:
        """Return what mints the ids of what a command makes."""
        return CommandIds(self.project, self.principal, command_id, self.door.secret())

    def _full_id(self, ask_id: str) -> Call[AskId]:
        if is_ask_id(ask_id):
            return AskId(ask_id)
        return (yield from self.show(ask_id)).ask_id

    def _send(self, request: Request, ask_id: AskId, command_id: str = "") -> Call[Ask]:
        wait = self.door.send(request, self.project, self.principal, command_id or new_command_id())
        ask = yield from until(wait)
        if not isinstance(ask, Ask):
            raise NotFoundError(f"There is no ask {ask_id} here.")
        return ask


E = TypeVar("E", Kind, Consequence)


def _member(enum: type[E], given: E | str) -> E:
    if isinstance(given, enum):
        return given
    try:
        return enum(given)
    except ValueError:
        words = ", ".join(enum)
        raise BadRequestError(
            f'"{quote(str(given))}" is not a {enum.__name__.lower()}: use one of {words}.'
        ) from None


def _label(prompt: Prompt, label: str) -> Prompt:
    """Return `prompt` with `label` for one's own words, at every question that takes them and has no label of its own."""
    if not label:
        return prompt
    return structs.replace(prompt, fields=tuple(label_other(field, label) for field in prompt.fields))


def _texts(given: Sequence[str] | Mapping[str, str]) -> tuple[str, ...]:
    if isinstance(given, str):
        return (given,)
    if not all(isinstance(text, str) for text in given):
        raise BadRequestError("The values of an answer are texts.")
    return tuple(given)


def check_deadline(given: object) -> None:
    """Refuse what is no deadline.

    Raises:
        BadRequestError: it is neither an instant with its time zone nor a span of time.
    """
    if isinstance(given, datetime) and given.tzinfo is None:
        raise BadRequestError("A deadline needs its time zone.")
    if not isinstance(given, datetime | timedelta | None):
        raise BadRequestError("A deadline is a datetime with its time zone, or a timedelta from now.")
