"""Markdown of an agent as a tree: whatever it wrote, a page makes nothing of it but what is on the list."""

import random
import re
import time
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.client.verbs import VERBS
from assent.protocol.principal import Role
from assent.surfaces.http import prose
from assent.surfaces.http.prose import MAX_PROSE, MAX_PROSE_DEPTH, MAX_PROSE_NODES, TAGS, parse_prose
from tests.surfaces.http.world import Trial, a_world

__all__: list[str] = []

MOST = 5.0
"""Seconds of work: far above what any text takes here, and far below what these would take if nobody looked."""
SAFE = re.compile(r"(https?://[^\s@\\]+|mailto:[^\s]+@[^\s]+)", re.IGNORECASE).fullmatch

TARGETS = (
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "\x01javascript:alert(1)",
    "&#106;avascript:alert(1)",
    "javascript&colon;alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "//evil.example/x",
    "/asks",
    "#/inbox",
    "https://ana@evil.example",
    "https:\\\\evil.example",
    "http://[::1",
    "https://",
    "https://evil.example/" + 3_000 * "a",
    "http://ok.example:99999999/",
    "mailto:",
    "blob:http://127.0.0.1/x",
    "ws://127.0.0.1/events",
    "https://ok.example/\u202e",
    "<https://ok.example>",
    "https://ok.example/a%0d%0aSet-Cookie:x",
    "ftp://x.example/",
)
FRAMES = (
    "[a]({})",
    "![a]({})",
    "<{}>",
    "[a]: {}\n\n[a]",
    "[![a]({0})]({0})",
    '<a href="{}" onclick="x()">a</a>',
    '<img src="{}" onerror="alert(1)">',
    '<iframe src="{}"></iframe>',
    "- > [a]({})",
    "|a|\n|-|\n|[a]({})|",
    "# [a]({} 'x\" onload=\"y')",
    "**[a](<{}>)**",
)
PAYLOADS = [frame.format(target) for frame in FRAMES for target in TARGETS]


def walk(nodes: list[Any], depth: int = 1) -> list[tuple[str, dict[str, str], int]]:
    """Return every tag of a tree with its attributes and its depth; fail on what is no node."""
    found = []
    for node in nodes:
        if isinstance(node, str):
            continue
        assert isinstance(node, list)
        tag, attributes, *children = node
        assert isinstance(tag, str)
        assert isinstance(attributes, dict)
        found += [(tag, attributes, depth), *walk(children, depth + 1)]
    return found


def text_of(nodes: list[Any]) -> str:
    """Return all that is written in a tree."""
    return "".join(node if isinstance(node, str) else text_of(node[2:]) for node in nodes)


def check(nodes: list[Any]) -> None:
    """Fail on a tag or an attribute that is not on the list, or a link that leads anywhere else."""
    for tag, attributes, depth in walk(nodes):
        assert tag in TAGS
        assert depth <= 2 * MAX_PROSE_DEPTH
        if tag == "a":
            assert set(attributes) == {"href"}
            assert SAFE(attributes["href"])
        else:
            assert attributes == {}


@pytest.mark.parametrize("frame", range(len(FRAMES)))
def test_hostile_markdown_gives_nothing_that_is_not_on_the_list(frame: int) -> None:
    """300 payloads, in every place where Markdown takes an address or HTML."""
    assert len(PAYLOADS) == 300
    for payload in PAYLOADS[frame * len(TARGETS) : (frame + 1) * len(TARGETS)]:
        check(parse_prose(payload))


@given(st.text(st.sampled_from("abc \n\t\r\0<>[]()!*_`~#-+.1|\\&;:/\"'=@\u202e\u200b"), max_size=300))
def test_any_markdown_gives_nothing_that_is_not_on_the_list(text: str) -> None:
    """Whatever the characters that mean something are put together to."""
    check(parse_prose(text))


def test_markdown_becomes_what_it_says() -> None:
    """Every tag of the list, and headings that stand below those of the page."""
    tree = parse_prose(
        "# One\n## Two\n### Three\n#### Four\n###### Six\n\n*a* **b** ~~c~~ `d`  \ne\n\n- x\n- y\n\n1. z\n\n> q\n\n---\n\n"
        "    code\n\n|h|\n|-|\n|c|\n\n[l](https://ok.example/a)\n"
    )
    check(tree)
    assert {tag for tag, *_ in walk(tree)} == TAGS
    assert [tag for tag, *_ in walk(tree) if tag[0] == "h" and tag != "hr"] == ["h3", "h4", "h5", "h6", "h6"]
    assert ["a", {"href": "https://ok.example/a"}, "l"] in tree[-1]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![a cat](https://x.example/c.png)", "image: a cat (https://x.example/c.png)"),
        ("[safe](javascript:x)", "safe (javascript:x)"),
        ("[x]: https://hidden.example", "[x]: https://hidden.example"),
        ("<!-- hidden -->", "<!-- hidden -->"),
        ("<b onclick=x>b</b>", "<b onclick=x>b</b>"),
        ("[t](https://ok.example 'and this')", "t (https://ok.example) (and this)"),
        ("[https://bank.example](https://ok.example)", "https://bank.example (https://ok.example)"),
        ("[**https**://ok.example](https://ok.example)", "https://ok.example (https://ok.example)"),
        ("<https://ok.example>", "https://ok.example"),
        ("[ana@ok.example](mailto:eve@ok.example)", "ana@ok.example (mailto:eve@ok.example)"),
        ("```rm -rf\nls\n```", "rm -rfls\n"),
        ("4. four\n5. five", "4. four5. five"),
    ],
)
def test_nothing_that_was_written_is_hidden(text: str, shown: str) -> None:
    """What Markdown would swallow, fetch or renumber is there to be read."""
    tree = parse_prose(text)
    check(tree)
    assert text_of(tree) == shown


