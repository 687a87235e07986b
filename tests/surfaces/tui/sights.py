"""What the terminal inbox is looked at with: a fixed store of asks and runs, a fixed clock, and a view for every screen.

python -m tests.surfaces.tui.sights --write    write `screens/*.txt` anew; look at the difference before it is kept
"""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from assent.flows.walk_through.menu import finding_prompt
from assent.protocol.answer import Answer
from assent.protocol.approval import approval_prompt
from assent.protocol.ask import Ask, Claim, Consequence, Kind, Outcome, State
from assent.protocol.gate import CHUNK_LOOP, Gate, check_question
from assent.protocol.principal import Assurance
from assent.protocol.prompt import Field, Option, Prompt, question
from assent.protocol.run import Mode as LoopMode
from assent.protocol.run import RunId, Status
from assent.protocol.tail import Tail
from assent.protocol.terms import ReceiptId, Terms
from assent.protocol.topic import CONTROL_TOPIC, Message
from assent.surfaces.board import BoardRun
from assent.surfaces.card import render_check
from assent.surfaces.tui.order import order
from assent.surfaces.tui.reply import FieldReply, Reply
from assent.surfaces.tui.screen import compose
from assent.surfaces.tui.view import Fate, Mode, RunDetail, View
from tests.flows.walk_through.text_samples import new_finding
from tests.run_samples import new_frame, new_run
from tests.samples import digest_of, new_ask

__all__ = ["NOW", "SCREENS", "SIGHTS", "SIZES", "in_utc", "read_screen", "screen_text"]

NOW = datetime(2030, 1, 7, 20, 51, 22, tzinfo=UTC)
SIZES = ((120, 36), (80, 24), (40, 12))
SCREENS = Path(__file__).parent / "screens"


def in_utc() -> None:
    """Let this process live in UTC: what is shown is the reader's own time."""
    os.environ["TZ"] = "UTC"
    time.tzset()


def _ask(number: int, project: str, asker: str, kind: Kind, prompt: Prompt, ago: int, **changes: Any) -> Ask:
    opened_at = NOW - timedelta(seconds=ago)
    return new_ask(
        number,
        project,
        asker=f"agent:{asker}",
        kind=kind,
        prompt=prompt,
        digest=digest_of(prompt),
        opened_at=opened_at,
        **changes,
    )


def _after(minutes: int) -> datetime:
    return NOW + timedelta(minutes=minutes)


