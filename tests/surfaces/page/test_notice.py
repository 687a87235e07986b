"""What is said of asks in the tab and on the desktop (notice.js): how much waits, what sort, where, and its title."""

from pathlib import Path
from typing import Any

from tests.surfaces.page.in_node import call

__all__: list[str] = []

NOTICES = """
import * as notice from "/page/notice.js";
export default ({ counts, known, asks }) => {
  const open = notice.openOnes(new Map(asks.map((ask) => [ask.ask_id, ask])));
  const arrived = notice.arrivals(known && new Set(known), open);
  return {
    tabs: counts.map((count) => [notice.tabTitle(count), notice.tabIcon(count).split("/").at(-1)]),
    arrived: arrived.map((ask) => ask.ask_id),
    told: notice.notices(arrived).map(({ tag, title, body, ask }) => ({ tag, title, body, ask: ask && ask.ask_id })),
  };
};
"""


def an_ask(name: str, **changes: Any) -> dict[str, Any]:
    """Return an ask as the page has it."""
    prompt = {"title": f"Title of {name}", "body": "SECRET BODY", "fields": [{"name": "q1", "text": ""}]}
    ask = {"ask_id": name, "project": "shop", "kind": "gate", "state": "open", "key": None, "prompt": prompt}
    return ask | changes


def look(folder: Path, *asks: dict[str, Any], known: list[str] | None = None, counts: Any = ()) -> Any:
    """Return what the module makes of asks."""
    return call(folder, NOTICES, {"asks": asks, "known": known, "counts": counts})


def test_tab_counts_what_waits_with_an_icon_of_one_sign(tmp_path: Path) -> None:
    """Nothing waits: no number; more than nine: one icon for many."""
    assert look(tmp_path, counts=[0, 1, 9, 10, 500])["tabs"] == [
        ["Assent", "mark.svg"],
        ["(1) Assent", "favicon-1.svg"],
        ["(9) Assent", "favicon-9.svg"],
        ["(10) Assent", "favicon-many.svg"],
        ["(500) Assent", "favicon-many.svg"],
    ]


def test_only_what_is_new_and_open_is_told(tmp_path: Path) -> None:
    """Nor is anything told of what waited before the page was opened."""
    asks = an_ask("old"), an_ask("new"), an_ask("over", state="answered")
    assert look(tmp_path, *asks, known=["old"])["arrived"] == ["new"]
    assert look(tmp_path, *asks, known=None)["arrived"] == []


def test_notice_says_kind_project_and_title_and_nothing_of_the_body(tmp_path: Path) -> None:
    """What an agent wrote is for the page, and not for a lock screen."""
    seen = look(tmp_path, an_ask("a"), known=[])
    assert seen["told"] == [{"tag": "a", "title": "Gate, shop", "body": "Title of a", "ask": "a"}]


def test_hostile_title_is_marked_and_cut(tmp_path: Path) -> None:
    """A notification is drawn by the system, which hides and reorders what it is given."""
    prompt = an_ask("a")["prompt"] | {"title": "Pay\u202e now\u200b\n" + "x" * 500}
    [told] = look(tmp_path, an_ask("a", prompt=prompt, project="sh\u2066op"), known=[])["told"]
    assert told["title"] == "Gate, sh<U+2066>op"
    assert told["body"].startswith("Pay<U+202E> now<U+200B><U+000A>xxx")
    assert (len(told["body"]), told["body"][-1]) == (140, "…")


def test_many_at_once_are_one_notice(tmp_path: Path) -> None:
    """Whoever was away for a night is not buried."""
    asks = [an_ask(f"a{number}", project=("shop", "edge")[number % 2]) for number in range(4)]
    assert look(tmp_path, *asks, known=[])["told"] == [
        {"tag": "many", "title": "4 asks wait for you", "body": "edge, shop", "ask": None}
    ]
    assert len(look(tmp_path, *asks[:3], known=[])["told"]) == 3
