"""The planted faults of the trial of provenance: each lets somebody else speak for a person."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from assent.client.calls import Calls
from assent.client.confirm_record import Attempt, History, Said
from assent.client.door import Call, Door
from assent.engine import ask as ask_machine
from assent.engine.ask import AnswerAsk, AskAnswered, Event, LapseAsk
from assent.hosts import person as host_person
from assent.hub import work_desk
from assent.hub.authorise import RIGHTS
from assent.protocol.answer import Answer, FieldValues
from assent.protocol.ask import Ask
from assent.protocol.confirm import Meaning
from assent.protocol.plan import Moment, Owner, Status, name_confirms
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.task import ChatMessage
from assent.surfaces.terminal import TerminalSurface
from torture.swap import swap

__all__ = ["PROVENANCE_PLANTS"]


def _agents_answer() -> None:
    RIGHTS[AnswerAsk] = frozenset(Role)


def _unconfirmed() -> None:
    swap(ask_machine, "_check_destructive", lambda *_, **__: None)


def _host_approves() -> None:
    swap(ask_machine, "_check_assurance", lambda *_: None)


def _silence_answers() -> None:
    lapse = ask_machine._DECISIONS[LapseAsk]

    def answering(ask: Ask | None, command: LapseAsk) -> tuple[Event, ...]:
        events = lapse(ask, command)
        if not events or ask is None or not ask.prompt.fields[0].options:
            return events
        field = ask.prompt.fields[0]
        values: FieldValues = {field.name: (field.options[0].key,)}
        answer = Answer(values, "", "human:ana", "", Assurance.DECLARED, command.stamp.at)
        return (AskAnswered(ask.ask_id, answer),)

    ask_machine._DECISIONS[LapseAsk] = answering


def _dismissals_answer() -> None:
    def last_line(chat: Iterable[ChatMessage], notification_id: str, _by: str) -> str:
        lines = [message.text for message in chat if message.notification_id == notification_id]
        return lines[-1] if lines else ""

    swap(work_desk, "reply_in", last_line)


def _hosts_are_terminals() -> None:
    def at_terminal(door: Door, project: str, who: Principal, via: str, _: Assurance, run_id: str) -> Calls:
        return Calls(door, project, who, via, Assurance.TERMINAL, run_id)

    swap(host_person, "Calls", at_terminal)


def _files_pass() -> None:
    settled = History.settled

    def believing(history: History, owner: Owner, moment: Moment, flow_id: str = "") -> Call[dict[str, Said]]:
        found = yield from settled(history, owner, moment, flow_id)
        claimed = Said(Attempt("", "", None, is_believed=True), Meaning.YES)
        written = [name for name, each in name_confirms(owner, moment).items() if each.status == Status.DONE]
        return dict.fromkeys(written, claimed) | found

    swap(History, "settled", believing)


def _half_lines_count() -> None:
    end = TerminalSurface._end_of_input

    def counting(terminal: TerminalSurface) -> None:
        if not terminal._typed.strip():
            end(terminal)
        terminal._typed += b"\n"

    swap(TerminalSurface, "_end_of_input", counting)


PROVENANCE_PLANTS: dict[str, Callable[[], Any]] = {
    "agents-answer": _agents_answer,
    "unconfirmed": _unconfirmed,
    "host-approves": _host_approves,
    "silence-answers": _silence_answers,
    "dismissals-answer": _dismissals_answer,
    "hosts-are-terminals": _hosts_are_terminals,
    "files-pass": _files_pass,
    "half-lines-count": _half_lines_count,
}