_DIFF = """--- a/app/models/user.py
+++ b/app/models/user.py
@@ -17,4 +17,3 @@
     id = Column(BigInteger)
-    legacy_id = Column(Text, index=True)
-    email = Column(Text)
+    email = Column(Text, nullable=False)
     created_at = Column(DateTime)
"""
APPROVAL = _ask(
    1,
    "edge-infra",
    "migrator",
    Kind.APPROVAL,
    approval_prompt(
        "Drop column users.legacy_id in production",
        {
            "command": 'psql "$PRIMARY_URL" --single-transaction --file migrations/0042_drop_legacy_id.sql',
            "files": [{"path": "app/models/user.py", "diff": _DIFF}],
            "timeout": 30,
        },
        risk="cannot be undone",
        body="No reader of legacy_id is left since release 214. The column holds 1.2 million values that exist "
        "nowhere else\u200b.",
    ),
    240,
    deadline=_after(11),
    consequence=Consequence.DENY,
    claim=Claim("human:sam-k", NOW - timedelta(seconds=40)),
    terms=Terms(ReceiptId("rcp_1"), 3_600),
)
QUESTION = _ask(
    2,
    "ledger-sync",
    "planner",
    Kind.QUESTION,
    question(
        "Which time zone closes the month?",
        [
            Option("utc", "UTC", description="As the code does it now"),
            Option("own", "The customer's own zone", recommended=True, description="Needs a backfill"),
            Option("berlin", "Head office, Europe/Berlin"),
        ],
        body="# Why now\n\nMonth-end totals differ by up to **14 hours** of sales.\n\n"
        "| report | zone |\n| --- | --- |\n| close | UTC |\n| export | local |\n\n```\nreports/close.py uses UTC today\n```",
        free=True,
    ),
    540,
    deadline=_after(51),
    consequence=Consequence.ESCALATE,
    escalate_to="human:sam-k",
)
_GATE = Gate(
    CHUNK_LOOP,
    "Chunk 2 of 5, payment retries. 4 findings in 3 files, 286 lines.\n\n"
    "H3 Retry loop never ends on 429            retry.py:88\n"
    "M4 Idempotency key is built twice          charge.py:41",
    ("H3", "M4"),
    5,
)
GATE = _ask(3, "checkout-api", "reviewer", Kind.GATE, _GATE.prompt, 120)
CHECK = _ask(
    4,
    "checkout-api",
    "reviewer",
    Kind.GATE,
    check_question("This will remove 4 findings from this chunk. They won't be recoverable. Proceed? [y/n]"),
    60,
)
FINDING = _ask(
    5,
    "handbook",
    "doc-review",
    Kind.FINDING,
    finding_prompt(new_finding(), (3, 8), new_finding().recommended_action),
    360,
    key="review:plan:3",
)
OPEN_QUESTION = _ask(
    6,
    "checkout-api",
    "coder",
    Kind.OPEN_QUESTION,
    Prompt(
        "Coder asks about task T-118",
        fields=(
            Field(
                "q1",
                "Should a refund webhook be retried after a 409?\n\nThe provider sends 409 both when a refund "
                "exists and when it is locked.",
                free=True,
            ),
        ),
    ),
    1_080,
)
ROUND = _ask(
    7,
    "edge-infra",
    "planner",
    Kind.QUESTION,
    Prompt(
        "Roll out the new edge cache",
        "I can start as soon as these are known.",
        (
            Field(
                "q1",
                "Which regions go first?",
                tuple(Option(name, name) for name in ("Frankfurt", "Virginia", "São Paulo")),
                multiple=True,
            ),
            Field(
                "q2",
                "How old may a cached page be?",
                (Option("30s", "30 seconds"), Option("5m", "5 minutes")),
                free=True,
            ),
            Field("q3", "What must the rollout not touch?", free=True),
        ),
    ),
    1_860,
)
CONFIRM = _ask(
    8,
    "ledger-sync",
    "importer",
    Kind.CONFIRM,
    Prompt(
        "Confirm (human) phase P2: Backfill 2019 to 2024. When=before. Summary: Four tasks, 61 files, about two hours. "
        "Continue? (Y/N)",
        "Four tasks: read the old exports, map the accounts, write, compare.",
        (Field("confirm", "Yes, no, or what to change.", free=True),),
    ),
    3_700,
)
LONG = _ask(
    9,
    "handbook",
    "mover",
    Kind.QUESTION,
    question("Which of the chapters moves?", [f"Chapter {number}" for number in range(1, 31)]),
    4_000,
)
GRAVE = _ask(
    10,
    "edge-infra",
    "migrator",
    Kind.QUESTION,
    question(
        "What becomes of the old table?",
        ["Keep it", Option("drop", "Drop the table and its 1.2 million rows", destructive=True)],
    ),
    4_400,
    is_asker_gone=True,
)
OPEN = (APPROVAL, QUESTION, GATE, FINDING, OPEN_QUESTION, ROUND, CONFIRM)

_KEEP = question("Keep the old SDK until March?", ["Keep it, with a warning", "Remove it now"], free=True)
ANSWERED = _ask(
    11,
    "checkout-api",
    "coder",
    Kind.QUESTION,
    _KEEP,
    900,
    state=State.ANSWERED,
    answer=Answer(
        {"q1": ("Remove it now",)},
        "B",
        "human:sam-k",
        "terminal",
        Assurance.TOKEN,
        NOW - timedelta(seconds=71),
    ),
)
EXPIRED = _ask(
    12,
    "edge-infra",
    "migrator",
    Kind.APPROVAL,
    approval_prompt("Rotate the signing key", {"command": "rotate --now"}),
    1_900,
    state=State.EXPIRED,
    outcome=Outcome(
        State.EXPIRED, NOW - timedelta(minutes=21), "operator:assent", consequence=Consequence.DENY
    ),
)

