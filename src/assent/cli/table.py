"""All commands by name: where each lives and what its help says. Reading the list loads none of them."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COMMANDS", "Entry"]


class Entry(NamedTuple):
    """One command of the list."""

    section: str
    home: str
    """The module under `assent.cli` that it is in."""
    summary: str
    name: str = "command"
    """What it is called there."""


_AGENTS, _PEOPLE, _RUNS = "Agents and scripts", "People", "Runs"
_RECORD, _START = "The record", "Getting started"

COMMANDS: dict[str, Entry] = {
    "ask": Entry(_AGENTS, "ask", "Ask a person, and print the answer."),
    "approve": Entry(_AGENTS, "approve", "Ask whether an action may happen, and print the receipt."),
    "redeem": Entry(_AGENTS, "redeem", "Spend an approval, on exactly that action."),
    "gate": Entry(_AGENTS, "gate", "Stop at a gate until a person chose how to go on."),
    "confirm": Entry(_AGENTS, "confirm", "Hold a piece of work until somebody says go on."),
    "session": Entry(_AGENTS, "session", "Go through a code review with a person, gate by gate."),
    "review": Entry(_AGENTS, "review", "Decide about the findings of a document review, one by one."),
    "plan": Entry(_AGENTS, "plan", "Check a plan, or show how far it is."),
    "result": Entry(_AGENTS, "result", "Hand in an agent's result; what it asks is put to people."),
    "pr": Entry(_AGENTS, "pr", "Put open asks on a pull request, and take the replies."),
    "loop": Entry(_AGENTS, "loop", "Run any command as a loop that people can steer."),
    "hook": Entry(_AGENTS, "hook", "Carry what an agent's host asks to the inbox, and the answer back."),
    "mcp": Entry(_AGENTS, "mcp", "Serve agents whose host speaks MCP: they ask, people answer anywhere."),
    "host": Entry(_AGENTS, "host", "Carry what Codex, opencode or another agent asks to people."),
    "inbox": Entry(_PEOPLE, "inbox", "List what waits for you."),
    "show": Entry(_PEOPLE, "show", "Show one ask in full."),
    "answer": Entry(_PEOPLE, "answer", "Answer an ask, or decline it."),
    "claim": Entry(_PEOPLE, "claim", "Say that you are on it."),
    "withdraw": Entry(_PEOPLE, "withdraw", "Take an ask back."),
    "policy": Entry(_PEOPLE, "policy", "Say how far agents may go without you."),
    "token": Entry(_PEOPLE, "token", "Make and revoke credentials for a server."),
    "notify": Entry(_PEOPLE, "notify", "Be told of asks: in a chat, on a phone, by mail or webhook."),
    "runs": Entry(_RUNS, "runs", "Show what runs, also live."),
    "pause": Entry(_RUNS, "steer", "Let no further iteration of a run start.", "pause"),
    "resume": Entry(_RUNS, "steer", "Let a paused run go on.", "resume"),
    "cancel": Entry(_RUNS, "steer", "End a run.", "cancel"),
    "escalate": Entry(_RUNS, "steer", "Give a run a more capable model.", "escalate"),
    "post": Entry(_RECORD, "post", "Put a message into a topic."),
    "read": Entry(_RECORD, "read", "Read the messages of a topic, also live."),
    "log": Entry(_RECORD, "log", "Read the events of a project, also live."),
    "audit": Entry(_RECORD, "audit", "Check that the record is whole."),
    "store": Entry(_RECORD, "store", "Say what the store holds; move it, keep it, bring it back."),
    "doctor": Entry(_RECORD, "doctor", "Say what is installed, which store is used, and what is wrong."),
    "serve": Entry(_START, "serve", "Serve this store over HTTP, to agents, people and your browser."),
    "install": Entry(_START, "install", "Connect an agent's host to your inbox."),
    "demo": Entry(_START, "demo", "Try it: an agent asks, you answer."),
    "completion": Entry(_START, "completion", "Print the completion script for your shell."),
}
