"""A reply in the making: what can be sent, what would be sent, and the words that the button says (reply.js)."""

from pathlib import Path
from typing import Any

from tests.surfaces.page.in_node import call

__all__: list[str] = []

TOLD = """
import * as r from "/page/reply.js";
const shown = (ask, reply) => ({
  lack: r.lacking(ask, reply), says: r.summary(ask, reply), body: r.bodyOf(ask, reply), kept: r.keptLines(ask, reply),
  button: r.sendLabel(ask, reply), blank: r.isBlank(reply),
});
// Each step is [function, field's place or null, argument]; what is shown after each of them is told.
export default ({ ask, steps }) => {
  let reply = r.emptyReply();
  const told = [shown(ask, reply)];
  for (const [name, at, argument] of steps) {
    reply = name === "typeCommand" ? r.typeCommand(reply, argument) : r[name](reply, ask.prompt.fields[at], argument);
    told.push(shown(ask, reply));
  }
  return told;
};
"""
CAPS = """
import { keycap } from "/page/reply.js";
export default (asks) => asks.map((ask) => ask.prompt.fields[0].options.map((_, at) => keycap(ask, ask.prompt.fields[0], at)));
"""


def an_option(key: str, **parts: Any) -> dict[str, Any]:
    """Return an option as it comes over the wire."""
    return {"key": key, "label": f"The {key} one", "description": "", **parts}


def a_field(*keys: str, **parts: Any) -> dict[str, Any]:
    """Return a field with these options."""
    return {
        "name": "q1",
        "text": "",
        "options": [an_option(key) for key in keys],
        "multiple": False,
        "free": not keys,
    } | parts