UNATTENDED = _ask(
    13,
    "edge-infra",
    "migrator",
    Kind.APPROVAL,
    approval_prompt("Rotate the signing key", {"command": "rotate --now"}),
    1_900,
    state=State.ANSWERED,
    answer=Answer(
        {"approve": ("Reject",)},
        "",
        "human:sam-k",
        "mcp",
        Assurance.HOST,
        NOW - timedelta(minutes=2),
        reason="Not on a Friday",
        is_unattended=True,
    ),
)


# Runs


def _seen(
    number: int, project: str, title: str, *, is_driven: bool = True, waits: int = 0, **changes: Any
) -> BoardRun:
    frame = new_frame(
        id=f"{changes.pop('mode', 'loop')}-179477310{number}-4127",
        mode=LoopMode(changes.pop("loop", "loop")),
        iter=changes.pop("iter", 3),
        max=changes.pop("most", 10),
        model=changes.pop("model", "haiku"),
    )
    run = new_run(
        frame,
        run_id=RunId(f"run-179477310{number}-4127"),
        project=project,
        title=title,
        started_at=NOW - timedelta(minutes=48),
        updated_at=NOW - timedelta(seconds=41),
    )
    level = replace(run.top, is_open=True, begun_at=NOW - timedelta(seconds=41), attempt=1)
    level = replace(level, is_escalated=changes.pop("is_escalated", False))
    return BoardRun(replace(run, levels=(level,), **changes), is_driven, waits)


PAUSING = _seen(
    1,
    "checkout-api",
    "Grind the flaky tests",
    loop="grind",
    iter=7,
    most=40,
    status=Status.PAUSED,
    paused_at=NOW - timedelta(seconds=20),
    paused_by="human:ana",
)
RUNS = (
    PAUSING,
    _seen(
        2, "edge-infra", "Issue 311, drop legacy ids", loop="issue", model="opus", is_escalated=True, waits=1
    ),
    _seen(
        3,
        "handbook",
        "Nightly link check",
        is_driven=False,
        updated_at=NOW - timedelta(hours=2, minutes=40),
    ),
)


def _message(number: int, after: int, **told: Any) -> Message:
    body = {"schema": 0, "request_id": "req-1", "command": "pause", "target": {}, "payload": {}, **told}
    at = NOW - timedelta(seconds=40, milliseconds=792 - after)
    by = "human:ana" if told["type"] == "REQUEST" else ""
    return Message(number, CONTROL_TOPIC, at, msgspec.Raw(msgspec.json.encode(body)), by)


DETAIL = RunDetail(
    (
        _message(1, 0, type="REQUEST"),
        _message(2, 4, type="ACK"),
        _message(
            3, 11, type="RESULT", payload={"status": "success", "message": "Loop paused at iteration 7"}
        ),
    ),
    Tail(
        "20:50:20 pytest tests/test_clock.py -q --count 50\n20:50:38 \x1b[2K50 passed in 17.80s\n"
        + "".join(f"20:51:{second:02} {'.' * (second + 4)} {second * 4}%\n" for second in range(24)),
        0,
        1_000,
        NOW,
    ),
)


# Views


def _view(ask: Ask | None = None, reply: Reply | None = None, **changes: Any) -> View:
    asks = (*OPEN, ANSWERED, EXPIRED)
    listed = asks if ask is None or ask in asks else (*asks, ask)
    base = View(
        groups=order(listed),
        current="" if ask is None else ask.ask_id,
        reply=reply or Reply(),
        drafts=frozenset([ROUND.ask_id]),
        mode=Mode.ASK,
        is_armed=True,
        runs=RUNS,
        stores=4,
        who="ana",
        now=NOW,
    )
    return replace(base, **changes)


def _marked(ask: Ask, *keys: str, **changes: Any) -> Reply:
    return Reply({ask.prompt.fields[0].name: FieldReply(keys, **changes)})


_ROUND_REPLY = Reply(
    {
        "q1": FieldReply(("Frankfurt", "São Paulo")),
        "q2": FieldReply((), "An hour, but not for prices", is_own=True),
    }
)
_LOST = _marked(ANSWERED, text="Keep it: the partner still pins 2.x", is_own=True)

