"""An event of the log on one line, in words that a person understands.

Rule 1: every type of event has its words here, and a type that is not known is still told by its name.
Rule 2: whatever somebody wrote passes `quote` or `display`: one line, nothing hidden.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from assent.hub.desk import instant
from assent.protocol.display import display, quote
from assent.protocol.ending import OURSELVES, render_login, render_name
from assent.protocol.receipt import ReceiptLevel
from assent.protocol.run import AbortReason
from assent.protocol.topic import CONTROL_TOPIC
from assent.storage.port import Record
from assent.surfaces.card import short_id

__all__ = ["render_record"]

_LONGEST = 140
_LONGEST_SUBJECT = 40
_WIDEST_TYPE = 21

Told = dict[str, Any]
"""An event as its JSON has it."""


def render_record(record: Record, *, has_date: bool = True, is_ahead: bool = False) -> str:
    """Return an event on one line: its number, moment (UTC), type, subject, and what it says; ahead of the clock, that."""
    at = instant(record.at).strftime("%Y-%m-%d %H:%M:%S" if has_date else "%H:%M:%S")
    head = f"{record.sequence:>5}  {at}  {record.type:<{_WIDEST_TYPE}}  {_render_subject(record)}"
    mark = "  (dated ahead of the clock)" if is_ahead else ""
    return f"{head}  {_render_what(record)}{mark}".rstrip()


def _render_subject(record: Record) -> str:
    # Where a subject is a name and not an id of ours, its end alone says nothing.
    if (
        record.type.startswith(("run.", "topic.", "task.", "policy.", "notification.", "target."))
        or record.subject == CONTROL_TOPIC
    ):
        return quote(record.subject, _LONGEST_SUBJECT)
    return display(short_id(record.subject), lines=False)


def _render_what(record: Record) -> str:
    if record.body is None:
        return "(erased)"
    told: Told = msgspec.json.decode(record.body)
    words = _WORDS.get(record.type)
    return quote(words(told) if words else str(told.get("reason") or ""), _LONGEST)


# Asks


def _opened(told: Told) -> str:
    return f"{render_name(told['asker'])} asks: {told['prompt']['title']}"


def _answered(told: Told) -> str:
    answer = told["answer"]
    chosen = "; ".join(", ".join(given) for given in answer["values"].values())
    reason = f': "{answer["reason"]}"' if answer.get("reason") else ""
    return f"{render_name(answer['by'])}: {chosen}{reason} ({_how(answer | told)})"


def _how(told: Told) -> str:
    """Return by which door a person answered, how sure that is, and whether nobody was there."""
    how = [
        told.get("via"),
        told.get("assurance"),
        render_login(told.get("by", ""), told.get("assurance")),
        "unattended" if told.get("is_unattended") else "",
    ]
    return ", ".join(filter(None, dict.fromkeys(how)))


def _ended(told: Told) -> str:
    outcome = told["outcome"]
    if outcome["consequence"]:
        return f"nobody answered in time: {outcome['consequence']}"
    if outcome["successor"]:
        return f"replaced by {outcome['successor']}"
    if outcome["by"] == OURSELVES and outcome["reason"]:
        return str(outcome["reason"])  # it ended with its run, and this says how
    who = render_name(outcome["by"] or "")
    how = _how(outcome)
    words = f"{who}: {outcome['reason']}" if outcome["reason"] else who
    return f"{words} ({how})" if how else words


# Runs


def _by(told: Told) -> str:
    return render_name(told["by"])


def _loop(frame: Told) -> str:
    model = f", {frame['model']}" if frame.get("model") else ""
    return f"{frame['mode']}, up to {frame['max']} iterations{model}"


def _started(told: Told) -> str:
    title = f": {told['title']}" if told.get("title") else ""
    return f"{_by(told)} starts it ({_loop(told['frame'])}){title}"


def _begun(told: Told) -> str:
    again = f", attempt {told['attempt']}" if told["attempt"] > 1 else ""
    return f"iteration {told['number']} begins{again}{_depth(told)}"


def _over(told: Told) -> str:
    failure = told.get("failure")
    how = f"has failed: {failure}" if failure else "is over"
    return f"iteration {told['number']} {how}{_depth(told)}"


def _depth(told: Told) -> str:
    return f" (loop {told['depth'] + 1} of its stack)" if told["depth"] else ""


def _escalated(told: Told) -> str:
    reason = f": {told['reason']}" if told.get("reason") else ""
    return f"{_by(told)} escalated it to {told['model']}{reason}"


def _aborted(told: Told) -> str:
    if told["reason"] == AbortReason.USER_CANCELLED:
        return f"{_by(told)} cancelled it"
    return ": ".join(filter(None, ("aborted", told["reason"], told.get("note"))))


# Controls and topics


def _requested(told: Told) -> str:
    request = told["request"]
    return f"{_by(told)} sends REQUEST {request['command']} to {request['run_id']}"


def _message(told: Told) -> str:
    """An ACK or a RESULT: its type, command, run, and what came of it."""
    message = told["message"]
    head = f"{message['type']} {message['command']} for {message['target'].get('run_id', '')}"
    payload = message["payload"]
    models = [payload.get("previous_model"), payload.get("new_model")]
    parts = [
        " ".join(filter(None, (payload.get("status"), payload.get("code")))),
        payload.get("message") or " -> ".join(filter(None, models)),
    ]
    return ": ".join([head, *filter(None, parts)])


def _repeated(told: Told) -> str:
    return f"{_by(told)} sends what begins nothing: {_json(told['message'])}"


def _malformed(told: Told) -> str:
    return f"{_by(told)} sends what is no message: {told['problem']}"


def _posted(told: Told) -> str:
    return f"{_by(told)}: {_json(told['message'])}"


# Work


def _added(told: Told) -> str:
    texts = "; ".join(question["text"] for question in told["questions"])
    return f"{_by(told)} tells about {told['source']} {told['source_id']}: {texts}"


def _resolved(told: Told) -> str:
    if told.get("is_dismissed"):
        return f"{_by(told)} dismissed it"
    if told.get("approved") is not None:
        return f"{_by(told)} {'approved' if told['approved'] else 'rejected'} it"
    answers = dict.fromkeys(response["answer"] for response in told.get("responses") or ())
    return f"{_by(told)}: {'; '.join(answers)}"


def _task(told: Told) -> str:
    parts = [told["title"], told["status"], told.get("blockReason"), told.get("assignee")]
    return f"{_by(told)}: {', '.join(str(part) for part in parts if part)}"


def _policy(told: Told) -> str:
    changed = [
        f"{category}: {told['before'][category]} -> {level}"
        for category, level in told["after"].items()
        if told["before"].get(category) != level
    ]
    # What the project lists is told whole, whatever of it is new; where nothing is left, its list was taken back.
    changed += [f"{kind}: with {' or '.join(given)}" for kind, given in told.get("assurances", {}).items()]
    how = " (unattended)" if told.get("is_unattended") else ""
    return f"{_by(told)} sets {', '.join(changed) or 'the default'}{how}"


def _token_created(told: Told) -> str:
    how = " (unattended)" if told.get("is_unattended") else ""
    scope = ", ".join(told["projects"])
    whose = f"{told['role']}:{told['name']}"
    return f"{_by(told)} makes a token for {whose} in {scope} until {told['expires_at']}{how}"


def _target_added(told: Told) -> str:
    how = " (unattended)" if told.get("is_unattended") else ""
    whose = f", for {render_name(told['person'])}" if told.get("person") else ""
    return f"{_by(told)} has {told['service']} at {told['host']} told of asks{whose}{how}"


def _target_failed(told: Told) -> str:
    end = "; it is gone, and told nothing more" if told.get("is_gone") else ""
    return f"gave up to tell that {told['ask_id']} was {told['what']}: {told['error']}{end}"


def _granted(told: Told) -> str:
    if told["level"] == ReceiptLevel.APPROVED:
        return f"{_by(told)} lets {told['asker']} go on: {told['title']} ({_how(told)})"
    category = told.get("category") or ""
    return f"the policy lets {told['asker']} go on ({told['level']}, {category}): {told['title']}"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


_WORDS: dict[str, Callable[[Told], str]] = {
    "ask.opened": _opened,
    "ask.answered": _answered,
    "ask.declined": _ended,
    "ask.withdrawn": _ended,
    "ask.expired": _ended,
    "ask.superseded": _ended,
    "ask.overdue": lambda _: "",
    "ask.escalated": lambda told: str(told["to"]),
    "ask.undelivered": lambda told: str(told["reason"]),
    "run.started": _started,
    "run.taken": lambda told: f"{told['driver']} goes on with it, as its driver number {told['fence']}",
    "run.turn_begun": _begun,
    "run.turn_ended": _over,
    "run.frame_pushed": lambda told: f"a loop inside it begins ({_loop(told['frame'])})",
    "run.frame_popped": lambda told: f"the loop inside it is over: {told['reason']}",
    "run.paused": lambda told: f"{_by(told)} paused it",
    "run.held": lambda told: f"its work is over: {told['reason']}, held until somebody resumes it",
    "run.resumed": lambda told: f"{_by(told)} resumed it",
    "run.escalated": _escalated,
    "run.done": lambda told: f"done: {told['reason']}",
    "run.aborted": _aborted,
    "control.requested": _requested,
    "control.acknowledged": _message,
    "control.resolved": _message,
    "control.replied": _message,
    "control.expired": lambda _: "nobody took it up in time; it is not executed",
    "control.repeated": _repeated,
    "control.malformed": _malformed,
    "topic.posted": _posted,
    "notification.added": _added,
    "notification.resolved": _resolved,
    "task.created": _task,
    "task.updated": _task,
    "policy.set": _policy,
    "receipt.granted": _granted,
    "receipt.redeemed": lambda told: f"{_by(told)} redeemed it",
    "store.restored": lambda told: (
        f"{_by(told)} restored it from a backup that ends at event {told['message']['sequence']}"
    ),
    "token.created": _token_created,
    "token.revoked": lambda told: f"{_by(told)} revoked it",
    "target.added": _target_added,
    "target.removed": lambda told: f"{_by(told)} removed it",
    "target.failed": _target_failed,
}
