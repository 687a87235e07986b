"""Sentences for fields whose names say enough in the code but not on a page of their own."""

from __future__ import annotations

__all__ = ["NOTES"]

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
}
NOTES |= {
    (event, name): note
    for event in (
        *("AskOpened", "AskAnswered", "AskDeclined", "AskWithdrawn", "AskExpired", "AskSuperseded"),
        *("AskOverdue", "AskEscalated", "AskUndelivered", "_Ended"),
    )
    for name, note in _EVENT_NOTES.items()
}
