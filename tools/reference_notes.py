"""Sentences for fields whose names say enough in the code but not on a page of their own."""

from __future__ import annotations

from tools.reference_work import WORK_NOTES

__all__ = ["NOTES", "RUN_FIELDS"]

_EVENT_NOTES = {
    "ask_id": "Which ask",
    "at": "When",
    "outcome": "How it ended",
}

NOTES: dict[tuple[str, str], str] = {
    (
        "Ask",
        "ask_id",
    ): "Its name. People may type any end of it with at least four characters that no other ask shares",
    ("Ask", "project"): "The project that it belongs to",
    ("Ask", "kind"): "What sort of thing waits",
    ("Ask", "state"): "`open`, or how it ended",
    ("Ask", "key"): "The asker's own name for it; null when it has none",
    ("Ask", "prompt"): "What is shown",
    ("Ask", "asker"): "Who asked, as in `agent:coder`",
    ("Ask", "run_id"): "The run that asked, if there is one",
    ("Ask", "opened_at"): "When it was stored",
    ("Ask", "deadline"): "When silence has its consequence; null when it never has",
    (
        "Ask",
        "consequence",
    ): "What happens at the deadline; see [the states of an ask](ask-states.md#what-a-deadline-does)",
    ("Ask", "escalate_to"): "Who is asked, too, for the consequence `escalate`",
    ("Ask", "answer"): "The answer, when `state` is `answered`",
    ("Ask", "outcome"): "How it ended, when it ended without an answer",
    ("Ask", "is_overdue"): "The deadline has passed and it goes on waiting",
    ("Ask", "is_undelivered"): "It could be shown nowhere; it goes on waiting",
    ("Ask", "claim"): "Who says that they are on it",
    ("Prompt", "title"): "The question",
    ("Prompt", "body"): "More to read before answering",
    ("Prompt", "fields"): "What is to be answered; more than one makes a round",
    ("Field", "name"): "Its name in the answer's `values`; `q1`, `q2`, … unless the asker chose others",
    ("Field", "text"): "Its question, where a round has several",
    ("Field", "options"): "The choices; without any, it takes text",
    ("Option", "recommended"): "The asker recommends it",
    ("Option", "destructive"): "Choosing it cannot be undone",
    ("Option", "description"): "A few words more",
    (
        "Answer",
        "assurance",
    ): "How its author was established; see [who answers](../explanation/who-answers.md)",
    ("Answer", "at"): "When it was recorded",
    ("Outcome", "state"): "How it ended",
    ("Outcome", "at"): "When it ended",
    ("Outcome", "by"): "Who ended it; `operator:assent` where a deadline did",
    ("Outcome", "via"): "The surface, where a person ended it",
    ("Outcome", "assurance"): "As for an answer; null where no person was needed",
    ("Outcome", "reason"): "In the words of whoever ended it",
    ("Outcome", "consequence"): "The consequence that applied, when it expired",
    ("Outcome", "successor"): "The ask that took its place, when it was superseded",
    ("Claim", "by"): "The principal, `human:ana`",
    (
        "Claim",
        "at",
    ): "Since when; a claim older than a quarter of an hour no longer keeps others from claiming",
    ("AskOpened", "kind"): "As in the ask",
    ("AskOpened", "key"): "As in the ask",
    ("AskOpened", "prompt"): "What is shown, whole",
    ("AskOpened", "digest"): "sha256 over the prompt's canonical JSON",
    ("AskOpened", "asker"): "Who asked",
    ("AskOpened", "run_id"): "The run that asked, if there is one",
    ("AskOpened", "deadline"): "When silence has its consequence",
    ("AskOpened", "consequence"): "What happens at the deadline",
    ("AskOpened", "escalate_to"): "Who is asked, too, for the consequence `escalate`",
    ("AskOpened", "replaces"): "The ask whose place it takes",
    ("AskAnswered", "answer"): "The answer",
    ("AskAnswered", "is_unattended"): "An approval that a process gave for a person, with `--unattended`",
    ("AskEscalated", "to"): "Who is asked, too",
    ("AskUndelivered", "reason"): "Why",
    ("FlowStepped", "step"): "The entry of the journal",
    ("StoreRestored", "at"): "When it was restored",
    ("StoreRestored", "by"): "Who restored it",
    ("StoreRestored", "message"): "Where the backup ended: the number and the hash of its last event",
}
NOTES |= {
    (event, name): note
    for event in (
        *("AskOpened", "AskAnswered", "AskDeclined", "AskWithdrawn", "AskExpired", "AskSuperseded"),
        *("AskOverdue", "AskEscalated", "AskUndelivered", "_Ended"),
    )
    for name, note in _EVENT_NOTES.items()
}

