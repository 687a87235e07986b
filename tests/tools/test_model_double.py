"""The model on loopback says its script, in the words of each interface, and keeps what it was asked."""

import gzip
import http.client
import json
from typing import Any

import pytest

from tests.patience import PATIENCE
from tools.model_double import ModelDouble

__all__: list[str] = []

CALL = {"tool": "Bash", "input": {"command": "ls"}}
TOOLS = [{"name": "Bash"}]


def post(
    model: ModelDouble, path: str, body: Any, headers: dict[str, str] | None = None, raw: bytes | None = None
) -> str:
    """Send a body and return what came back."""
    there = http.client.HTTPConnection(model.url.removeprefix("http://"), timeout=PATIENCE)
    try:
        there.request("POST", path, json.dumps(body).encode() if raw is None else raw, headers or {})
        return there.getresponse().read().decode()
    finally:
        there.close()


def events(text: str) -> list[Any]:
    """Return the values of a stream's lines."""
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def test_a_script_is_said_step_by_step_and_then_the_model_is_done() -> None:
    """Each request that offers tools is told one step; the requests are kept in order."""
    with ModelDouble([CALL, {"text": "well"}]) as model:
        replies = [
            json.loads(post(model, "/v1/messages", {"tools": TOOLS, "at": at}))["content"][0]
            for at in range(3)
        ]
    assert replies[0] == {"type": "tool_use", "id": "toolu_000001", "name": "Bash", "input": CALL["input"]}
    assert [reply.get("text") for reply in replies[1:]] == ["well", "done"]
    assert [kept["body"]["at"] for kept in model.requests] == [0, 1, 2]
    assert model.is_spent


def test_a_request_without_tools_costs_no_step() -> None:
    """A program's side talk, such as a title for its session, does not use up the script."""
    with ModelDouble([CALL]) as model:
        side = json.loads(post(model, "/v1/messages", {}))
        assert not model.is_spent
        main = json.loads(post(model, "/v1/messages", {"tools": TOOLS}))
    assert (side["content"][0]["text"], main["content"][0]["name"]) == ("ok", "Bash")


def test_a_tool_call_in_a_stream_carries_its_whole_input_on_every_interface() -> None:
    """The four interfaces tell the same call."""
    asked = {"tools": TOOLS, "stream": True, "model": "m"}
    with ModelDouble([CALL] * 4) as model:
        messages = events(post(model, "/v1/messages", asked))
        responses = events(post(model, "/v1/responses", asked))
        chat = events(post(model, "/v1/chat/completions", asked))
        gemini = events(post(model, "/v1beta/models/m:streamGenerateContent?alt=sse", asked))
    told = [
        messages[2]["delta"]["partial_json"],
        responses[1]["item"]["arguments"],
        chat[0]["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"],
        json.dumps(gemini[0]["candidates"][0]["content"]["parts"][0]["functionCall"]["args"]),
    ]
    assert [json.loads(text) for text in told] == [CALL["input"]] * 4


def test_a_namespace_goes_along_where_an_interface_has_one() -> None:
    """Codex sorts the tools of a server under its name."""
    with ModelDouble([{**CALL, "namespace": "mcp__x"}]) as model:
        said = events(post(model, "/v1/responses", {"tools": TOOLS}))[1]["item"]
    assert said["namespace"] == "mcp__x"


@pytest.mark.parametrize("kind", ["gzip", "chunked", "broken"])
def test_a_body_is_read_however_it_was_sent_and_a_broken_one_is_kept_as_such(kind: str) -> None:
    """Programs pack their bodies; what cannot be read is told, and answered all the same."""
    body = json.dumps({"tools": TOOLS}).encode()
    raw, headers = {
        "gzip": (gzip.compress(body), {"content-encoding": "gzip"}),
        "chunked": (b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body), {"transfer-encoding": "chunked"}),
        "broken": (b"{", {}),
    }[kind]
    with ModelDouble([CALL]) as model:
        assert "Bash" in post(model, "/v1/messages", None, headers, raw)
    assert model.requests[0]["body"] == ({"unreadable": "{"} if kind == "broken" else {"tools": TOOLS})


def test_a_step_that_is_neither_text_nor_call_is_refused_before_anything_listens() -> None:
    """A mistyped script fails where it is written."""
    with pytest.raises(ValueError, match="is no step"):
        ModelDouble([{"txt": "x"}])