SIGHTS: dict[str, View] = {
    "list": _view(QUESTION, mode=Mode.LIST, list_row=3),
    "list-filter": _view(GATE, mode=Mode.LIST, words="kind:gate", groups=order(OPEN, "kind:gate")),
    "empty": _view(mode=Mode.LIST, groups=order(()), runs=()),
    "question": _view(QUESTION),
    "question-marked": _view(QUESTION, _marked(QUESTION, "own"), option_at=1),
    "question-unarmed": _view(QUESTION, is_armed=False),
    "question-own-words": _view(
        QUESTION, _marked(QUESTION, text="Ask each customer once", is_own=True), option_at=3
    ),
    "question-scrolled": _view(QUESTION, top=4),
    "question-long": _view(LONG, _marked(LONG, "Chapter 17"), option_at=16),
    "round": _view(ROUND, _ROUND_REPLY, field_at=2),
    "gate": _view(GATE, _marked(GATE, "Deep-dive"), option_at=1),
    "gate-command": _view(GATE, Reply({}, "deselect M4")),
    "gate-check": _view(CHECK, Reply({}, "y")),
    "confirm": _view(CONFIRM, _marked(CONFIRM, "changes", text="Leave 2019 out of it"), option_at=1),
    "grave": _view(GRAVE, _marked(GRAVE, "drop"), option_at=1),
    "grave-check": _view(
        GRAVE, _marked(GRAVE, "drop"), option_at=1, check=render_check(GRAVE.prompt.fields[0].options[1])
    ),
    "grave-list": _view(GRAVE, mode=Mode.LIST),
    "approval": _view(APPROVAL),
    "approval-rejected": _view(APPROVAL, _marked(APPROVAL, "Reject", text="Not on a Friday"), option_at=1),
    "approval-marked": _view(APPROVAL, _marked(APPROVAL, "Approve")),
    "approval-whole": _view(APPROVAL, mode=Mode.WHOLE),
    "approval-json": _view(APPROVAL, mode=Mode.WHOLE, is_raw=True),
    "finding": _view(FINDING),
    "open-question": _view(OPEN_QUESTION),
    "sending": _view(GATE, _marked(GATE, "Continue"), sending=True),
    "refused": _view(GATE, problem="This terminal may not answer for ana: sign in first."),
    "fate-mine": _view(ANSWERED, _LOST, fates={ANSWERED.ask_id: Fate.MINE}),
    "fate-lost": _view(ANSWERED, _LOST, fates={ANSWERED.ask_id: Fate.LOST}),
    "fate-expired": _view(EXPIRED),
    "fate-unattended": _view(UNATTENDED),
    "held": _view(QUESTION, is_armed=False, is_held=True),
    "offline": _view(GATE, _marked(GATE, "Continue"), offline_since=NOW - timedelta(seconds=10)),
    "trouble": _view(GATE, troubles=("the store of shop is of a later version.", "another")),
    "runs": _view(GATE, mode=Mode.RUNS, run_at=1),
    "run": _view(GATE, mode=Mode.RUN, detail=DETAIL),
    "run-paged": _view(GATE, mode=Mode.RUN, detail=DETAIL, top=9),
    "run-silent": _view(GATE, mode=Mode.RUN, run_at=2),
    "help": _view(GATE, mode=Mode.HELP),
    "help-paged": _view(GATE, mode=Mode.HELP, top=30),
}


def screen_text(view: View, width: int, height: int) -> str:
    """Return a screen as it is kept: without the blanks at the ends of lines."""
    return "\n".join(line.text.rstrip() for line in compose(view, width, height)) + "\n"


def read_screen(name: str, width: int, height: int) -> str:
    """Return a screen that was kept."""
    return (SCREENS / f"{name}-{width}x{height}.txt").read_text(encoding="utf-8")


def _write() -> None:
    for path in SCREENS.glob("*.txt"):
        path.unlink()
    SCREENS.mkdir(exist_ok=True)
    for name, view in SIGHTS.items():
        for width, height in SIZES:
            path = SCREENS / f"{name}-{width}x{height}.txt"
            path.write_text(screen_text(view, width, height), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    in_utc()
    _write()