def an_ask(*fields: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """Return an ask as far as a reply looks at it."""
    prompt = {"title": "Which?", "fields": [*fields], "commands": [], "risk": None} | parts.pop("prompt", {})
    return {"kind": "question", "prompt": prompt} | parts


def tell(folder: Path, ask: dict[str, Any], *steps: list[Any]) -> list[dict[str, Any]]:
    """Return what is shown at the start and after each step."""
    told: list[dict[str, Any]] = call(folder, TOLD, {"ask": ask, "steps": steps})
    return told


def test_single_choice_is_nothing_until_marked_and_holds_one(tmp_path: Path) -> None:
    """The second mark takes the place of the first."""
    first, second, third = tell(
        tmp_path, an_ask(a_field("red", "blue")), ["toggle", 0, "red"], ["toggle", 0, "blue"]
    )
    assert (first["lack"], first["says"], first["blank"]) == ("Mark one first", "Nothing marked", True)
    assert (second["lack"], second["says"], second["body"]) == (
        "",
        "The red one",
        {"values": {"q1": ["red"]}},
    )
    assert (third["says"], third["body"], third["button"]) == (
        "The blue one",
        {"values": {"q1": ["blue"]}},
        "Send",
    )


def test_several_choices_are_marked_and_unmarked_one_by_one(tmp_path: Path) -> None:
    """In the order in which they were marked; words of one's own are added to them."""
    ask = an_ask(a_field("red", "blue", multiple=True, free=True))
    steps = [["toggle", 0, "blue"], ["toggle", 0, "red"], ["write", 0, " green "], ["toggle", 0, "blue"]]
    *_, written, unmarked = tell(tmp_path, ask, *steps)
    assert written["body"] == {"values": {"q1": ["blue", "red", "green"]}}
    assert unmarked["says"] == "The red one, green"


def test_own_words_are_marked_before_they_are_written_and_unmark_an_option(tmp_path: Path) -> None:
    """And an option marked afterwards is the answer again; the words are kept."""
    ask = an_ask(a_field("red", free=True))
    steps = [["toggle", 0, "red"], ["markOwn", 0, True], ["write", 0, "green"], ["toggle", 0, "red"]]
    _, _, marked, written, again = tell(tmp_path, ask, *steps)
    assert marked["lack"] == "Write your own words"
    assert (written["lack"], written["body"]) == ("", {"values": {"q1": ["green"]}})
    assert again["body"] == {"values": {"q1": ["red"]}}


def test_free_text_of_blanks_is_no_answer(tmp_path: Path) -> None:
    """What is sent has no blanks around it."""
    ask = an_ask(a_field())
    _, blank, written = tell(tmp_path, ask, ["write", 0, "  \n"], ["write", 0, " yes \n"])
    assert (blank["lack"], blank["blank"]) == ("Write an answer first", True)
    assert (written["says"], written["body"]) == ("yes", {"values": {"q1": ["yes"]}})


def test_several_questions_are_sent_together_or_not_at_all(tmp_path: Path) -> None:
    """The button names the first that is missing, and the number of all."""
    ask = an_ask(a_field("red"), a_field(name="q2"))
    first, second, third = tell(tmp_path, ask, ["write", 1, "why not"], ["toggle", 0, "red"])
    assert (first["lack"], first["says"]) == ("Answer Q1 first", "0 of 2 answered")
    assert (second["says"], second["kept"]) == ("1 of 2 answered", ["Q2: why not"])
    assert (third["lack"], third["button"]) == ("", "Send all 2")
    assert third["body"] == {"values": {"q1": ["red"], "q2": ["why not"]}}


def test_command_at_a_gate_takes_the_place_of_a_mark_and_the_other_way_round(tmp_path: Path) -> None:
    """What was typed is sent as typed: the gate says what it means."""
    ask = an_ask(a_field("go"), kind="gate", prompt={"commands": ["abort", "todo: {text}"]})
    _, marked, typed, again = tell(
        tmp_path, ask, ["toggle", 0, "go"], ["typeCommand", None, " todo: x "], ["toggle", 0, "go"]
    )
    assert (marked["body"], typed["body"]) == ({"values": {"q1": ["go"]}}, {"text": "todo: x"})
    assert (typed["says"], typed["kept"], typed["lack"]) == ("todo: x", ["todo: x"], "")
    assert again["body"] == {"values": {"q1": ["go"]}}


def test_confirm_takes_yes_no_and_changes_in_words(tmp_path: Path) -> None:
    """Changes without words cannot be sent."""
    ask = an_ask(a_field(), kind="confirm")
    steps: list[list[Any]] = [
        ["toggle", 0, "yes"],
        ["toggle", 0, "no"],
        ["toggle", 0, "changes"],
        ["write", 0, "smaller"],
    ]
    first, yes, no, empty, written = tell(tmp_path, ask, *steps)
    assert first["lack"] == "Mark one first"
    assert (yes["body"], yes["button"]) == ({"values": {"q1": ["yes"]}}, "Continue")
    assert (no["body"], no["button"]) == ({"values": {"q1": ["no"]}}, "Send the no")
    assert empty["lack"] == "Say what to change"
    assert (written["lack"], written["body"]) == ("", {"values": {"q1": ["changes: smaller"]}})
    assert written["says"] == "Changes first: smaller"


KEPT = """
import { bodyOf, keepable, keptLines } from "/page/reply.js";
export default (cases) => cases.map(([ask, reply]) => keepable(ask, reply));
"""


def test_marks_that_one_enter_would_make_a_yes_of_are_never_kept(tmp_path: Path) -> None:
    """Of approvals and confirms, and beside what cannot be undone; words are, and marks that only sort."""
    marked = {"keys": ["a"], "text": "", "isOwn": False}
    both = an_option("drop", destructive=True)
    cases = [
        (an_ask(a_field("Approve", "Reject"), kind="approval"), ["Approve"], "", "because"),
        (an_ask(a_field(), kind="confirm"), ["yes"], "", ""),
        (an_ask(a_field(), kind="confirm"), ["changes"], "smaller", ""),
        (an_ask(a_field("go", "no"), kind="confirm"), ["go"], "", ""),
        (
            an_ask(a_field(options=[an_option("keep"), both], multiple=True, free=False)),
            ["keep", "drop"],
            "",
            "",
        ),
        (an_ask(a_field("red", "blue", free=True)), ["red"], "green", ""),
    ]
    given = [
        [
            ask,
            {
                "fields": {"q1": marked | {"keys": keys, "text": text}, "gone": marked},
                "command": "",
                "reason": why,
            },
        ]
        for ask, keys, text, why in cases
    ]
    told = call(tmp_path, KEPT, given)
    assert [each["fields"]["q1"]["keys"] for each in told] == [[], [], [], [], [], ["red"]]
    assert [each["fields"]["q1"]["text"] for each in told] == ["", "", "smaller", "", "", "green"]
    assert told[0]["reason"] == "because"
    assert all([*each["fields"]] == ["q1"] for each in told)


def test_no_to_an_approval_carries_its_words_and_a_yes_does_not(tmp_path: Path) -> None:
    """A reason that was kept without its mark waits for it."""
    ask = an_ask(a_field("Approve", "Reject"), kind="approval")
    told = call(
        tmp_path,
        """
import * as r from "/page/reply.js";
export default (ask) => {
  const no = r.giveReason(ask, r.emptyReply(), " too risky ");
  const yes = r.toggle(no, ask.prompt.fields[0], "Approve");
  const kept = r.keepable(ask, no);
  return [no, yes, kept].map((reply) => [r.bodyOf(ask, reply), r.takesReason(ask, reply), r.keptLines(ask, reply)]);
};
""",
        ask,
    )
    assert told[0][:2] == [{"values": {"q1": ["Reject"]}, "reason": "too risky"}, True]
    assert told[1][:2] == [{"values": {"q1": ["Approve"]}}, False]
    assert told[2] == [{"values": {"q1": []}}, True, ["too risky"]]


def test_key_of_an_option_is_no_word_of_ones_own(tmp_path: Path) -> None:
    """Its asker may have called the option something else: what is sent is what was read."""
    ask = an_ask(a_field(options=[an_option("no", label="Yes, ship it")], free=True))
    *_, key, words = tell(tmp_path, ask, ["markOwn", 0, True], ["write", 0, " no "], ["write", 0, "no, wait"])
    assert (key["lack"], words["lack"]) == ("Mark that option instead", "")
    assert words["body"] == {"values": {"q1": ["no, wait"]}}


def test_button_names_what_is_at_stake(tmp_path: Path) -> None:
    """A risk, and what cannot be undone."""
    yes, no = an_option("Approve"), an_option("Reject")
    approval = an_ask(
        a_field(options=[yes, no], free=False), kind="approval", prompt={"risk": "irreversible"}
    )
    _, approved, rejected = tell(tmp_path, approval, ["toggle", 0, "Approve"], ["toggle", 0, "Reject"])
    assert (approved["button"], rejected["button"]) == ("Approve: irreversible", "Send the no")
    drop = an_ask(a_field(options=[an_option("drop", destructive=True)], free=False))
    assert tell(tmp_path, drop, ["toggle", 0, "drop"])[1]["button"] == "The drop one, cannot be undone"


def test_keycaps_are_those_of_the_terminal(tmp_path: Path) -> None:
    """Letters at a question, numbers at a gate, an option's own letter where it has one, numbers beyond Z."""
    many = an_ask(a_field(*(f"o{at}" for at in range(28))))
    gate = an_ask(a_field("go", "stop"), prompt={"commands": ["abort"]})
    own = an_ask(a_field(options=[an_option("a"), an_option("c", mark="C")]))
    letters, numbers, marks = call(tmp_path, CAPS, [many, gate, own])
    assert "".join(letters[:26]) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert (letters[26:], numbers, marks) == (["27", "28"], ["1", "2"], ["A", "C"])