_RUN_EVENT_NOTES = {
    "run_id": "Which run",
    "at": "When",
    "by": "Who",
    "command_id": "The command that did it: a retry of it gets the same reply",
    "depth": "Which loop of the stack; 0 is the lowest",
    "message": "As it stands on the topic",
}
NOTES |= {
    (event, name): note
    for event in (
        *("RunStarted", "RunTaken", "TurnBegun", "TurnEnded", "FramePushed", "FramePopped"),
        *("RunPaused", "RunHeld", "RunResumed", "RunEscalated", "RunDone", "RunAborted"),
    )
    for name, note in _RUN_EVENT_NOTES.items()
}
NOTES |= {
    ("RunStarted", "frame"): "Its lowest loop",
    ("RunStarted", "driver"): "Machine and process that drive it",
    ("RunStarted", "title"): "In the words of whoever started it",
    ("RunStarted", "models"): "The models that it may be escalated to; none named means any",
    ("RunTaken", "driver"): "Machine and process that drive it from now on",
    ("RunTaken", "fence"): "Its number; what an earlier driver still sends is refused",
    ("TurnBegun", "number"): "The iteration, from 1",
    ("TurnBegun", "attempt"): "How often it was begun; 2 and more after a driver died in the middle of it",
    ("TurnEnded", "number"): "The iteration",
    ("TurnEnded", "failure"): "What went wrong; empty when nothing did",
    ("FramePushed", "frame"): "The loop that began",
    ("FramePopped", "reason"): "How it ended, as in DONE",
    ("RunEscalated", "model"): "The model from the next iteration on",
    ("RunEscalated", "reason"): "In the words of whoever escalated it",
    ("RunDone", "reason"): "As in DONE",
    ("RunAborted", "reason"): "As in ABORT",
    ("RunAborted", "note"): "Why, in words",
}
NOTES |= {
    (event, name): note
    for event in (
        *("ControlRequested", "ControlAcknowledged", "ControlResolved", "ControlExpired"),
        *("ControlRepeated", "ControlReplied", "ControlMalformed", "TopicPosted"),
    )
    for name, note in {
        "request_id": "Which request",
        "at": "When",
        "by": "Who posted it",
        "message": "As it stands in the topic",
    }.items()
}
NOTES |= {
    ("ControlRequested", "request"): "The message, read",
    (
        "ControlRequested",
        "digest",
    ): "sha256 over command, target and payload: tells a retry from another request",
    ("ControlMalformed", "problem"): "What is wrong with it, in one sentence",
    ("ControlMalformed", "text"): "What was posted; the beginning of it, where it is long",
    ("TopicPosted", "topic"): "Where",
    ("TopicPosted", "is_copy"): "Assent put an answer into the chat of its task; nobody posted it",
    ("ControlMessage", "schema"): "0",
    ("ControlMessage", "type"): "What the message is",
    (
        "ControlMessage",
        "request_id",
    ): "Ties ACK and RESULT to the REQUEST. Ours are UUID v4; any string is taken, unless "
    "`ASSENT_STRICT_REQUEST_IDS` is set",
    ("ControlMessage", "command"): "`pause`, `resume`, `cancel` or `escalate`; repeated in ACK and RESULT",
    (
        "ControlMessage",
        "target",
    ): "`run_id`, and `issue_id` if it was given; repeated unchanged. Only `run_id` addresses a run",
    (
        "ControlMessage",
        "timestamp",
    ): "The moment of this message by its sender's clock, in UTC. It decides nothing",
    ("ControlMessage", "payload"): "See below; `{}` where there is nothing to say",
    ("StateMessage", "schema"): "1",
    ("StateMessage", "event"): "`STATE` while it is active, then once `DONE` or `ABORT`",
    ("StateMessage", "reason"): "Of DONE and ABORT only: see below",
    ("StateMessage", "run_id"): "Which run",
    ("StateMessage", "updated_at"): "Of STATE only: when it was so",
    (
        "StateMessage",
        "stack",
    ): "Its loops as [frames](#a-frame), the current one last; `[]` once it has ended",
    ("StateMessage", "paused_at"): "Since when, while it is paused",
    ("Frame", "id"): "The loop's own id; that of the lowest is the run's",
    ("Frame", "mode"): "What it goes over",
    ("Frame", "iter"): "The current iteration, from 1",
    ("Frame", "max"): "Its limit",
    ("Frame", "prompt_file"): "Where its prompt is read",
    ("Frame", "filter"): "Which issues a `grind` goes over",
    ("Frame", "issue_id"): "The issue that it works on",
    ("Frame", "worktree_path"): "Where it works",
    ("Frame", "branch"): "On which branch",
    ("Frame", "base_ref"): "What the branch began from",
    ("Frame", "model"): "The model of its next iteration",
    ("Frame", "escalation_reason"): "Why it was escalated",
    ("Message", "sequence"): "Its number in the project; within a topic the numbers rise, with gaps",
    ("Message", "topic"): "Where it was posted",
    ("Message", "posted_at"): "When, by the store's clock",
}

