"""The tools, as hosts are told of them and as they are done: an attempt each.

An attempt goes as far as it can without waiting: it returns what to tell the agent, or it raises `StillOpen` with the ask
that a person has to answer first. Whoever calls it shows that ask, waits, and attempts it again. Agents answer nothing:
there is no tool for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from assent.client.approving import redeem, request_approval
from assent.client.calls import Calls
from assent.client.door import Call, until
from assent.client.reviewing import review_document
from assent.client.steer import find_run
from assent.client.work import hand_in
from assent.flows.walk_through.report import render_report
from assent.hosts.mcp import argument
from assent.hosts.mcp.form import NO, YES
from assent.hosts.mcp.gate import attempt_gate
from assent.hosts.mcp.told import Told, tell_ended, tell_inbox
from assent.protocol.approval import is_approved, render_rejection
from assent.protocol.ask import Ask, Kind
from assent.protocol.display import display, quote
from assent.protocol.error import BadPromptError, BadRequestError, PathRefusedError, RejectedBefore, StillOpen
from assent.protocol.gate import Context
from assent.protocol.prompt import Option, Prompt, question
from assent.protocol.receipt import Receipt, render_granting
from assent.protocol.run import Run, render_run
from assent.protocol.terms import DEFAULT_LIFE_SECONDS

__all__ = ["TOOLS", "Room", "Tool"]

_RESUMES = (
    "Asking again with the same arguments (or the same key) resumes: it finds the open ask, or the answer that was given "
    'meanwhile. While "state" is "open" there is no answer: stop and wait.'
)


class Room(msgspec.Struct, frozen=True):
    """What a server knows of the place that it works in."""

    folder: Path
    """Documents are looked for below it, and nowhere else."""
    kept: Path
    """The folder of the project's list of tasks for later."""
    contexts: Mapping[str, Context]
    """The gates."""


Attempt = Callable[[Calls, Any, str, Room], Call[Told]]


class Tool(msgspec.Struct, frozen=True):
    """One tool."""

    name: str
    title: str
    description: str
    arguments: type[msgspec.Struct]
    attempt: Attempt
    is_asking: bool = True
    """It waits for a person."""
    is_reading: bool = False
    """It changes nothing."""


def _ask_user(calls: Calls, given: argument.AskUser, name: str, room: Room) -> Call[Told]:
    del room
    if given.recommended and given.recommended not in given.options:
        raise BadPromptError(f'"{quote(given.recommended)}" is recommended, and none of the options.')
    final = given.destructive or ()
    strange = [label for label in final if label not in given.options]
    if strange:
        raise BadPromptError(f'"{quote(strange[0])}" cannot be undone, and is none of the options.')
    options = [
        Option(label, label, recommended=label == given.recommended, destructive=label in final)
        for label in given.options
    ]
    is_free = given.allow_other or not options
    prompt = question(given.question, options, body=given.body, multiple=given.multiple, free=is_free)
    return (yield from _ask(calls, prompt, Kind.QUESTION, name))


def _confirm(calls: Calls, given: argument.Confirm, name: str, room: Room) -> Call[Told]:
    del room
    prompt = question(given.question, [YES, NO], body=given.body, free=False)
    told = yield from _ask(calls, prompt, Kind.CONFIRM, name)
    said = told.content.get("answer")
    return msgspec.structs.replace(told, content=told.content | {"is_confirmed": said == YES})


def _ask(calls: Calls, prompt: Prompt, kind: Kind, name: str) -> Call[Told]:
    ask = yield from calls.open(prompt, kind=kind, key=name, other=calls.find_label())
    if ask.is_open:
        raise StillOpen(ask=ask)
    return tell_ended(ask)


def _open_gate(calls: Calls, given: argument.OpenGate, name: str, room: Room) -> Call[Told]:
    return (yield from attempt_gate(calls, given, name, room.contexts, room.kept))


def _request_approval(calls: Calls, given: argument.RequestApproval, name: str, room: Room) -> Call[Told]:
    del room

    def request() -> Call[Receipt | Ask]:
        return request_approval(
            calls,
            given.title,
            action=given.action,
            category=given.category,
            risk=given.risk,
            body=given.body,
            key=name,
            life=timedelta(seconds=given.life_seconds or DEFAULT_LIFE_SECONDS),
            again=given.again or "",
        )

    try:
        told = yield from request()
    except RejectedBefore as before:
        refusal = f"Not approved: {before.message} Do not do it."
        content = {} if before.ask is None else tell_ended(before.ask).content
        return Told(refusal, content | {"state": "rejected", "code": before.code, "message": refusal})
    if isinstance(told, Ask):
        if told.is_open:
            raise StillOpen(ask=told)
        if not is_approved(told):
            ended = tell_ended(told)
            if told.answer is None:
                return ended
            refusal = f"Not approved: {render_rejection(told)} Do not do it."
            return Told(refusal, ended.content | {"state": "rejected", "message": refusal})
        told = yield from request()  # the yes has made the receipt; the same request again is told of it
    if isinstance(told, Ask):
        raise BadRequestError(f"{told.ask_id} was approved, and there is no receipt of it.")
    return _tell_receipt(told, "approved")


def _tell_receipt(receipt: Receipt, state: str) -> Told:
    granted = render_granting(receipt)
    content = {
        "state": state,
        "receipt_id": receipt.receipt_id,
        "ask_id": receipt.ask_id,
        "level": receipt.level.value,
        "by": receipt.by,
        "assurance": receipt.assurance.value if receipt.assurance else None,
        "at": receipt.granted_at.isoformat(),
        "expires_at": receipt.expires_at.isoformat(),
        "message": granted,
    }
    if state == "redeemed":
        return Told(f"Redeemed {receipt.receipt_id}: do exactly that action now, once. {granted}", content)
    note = f"Call redeem_approval with {receipt.receipt_id} and the same action right before you do it."
    return Told(f"{granted} {note}", content)


