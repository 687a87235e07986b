"""Selection tools as strict as the real ones, with a person in front of them who clicks where they can and types else.

Each tool is what a host has (a request goes in, a reply comes out, what is over a limit is refused) and a `select` that
speaks to it, as an adapter does.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from assent.flows.step import Ask, Ended
from assent.protocol.block import render_brief, render_question
from assent.protocol.capability import CAPABILITIES, Capability, FreeText
from assent.protocol.dialog import Dialog, Given
from assent.protocol.display import fold
from assent.protocol.error import AssentError
from assent.protocol.gate import render_gate

__all__ = ["AcpPermission", "ClaudeCode", "Codex", "McpForm", "Person", "PlainText", "Tool"]


class Person:
    """Gives inputs one after the other, by clicking where there is a row for it."""

    def __init__(self, *inputs: Given) -> None:
        self.inputs = list(inputs)
        self.seen: list[Dialog] = []
        self._left: list[str] = []

    def answer(self, dialog: Dialog) -> Given:
        """Return a label of the dialog or a text."""
        self.seen.append(dialog)
        assert len(self.seen) < 200, "the person turns pages for ever"
        if self._left:
            return self._go_on(dialog)
        if not self.inputs:
            return None
        wanted = self.inputs[0]
        if not isinstance(wanted, str) or not wanted:
            return self.inputs.pop(0)
        several = [self._find(dialog, part) for part in wanted.split(",")]
        rows = [label for label in several if label is not None]
        if dialog.is_multiple and len(rows) == len(several):
            self.inputs.pop(0)
            return rows
        row = self._find(dialog, wanted)
        if row is not None or dialog.allows_free_text:
            self.inputs.pop(0)
            return row or wanted
        return self._turn(dialog, wanted)

    def _find(self, dialog: Dialog, wanted: str) -> str | None:
        spoken = {"y": "yes", "n": "no"}.get(wanted, wanted)
        for row in dialog.rows:
            number, _, words = row.label.partition(". ")
            if fold(spoken) in (fold(row.label), fold(number), fold(words)):
                return row.label
        return None

    def _turn(self, dialog: Dialog, wanted: str) -> str:
        """Look for a page with it: that of its command, or the next."""
        for row in dialog.rows:
            head = fold(row.label.removesuffix("…"))
            if row.label.endswith("…") and row.label != "More…" and fold(wanted).startswith(f"{head} "):
                names = wanted[len(head) :].replace(",", " ").split()
                if len(names) > 1 or head in ("deselect", "toggle", "select specific"):
                    self.inputs.pop(0)
                    self._left = [*names, "Done"]
                return row.label
        return next(row.label for row in dialog.rows if row.label in ("More…", "Back"))

    def _go_on(self, dialog: Dialog) -> str:
        row = self._find(dialog, self._left[0])
        if row is None:
            return next(row.label for row in dialog.rows if row.label in ("More…", "Back"))
        self._left.pop(0)
        return row


class Tool:
    """What all of them have."""

    capability: Capability

    def __init__(self, person: Person) -> None:
        self.person = person
        self.requests: list[Any] = []

    def select(self, dialogs: Sequence[Dialog]) -> Sequence[Given] | None:
        """Show dialogs and return what came back."""
        raise NotImplementedError


# Claude Code: AskUserQuestion.


class _ClaudeOption(msgspec.Struct, forbid_unknown_fields=True):
    label: Annotated[str, Meta(min_length=1)]
    description: str


class _ClaudeQuestion(msgspec.Struct, forbid_unknown_fields=True):
    question: Annotated[str, Meta(min_length=1, max_length=5_000)]
    header: Annotated[str, Meta(max_length=12)]
    options: Annotated[list[_ClaudeOption], Meta(min_length=2, max_length=4)]
    multiSelect: bool  # noqa: N815 - as on the wire


class _ClaudeInput(msgspec.Struct, forbid_unknown_fields=True):
    questions: Annotated[list[_ClaudeQuestion], Meta(min_length=1, max_length=4)]


class ClaudeCode(Tool):
    """1 to 4 questions, 2 to 4 options, unique texts and labels; answers are keyed by the question's text."""

    capability = CAPABILITIES["claude-code"]

    def ask_user_question(self, request: dict[str, Any], dialogs: Sequence[Dialog]) -> dict[str, Any]:
        """The host's side."""
        asked = msgspec.convert(request, _ClaudeInput)
        texts = [question.question for question in asked.questions]
        assert len(set(texts)) == len(texts), "duplicate question texts"
        for question in asked.questions:
            shown = [option.label for option in question.options]
            assert len(set(shown)) == len(shown), "duplicate labels"
            assert not (question.multiSelect and any("," in label for label in shown))
        self.requests.append(asked)
        answers: dict[str, str] = {}
        for text, dialog in zip(texts, dialogs, strict=True):
            given = self.person.answer(dialog)
            if given is None:
                return {"answers": {}, "afkTimeoutMs": 60_000}
            answers[text] = given if isinstance(given, str) else ", ".join(given)
        return {"answers": answers}

    def select(self, dialogs: Sequence[Dialog]) -> Sequence[Given] | None:
        """Speak to it."""
        questions = [
            {
                "question": dialog.text,
                "header": dialog.header,
                "options": [{"label": row.label, "description": row.description} for row in dialog.rows],
                "multiSelect": dialog.is_multiple,
            }
            for dialog in dialogs
        ]
        reply = self.ask_user_question({"questions": questions}, dialogs)
        if "afkTimeoutMs" in reply:
            return None
        return [reply["answers"].get(dialog.text) for dialog in dialogs]