NOTES |= {
    ("Turn", "number"): "Which iteration, from 1",
    ("Turn", "max"): "The limit of its loop",
    ("Run", "run_id"): "Its name",
    ("Run", "project"): "The project that it belongs to",
    ("Run", "status"): "As it is stored; `assent runs` may show it as `pausing` or `stale`",
    (
        "Run",
        "levels",
    ): "Its loops, the current one last; each has a `frame` and knows whether an iteration is open",
    ("Run", "started_at"): "When it was started",
    ("Run", "started_by"): "Who started it, as in `agent:coder`",
    ("Run", "title"): "In the words of whoever started it",
    ("Run", "driver"): "Machine and process that drive it, or drove it last",
    ("Run", "paused_at"): "Since when it is paused",
    ("Run", "paused_by"): "Who paused it",
    ("Run", "ended_at"): "When it ended",
    ("Run", "ended_by"): "Who ended it",
    ("Run", "reason"): "How it ended, as in DONE and ABORT",
}

NOTES |= {
    (event, name): note
    for event in ("TokenCreated", "TokenRevoked")
    for name, note in {
        "token_id": "Which token",
        "at": "When",
        "by": "Who",
        "command_id": "The command that did it: a retry of it gets the same reply",
    }.items()
}
NOTES |= {
    ("TokenCreated", "role"): "What its holder may do",
    ("TokenCreated", "name"): "Whose it is",
    ("TokenCreated", "projects"): "Where it holds; `*` is every project",
    ("TokenCreated", "expires_at"): "From then on it is no longer good",
    ("TokenCreated", "assurance"): "How whoever made it was established",
    ("TokenCreated", "is_unattended"): "A process made it for a person, with `--unattended`",
}

NOTES |= {
    (event, name): note
    for event in ("TargetAdded", "TargetRemoved", "TargetFailed")
    for name, note in {
        "name": "Which target",
        "at": "When",
        "by": "Who did it",
        "command_id": "The command that did it: a retry of it gets the same reply",
    }.items()
}
NOTES |= {
    ("TargetAdded", "service"): "Who carries its messages",
    ("TargetAdded", "host"): "Where it is; the rest of its address is in no event",
    ("TargetAdded", "kinds"): "Only of asks of these kinds; empty for all",
    ("TargetAdded", "people"): "Who may press buttons there: a user of the service, and the name here",
    (
        "TargetAdded",
        "allows_internal",
    ): "It may lead to an address inside the network, with `--allow-internal`",
    ("TargetAdded", "assurance"): "How whoever added it was established",
    ("TargetAdded", "is_unattended"): "A process added it for a person, with `--unattended`",
    ("TargetFailed", "ask_id"): "The ask that it was to be told of",
    ("TargetFailed", "what"): "What it was to be told",
    ("TargetFailed", "event"): "The number of the event that it was about",
    ("TargetFailed", "attempts"): "How often it was tried",
    ("TargetFailed", "error"): "Why the last try failed",
}

NOTES |= WORK_NOTES

_INSTANT, _MAYBE = "instant", "string or null"
RUN_FIELDS: dict[str, tuple[str, str]] = {
    "run_id": ("string", "Its name. Commands take it, or the beginning or end of it"),
    "status": (
        "string",
        "`running`, `pausing`, `paused`, `stale`, `done`, `aborted`; [what they mean](run-states.md#what-people-see)",
    ),
    "mode": ("`loop`, `issue`, `grind`", "What its current loop goes over"),
    "iteration": ("number", "The current iteration of the current loop, from 1"),
    "max": ("number", "The limit of the current loop"),
    "model": (_MAYBE, "The model of the next iteration"),
    "updated_at": (_INSTANT, "When it last said where it is"),
    "stack": (
        "list of [frame](topics.md#a-frame)",
        "Its loops, the current one last; empty once it has ended",
    ),
    "project": ("string", "The project that it belongs to"),
    "title": ("string", "In the words of whoever started it"),
    "attempt": ("number", "How often the current iteration was begun"),
    "reason": (_MAYBE, "How it ended, as in DONE and ABORT"),
    "note": ("string", "Why it was aborted, in words"),
    "driver": (_MAYBE, "Machine and process that drive it; null when nobody alive does"),
    "started_at": (_INSTANT, "When it was started"),
    "paused_at": (f"{_INSTANT} or null", "Since when it is paused"),
    "ended_at": (f"{_INSTANT} or null", "When it ended"),
    "sequence": ("number", "The number of the last event that changed it"),
    "paused_by": (_MAYBE, "Who paused it, as in `human:ana`"),
    "ended_by": (_MAYBE, "Who ended it"),
    "waits": ("number", "How many of its asks wait for an answer"),
}
"""The fields of `runs --json` in their order, with type and meaning."""
