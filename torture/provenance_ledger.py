"""What people did, kept apart from Assent; and the comparison of that with the record.

Rule 1: a deed is written down before it is sent, with the exact content that it has on the person's screen.
Rule 2: whatever the record says in a person's name is one deed, of that person, in the same step, with that content.
        A deed is used up by it.
Rule 3: a receipt of the level `approved` belongs to exactly one answer; any other to the policy in force, and that to
        the deed that set it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from assent.hub.record import Record
from assent.protocol.approval import APPROVE
from assent.protocol.receipt import BY_POLICY
from torture.trial import Tally

__all__ = ["FAULTS", "NOBODY_GAVE", "PASSED", "UNGROUNDED", "Deed", "Ledger"]

NOBODY_GAVE = "answers that nobody gave"
NOBODY_DID = "deeds that nobody did"
UNGROUNDED = "receipts without a yes"
LOST = "acknowledged deeds that are not in the record"
PASSED = "confirms passed without a yes"
FAULTS = (NOBODY_GAVE, NOBODY_DID, UNGROUNDED, LOST, PASSED)

Body = dict[str, Any]
_TRACES = {
    "run.paused": "pause",
    "run.resumed": "resume",
    "run.aborted": "cancel",
    "run.escalated": "escalate",
}


class Deed(msgspec.Struct):
    """One thing that one person did."""

    verb: str
    by: str
    subject: str
    content: Any = None
    """An answer's values, a no's words, a policy's levels, a chat line, a control's command."""
    assurances: tuple[str, ...] = ("token", "terminal", "declared")
    is_unattended: bool = False
    is_acknowledged: bool = False
    is_used: bool = False
    via: str = ""
    """From where, as the record has to say it; empty: whatever it says."""


class Ledger:
    """The deeds of one step, and what is remembered of all steps."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._deeds: list[Deed] = []
        self._answers: dict[str, list[Body]] = {}
        """By ask: its `ask.answered` events."""
        self._asks: dict[str, str] = {}
        """By notification: the ask behind it."""
        self._ended: set[str] = set()
        """The asks that a person ended in this step."""
        self._said: list[str] = []
        """The answers of this step, as the chat may repeat them."""
        self._requests: dict[str, tuple[str, str, str]] = {}
        """By run and command: the person whose REQUEST was accepted."""
        self._levels: dict[str, str] = {}
        """The policy that people set."""

    def did(self, deed: Deed) -> Deed:
        """Write down what a person is about to do."""
        self._deeds.append(deed)
        return deed

    def has_yes(self, ask_ids: Iterable[str], *words: str) -> bool:
        """Say whether a person answered one of these asks with one of these words; with any, where none is said."""
        given = [answer["values"].values() for ask_id in ask_ids for answer in self._answers.get(ask_id, [])]
        return any(not words or any([word] in values for word in words) for values in given)

    def compare(self, records: Iterable[Record]) -> None:
        """Compare the events of a step with its deeds; the step is over then."""
        for record in records:
            if record.body is None:
                continue
            body = msgspec.json.decode(record.body)
            self._tally.add("events")
            judge = _JUDGES.get(record.type)
            if judge is not None:
                judge(self, record, body)
            elif str(body.get("by", "")).startswith("human:"):
                self._judge_other(record, body)
        for deed in self._deeds:
            if deed.is_acknowledged and not deed.is_used:
                self._tally.fault(LOST, deed)
        self._deeds.clear()
        self._ended.clear()
        self._said.clear()

    def _use(self, verb: str, by: str, subject: str, fits: Callable[[Deed], bool]) -> Deed | None:
        for deed in self._deeds:
            if (deed.verb, deed.by, deed.subject, deed.is_used) == (verb, by, subject, False) and fits(deed):
                deed.is_used = True
                self._tally.add("deeds in the record")
                return deed
        return None

    def answered(self, record: Record, body: Body) -> None:
        """Judge an answer: the very deed, with its values, its assurance and its mark."""
        answer = body["answer"]
        self._answers.setdefault(body["ask_id"], []).append(answer)
        self._ended.add(body["ask_id"])
        self._said.extend(text for given in answer["values"].values() for text in given)
        self._tally.add("answers")

        def fits(deed: Deed) -> bool:
            values, reason = deed.content
            return (
                values == answer["values"]
                and reason == answer["reason"]
                and answer["assurance"] in deed.assurances
                and answer["is_unattended"] == deed.is_unattended
                and deed.via in ("", answer["via"])
            )

        if self._use("answer", answer["by"], body["ask_id"], fits) is None:
            self._tally.fault(NOBODY_GAVE, (record.sequence, body, self._deeds))

    def declined(self, record: Record, body: Body) -> None:
        """Judge a no to being asked, or a dismissal."""
        outcome = body["outcome"]
        self._ended.add(body["ask_id"])
        self._tally.add("declined")
        words = outcome["reason"]
        if self._use("decline", outcome["by"], body["ask_id"], lambda deed: deed.content == words) is None:
            self._tally.fault(NOBODY_DID, (record.type, body, self._deeds))

    def withdrawn(self, record: Record, body: Body) -> None:
        """Judge an ask that was taken back in a person's name."""
        by = body["outcome"]["by"]
        self._ended.add(body["ask_id"])
        if by.startswith("human:") and self._use("withdraw", by, body["ask_id"], lambda _: True) is None:
            self._tally.fault(NOBODY_DID, (record.type, body, self._deeds))

    def added(self, record: Record, body: Body) -> None:
        """Remember which ask stands behind a notification."""
        if body.get("ask_id"):
            self._asks[record.subject] = body["ask_id"]

    def resolved(self, record: Record, body: Body) -> None:
        """Judge a resolved notification: a person ended its ask in this step, or dismissed what has none."""
        by = body["by"]
        if not by.startswith("human:") or self._asks.get(record.subject) in self._ended:
            return
        if self._use("dismiss", by, record.subject, lambda _: True) is None:
            self._tally.fault(NOBODY_DID, (record.type, record.subject, body, self._deeds))

    def posted(self, record: Record, body: Body) -> None:
        """Judge a line of a chat: a person's own, or the copy of an answer of this step."""
        by, text = body["by"], (body.get("message") or {}).get("text", "")
        if not by.startswith("human:") or (
            self._said and all(line in self._said for line in text.split("\n"))
        ):
            return
        if self._use("chat", by, record.subject, lambda deed: deed.content == text) is None:
            self._tally.fault(NOBODY_DID, (record.type, body, self._deeds))

    def requested(self, record: Record, body: Body) -> None:
        """Judge a REQUEST to a run."""
        request = body["request"]
        command, run_id, by = request["command"], request["run_id"], body["by"]
        self._tally.add("controls")
        if self._use("steer", by, run_id, lambda deed: deed.content == command) is None:
            self._tally.fault(NOBODY_DID, (record.type, body, self._deeds))
        else:
            self._requests[f"{run_id} {command}"] = (run_id, command, by)

    def steered(self, record: Record, body: Body) -> None:
        """Judge what happened to a run in a person's name: it follows from an accepted REQUEST of that person."""
        if not body["by"].startswith("human:"):
            return
        known = self._requests.get(f"{record.subject} {_TRACES[record.type]}")
        if known is None or known[2] != body["by"]:
            self._tally.fault(NOBODY_DID, (record.type, body))

    def ruled(self, record: Record, body: Body) -> None:
        """Judge a policy."""
        changed = {key: level for key, level in body["after"].items() if body["before"][key] != level}

        def fits(deed: Deed) -> bool:
            levels: dict[str, str] = deed.content
            return changed.items() <= levels.items()

        if self._use("policy", body["by"], "policy", fits) is None:
            self._tally.fault(NOBODY_DID, (record.type, body, self._deeds))
        self._levels = body["after"]
        self._tally.add("policies")

    def minted(self, record: Record, body: Body) -> None:
        """Judge a token."""
        mark = (body["role"], body["name"])
        if self._use("token", body["by"], "token", lambda deed: tuple(deed.content) == mark) is None:
            self._tally.fault(NOBODY_DID, (record.type, body, self._deeds))

    def granted(self, record: Record, body: Body) -> None:
        """Judge a receipt: its one answer, or the policy in force."""
        self._tally.add(f"receipts {body['level']}")
        if body["level"] != "approved":
            wanted = {"automated": "automated", "notified": "notify_and_proceed"}[body["level"]]
            if body["by"] != BY_POLICY or self._levels.get(body["category"]) != wanted:
                self._tally.fault(UNGROUNDED, (record.sequence, body, self._levels))
            return
        answers = self._answers.get(body["ask_id"] or "", [])
        marks = [
            (answer["by"], answer["assurance"], answer["is_unattended"])
            for answer in answers
            if answer["values"] == {"approve": [APPROVE]}
        ]
        if marks != [(body["by"], body["assurance"], body["is_unattended"])]:
            self._tally.fault(UNGROUNDED, (record.sequence, body, answers))

    def _judge_other(self, record: Record, body: Body) -> None:
        """Nothing else may carry a person's name; a task that a person made or let go on is theirs."""
        if self._use("other", body["by"], record.type, lambda _: True) is None:
            self._tally.fault(NOBODY_DID, (record.type, body, self._deeds))


_JUDGES: dict[str, Callable[[Ledger, Record, Body], None]] = {
    "ask.answered": Ledger.answered,
    "ask.declined": Ledger.declined,
    "ask.withdrawn": Ledger.withdrawn,
    "notification.added": Ledger.added,
    "notification.resolved": Ledger.resolved,
    "topic.posted": Ledger.posted,
    "control.requested": Ledger.requested,
    **dict.fromkeys(_TRACES, Ledger.steered),
    "policy.set": Ledger.ruled,
    "token.created": Ledger.minted,
    "receipt.granted": Ledger.granted,
}