def _redeem_approval(calls: Calls, given: argument.RedeemApproval, name: str, room: Room) -> Call[Told]:
    del name, room
    return _tell_receipt((yield from redeem(calls, given.receipt_id, given.action)), "redeemed")


def _review_findings(calls: Calls, given: argument.ReviewFindings, name: str, room: Room) -> Call[Told]:
    document = _find_document(given.document, room.folder)
    report = yield from review_document(
        calls, given.findings, document=document, durable=True, run_id=name, tell=lambda _: None, wait=0
    )
    return Told(render_report(report), {"state": "finished", "report": msgspec.to_builtins(report)})


def _find_document(path: str, folder: Path) -> Path:
    try:
        document = (folder / path).resolve()
        is_inside = document.is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):
        is_inside, document = False, folder  # links in a circle, or a character that no path has
    if not is_inside:
        raise PathRefusedError(f"{quote(path)} is not in this project.")
    return document


def _report_result(calls: Calls, given: argument.ReportResult, name: str, room: Room) -> Call[Told]:
    del name, room
    body = {**given.result, "agent": given.agent, "sourceId": given.source_id}
    handed = yield from hand_in(calls, body)
    note = handed.notification
    content = {"meaning": msgspec.to_builtins(handed.meaning), "notification": msgspec.to_builtins(note)}
    if note is None:
        return Told("Handed in. It asks nothing.", content)
    return Told(
        f"Handed in. What it asks is put to people as {note.notification_id}; stop work on it until they answered.",
        content,
    )


def _check_control(calls: Calls, given: argument.CheckControl, name: str, room: Room) -> Call[Told]:
    del name, room
    run_id = given.run_id or calls.run_id
    if not run_id:
        raise BadRequestError("Which run? Give run_id, or start the server with ASSENT_RUN_ID.")
    run = yield from find_run(calls, run_id)
    is_driven = yield from until(calls.door.is_driven(calls.project, run.run_id))
    shown = render_run(run, is_driven=is_driven, now=calls.door.now())
    is_escalated = run.top.is_escalated
    content = msgspec.to_builtins(shown) | {
        "is_escalated": is_escalated,
        "may_go_on": shown["status"] == "running",
    }
    return Told(_say_run(run, str(shown["status"]), is_escalated=is_escalated), content)


def _say_run(run: Run, status: str, *, is_escalated: bool) -> str:
    name = display(run.run_id, lines=False)
    model = display(run.top.frame.model or "", lines=False)
    lines = {
        "running": f"{name} is running: go on.",
        "paused": f"{name} is paused by a person. STOP: start nothing new, and check again later.",
        "pausing": f"{name} is being paused by a person. Finish this iteration, and start nothing new.",
        "aborted": f"{name} was cancelled. STOP now.",
        "done": f"{name} is over.",
    }
    said = lines.get(status, f"{name} is {status}.")
    return f"{said} A person escalated it to the model {model}." if is_escalated and model else said


def _inbox(calls: Calls, given: argument.Inbox, name: str, room: Room) -> Call[Told]:
    del given, name, room
    return tell_inbox((yield from calls.inbox()), calls.project)


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "ask_user",
            "Ask a person",
            f"Ask the person a question, with options or for a text, and wait for the answer. {_RESUMES}",
            argument.AskUser,
            _ask_user,
        ),
        Tool(
            "confirm",
            "Yes or no",
            f'Ask the person for a yes or a no. Go on only if "is_confirmed" is true. {_RESUMES}',
            argument.Confirm,
            _confirm,
        ),
        Tool(
            "open_gate",
            "Stop at a gate",
            f"Stop at a standard gate until the person chose how to go on. {_RESUMES}",
            argument.OpenGate,
            _open_gate,
        ),
        Tool(
            "request_approval",
            "Ask for an approval",
            "Ask whether an exact action may happen. A person approves it on a surface of Assent, and in a dialog of this "
            "host only where the project takes that for enough. What comes back is a receipt: redeem it right before you "
            f"do it. {_RESUMES}",
            argument.RequestApproval,
            _request_approval,
        ),
        Tool(
            "redeem_approval",
            "Use an approval",
            "Spend the receipt of an approval, once, on exactly the action that was approved, right before doing it. If it "
            "is refused, do not do it.",
            argument.RedeemApproval,
            _redeem_approval,
            is_asking=False,
        ),
        Tool(
            "review_findings",
            "Review findings",
            "Go through the findings of a document review with the person, one by one, and return the report. "
            f"{_RESUMES}",
            argument.ReviewFindings,
            _review_findings,
        ),
        Tool(
            "report_result",
            "Hand in a result",
            "Hand in an agent's result. Its open questions are put to people, and block its task.",
            argument.ReportResult,
            _report_result,
            is_asking=False,
        ),
        Tool(
            "check_control",
            "Look at your run",
            "Say whether a person has paused, cancelled or escalated your run. Look before each step.",
            argument.CheckControl,
            _check_control,
            is_asking=False,
            is_reading=True,
        ),
        Tool(
            "inbox",
            "What waits",
            "List what waits for people in this project. Only people answer it.",
            argument.Inbox,
            _inbox,
            is_asking=False,
            is_reading=True,
        ),
    )
}