# Codex: request_user_input.


class Codex(Tool):
    """1 to 3 questions, 2 to 3 options, one choice; a text comes as a note beside "None of the above"."""

    capability = CAPABILITIES["codex"]

    def select(self, dialogs: Sequence[Dialog]) -> Sequence[Given] | None:
        """Speak to it, and be it."""
        assert 1 <= len(dialogs) <= 3
        answers: dict[str, list[str]] = {}
        for number, dialog in enumerate(dialogs):
            assert 2 <= len(dialog.rows) <= 3
            assert len(dialog.header) <= 12
            assert not dialog.is_multiple
            self.requests.append(dialog)
            given = self.person.answer(dialog)
            if given is None:
                answers = {}  # nobody was there: all of them are empty
                break
            label = given if isinstance(given, str) else ", ".join(given)
            is_row = label in [row.label for row in dialog.rows]
            answers[f"q{number}"] = [label] if is_row else ["None of the above", f"user_note: {label}"]
        return [answers.get(f"q{number}") for number in range(len(dialogs))]


# MCP: a form.


class McpForm(Tool):
    """A flat object of strings and choices; the reply is accepted, declined or cancelled."""

    capability = CAPABILITIES["mcp-form"]

    def elicit(self, schema: dict[str, Any], dialogs: Sequence[Dialog]) -> dict[str, Any]:
        """The host's side: it refuses any other root key (as Codex does), and all that is nested."""
        assert set(schema) == {"type", "properties", "required"}
        for name, prop in schema["properties"].items():
            assert prop["type"] in ("string", "array"), name
            for row in prop.get("oneOf", []) + prop.get("items", {}).get("anyOf", []):
                assert set(row) == {"const", "title"}
        self.requests.append(schema)
        content: dict[str, Any] = {}
        for number, dialog in enumerate(dialogs):
            given = self.person.answer(dialog)
            if given is None:
                return {"action": "cancel"}
            rows = [row.label for row in dialog.rows]
            picked = [given] if isinstance(given, str) else list(given)
            if all(label in rows for label in picked):
                content[f"choice_{number}"] = picked if dialog.is_multiple else picked[0]
            else:
                content[f"text_{number}"] = ", ".join(picked)
        return {"action": "accept", "content": content}

    def select(self, dialogs: Sequence[Dialog]) -> Sequence[Given] | None:
        """Speak to it."""
        properties: dict[str, Any] = {}
        for number, dialog in enumerate(dialogs):
            titles = [{"const": row.label, "title": row.label} for row in dialog.rows]
            if dialog.is_multiple:
                properties[f"choice_{number}"] = {"type": "array", "items": {"anyOf": titles}}
            elif titles:
                properties[f"choice_{number}"] = {"type": "string", "oneOf": titles}
            if dialog.allows_free_text:
                properties[f"text_{number}"] = {"type": "string"}
        reply = self.elicit({"type": "object", "properties": properties, "required": []}, dialogs)
        if reply["action"] != "accept":
            return None
        content = reply["content"]
        return [content.get(f"choice_{n}") or content.get(f"text_{n}") for n in range(len(dialogs))]


# ACP: a permission, with room for three.


class AcpPermission(Tool):
    """Options with ids, nothing to type; an unknown outcome is no decision."""

    capability = Capability(
        "narrow-permission", FreeText.NEVER, max_options=3, min_options=2, shows_descriptions=False
    )

    def select(self, dialogs: Sequence[Dialog]) -> Sequence[Given] | None:
        """Speak to it, and be it."""
        (dialog,) = dialogs
        options = {str(number): row.label for number, row in enumerate(dialog.rows)}
        assert 2 <= len(options) <= 3
        self.requests.append(options)
        given = self.person.answer(dialog)
        if given is None:
            return None
        (option_id,) = [option_id for option_id, label in options.items() if label == given]
        return [options[option_id]]


class PlainText:
    """Standard input and output in a test: the block is printed, and lines come from a list."""

    def __init__(self, *inputs: str) -> None:
        self.inputs = list(inputs)
        self.printed: list[str] = []
        self.said: list[str] = []

    def present(self, ask: Ask) -> None:
        """Print the block."""
        shown = render_gate(ask.prompt) if ask.prompt.commands else render_question(ask.prompt)
        self.printed.append(shown)

    def read(self) -> str | Ended | None:
        """Return the next line."""
        return self.inputs.pop(0) if self.inputs else None

    def echo(self, ask: Ask, refusal: AssentError) -> None:
        """Print the echo and the brief list."""
        self.printed.append(f"{refusal.message}\n{render_brief(ask.prompt)}")

    def say(self, markdown: str) -> None:
        """Keep what is said."""
        self.said.append(markdown)
