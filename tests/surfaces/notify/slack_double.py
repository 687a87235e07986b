"""A small Slack on this machine, which takes no call that the real one would refuse for its form.

The arguments of each method and the sizes of each block are Slack's own, as published. A call that does not fit is answered as
Slack does, and written down; whoever uses the double looks at `faults` at the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.surfaces.notify.sink import Answer, Sent, Sink, sink

__all__ = ["CHANNEL", "TOKEN", "SlackDouble", "slack_double"]

TOKEN = "xoxb-of-the-double"
CHANNEL = "C024BE91L"
ARGUMENTS = {
    "chat.postMessage": {
        *("channel", "text", "blocks", "thread_ts", "mrkdwn", "unfurl_links", "unfurl_media"),
    },
    "chat.update": {"channel", "ts", "text", "blocks"},
    "views.open": {"trigger_id", "view"},
}


class SlackDouble:
    """The messages of one channel."""

    def __init__(self, taken: Sink) -> None:
        self.sink = taken
        taken.decide = self._answer
        self.messages: dict[str, dict[str, Any]] = {}
        """By their moment: each as it is now."""
        self.faults: list[str] = []
        self.refusals: list[str] = []
        """What the next calls are refused with."""
        self.dialogs: list[dict[str, Any]] = []
        """Those that were opened, the last one last."""
        self._moment = 1_700_000_000

    @property
    def address(self) -> str:
        """For a target."""
        return f"slack://{TOKEN}@{CHANNEL}?api=http://{self.sink.place}/api"

    @property
    def only(self) -> dict[str, Any]:
        """The one message that is not in a thread."""
        (message,) = [each for each in self.messages.values() if "thread_ts" not in each]
        return message

    @property
    def replies(self) -> list[str]:
        """What was said in threads."""
        return [each["text"] for each in self.messages.values() if "thread_ts" in each]

    def buttons(self) -> dict[str, dict[str, Any]]:
        """Return the buttons of the one message, by their labels."""
        blocks = [block for block in self.only.get("blocks", []) if block["type"] == "actions"]
        return {each["text"]["text"]: each for block in blocks for each in block["elements"]}

    def shown(self) -> str:
        """Return what people read in the one message, a block a paragraph."""
        return "\n".join(block["text"]["text"] for block in self.only["blocks"] if block["type"] == "section")

    def _answer(self, sent: Sent) -> Answer:
        method = sent.path.removeprefix("/api/")
        body = sent.json
        if sent.headers.get("authorization") != f"Bearer {TOKEN}":
            return _say(error="invalid_auth")
        if self.refusals:
            return _say(error=self.refusals.pop(0))
        try:
            self._check(method, body)
        except AssertionError as fault:
            self.faults.append(f"{method}: {fault}")
            return _say(error="invalid_arguments")
        if method == "views.open":
            self.dialogs.append(body["view"])
            return _say(view=body["view"])
        if method == "chat.update":
            if body["ts"] not in self.messages:
                return _say(error="message_not_found")
            self.messages[body["ts"]] |= body
            return _say(channel=body["channel"], ts=body["ts"])
        self._moment += 1
        moment = f"{self._moment}.000100"
        self.messages[moment] = body | {"ts": moment}
        return _say(channel=CHANNEL, ts=moment)

    def _check(self, method: str, body: dict[str, Any]) -> None:
        unknown = set(body) - ARGUMENTS[method]
        assert not unknown, f"no arguments of it: {unknown}"
        if method == "views.open":
            assert body["trigger_id"], "trigger_id"
            _check_dialog(body["view"])
            return
        assert body["channel"] == CHANNEL, "no such channel"
        assert 0 < len(body["text"]) <= 4_000, "text"
        blocks = body.get("blocks", [])
        assert len(blocks) <= 50, "too many blocks"
        names = [each["action_id"] for block in blocks for each in block.get("elements", [])]
        assert len(names) == len(set(names)), "action_id twice"
        for block in blocks:
            if block["type"] == "section":
                assert 0 < len(block["text"]["text"]) <= 3_000, "section"
            else:
                assert 0 < len(block["elements"]) <= 25, "elements"
                for element in block["elements"]:
                    _check_button(element)


def _check_dialog(view: dict[str, Any]) -> None:
    assert view["type"] == "modal", "type"
    assert len(view["private_metadata"]) <= 3_000, "private_metadata"
    assert len(view["callback_id"]) <= 255, "callback_id"
    for name in ("title", "submit", "close"):
        assert 0 < len(view[name]["text"]) <= 24, name
    assert [block["type"] for block in view["blocks"]] == ["section", "input"], "blocks"
    field = view["blocks"][1]["element"]
    assert (field["type"], field["max_length"] <= 3_000) == ("plain_text_input", True), "field"


def _check_button(button: dict[str, Any]) -> None:
    assert set(button) <= {"type", "action_id", "text", "value", "style", "confirm"}, "button"
    assert 0 < len(button["text"]["text"]) <= 75, "label"
    assert len(button["value"]) <= 2_000, "value"
    assert len(button["action_id"]) <= 255, "action_id"
    for name, most in (("title", 100), ("text", 300), ("confirm", 30), ("deny", 30)):
        assert len(button.get("confirm", {}).get(name, {}).get("text", "")) <= most, name


def _say(**said: Any) -> Answer:
    return Answer(200, json.dumps({"ok": "error" not in said} | said).encode())


@contextmanager
def slack_double() -> Iterator[SlackDouble]:
    """Give a Slack; a call that did not fit fails the test."""
    with sink() as taken:
        made = SlackDouble(taken)
        yield made
        assert made.faults == []