BOMBS = {
    "quotes": ">" * (1 << 20),
    "brackets": "[" * (1 << 20),
    "short quotes": ">" * (MAX_PROSE - 1),
    "short brackets": "[" * (MAX_PROSE - 1),
    "pictures": "![" * (MAX_PROSE // 2),
    "links": "[a](" * (MAX_PROSE // 4),
    "stars": "*a **b" * (MAX_PROSE // 6),
    "ticks": "".join("`" * count + "a" for count in range(1, 400)),
    "tags": "<a" * (MAX_PROSE // 2),
    "table": "a|b\n-|-\n" + "x|y\n" * (MAX_PROSE // 5),
    "wide table": "|".join("a" * 300) + "\n" + "|".join("-" * 300) + "\n" + "a\n" * (MAX_PROSE // 3),
    "lists": "".join(" " * (2 * level) + "- a\n" for level in range(200)),
    "paragraphs": "a\n\n" * (MAX_PROSE // 3),
    "lines": "a\n" * (MAX_PROSE // 2),
    "entities": "&" * (MAX_PROSE - 1),
    "many paragraphs": "a\n\n" * 300_000,
    "emphasis": "*" * 50_000 + "a" + "*" * 49_000,
    "runs of emphasis": ("*" * 1_999 + "a") * 50,
    "short wide table": "|a" * 1_000 + "\n" + "|-" * 1_000 + "\n" + "|\n" * 2_000,
}


@pytest.mark.parametrize("name", sorted(BOMBS))
def test_text_that_is_made_to_take_long_does_not(name: str) -> None:
    """It is read until its work is over, and then shown as it was written; its size is bounded, too."""
    began = time.thread_time()
    tree = parse_prose(BOMBS[name])
    assert time.thread_time() - began < MOST
    check(tree)
    assert len(walk(tree)) <= MAX_PROSE_NODES


def test_text_that_takes_more_steps_than_it_may_is_shown_as_it_was_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In paragraphs, with all that was in it; what is counted is the work, whatever time it takes."""
    monkeypatch.setattr(prose, "MAX_PROSE_STEPS", 3)
    assert parse_prose("# a\n*b*\n\n\nc") == [["p", {}, "# a\n*b*"], ["p", {}, "c"]]


def test_text_that_is_too_deep_or_too_much_is_shown_whole() -> None:
    """The parser would leave out what is deeper than it goes; nothing is left out here."""
    deep = "".join("> " * level + f"word{level}\n\n" for level in range(80))
    shown = text_of(parse_prose(deep))
    assert all(f"word{level}" in shown for level in range(80))
    much = "*a* " * (MAX_PROSE_NODES // 2)
    assert text_of(parse_prose(much)) == much


def test_random_markdown_loses_no_word() -> None:
    """Words that are put among all sorts of marks are all there."""
    chance = random.Random(7)
    for _ in range(200):
        words = [f"w{number}x" for number in range(8)]
        text = "".join(
            word + chance.choice([" ", "\n", "\n\n", "*", "_", "`", "[", "](", ")", "~~", "> ", "# ", "|"])
            for word in words
        )
        shown = text_of(parse_prose(text))
        assert [word for word in words if word not in shown] == []


def test_same_text_is_read_once_however_often_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it is the text of several asks. What is kept has a bound, and what is gone is read again."""
    read: list[str] = []

    def note(text: str) -> list[Any]:
        read.append(text)
        return parse_prose(text)

    monkeypatch.setattr(prose, "parse_prose", note)
    with a_world() as world:
        place = world.place()

        def view(title: str, body: str) -> bytes:
            ask = place.make("open_ask", {"prompt": title, "body": body})
            path = place.path(VERBS["show_prose"], ask=ask["ask_id"])
            told = {world.send_as(Trial(VERBS["show_prose"], path), place.secret).body for _ in range(5)}
            assert len(told) == 1
            return told.pop()

        view("One?", BOMBS["stars"])
        view("Two?", BOMBS["stars"])
        assert read == [BOMBS["stars"]]
        monkeypatch.setattr(prose, "MAX_KEPT_PROSE_BYTES", 1)
        view("Three?", "*b*")
        assert read == [BOMBS["stars"], *5 * ["*b*"]]


def test_prose_of_an_ask_comes_with_the_digest_of_its_prompt() -> None:
    """And is kept by nobody on the way: it is somebody's project."""
    with a_world() as world:
        place = world.place()
        ask = place.make("open_ask", {"prompt": "Which?", "options": ["A", "B"], "body": "Some *words*."})
        path = place.path(VERBS["show_prose"], ask=ask["ask_id"])
        sent = world.send_as(Trial(VERBS["show_prose"], path), world.tokens[Role.OBSERVER])
        told = msgspec.json.decode(sent.body)
        assert told == {"body": [["p", {}, "Some ", ["em", {}, "words"], "."]], "digest": ask["digest"]}
        reply = world.line.get(path, headers={"authorization": f"Bearer {world.tokens[Role.OBSERVER]}"})
        assert reply.headers["cache-control"] == "no-store"
