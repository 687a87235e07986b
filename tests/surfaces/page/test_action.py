"""The action of an approval, readable: nothing is left out, commands run as shown, a difference is read line by line."""

import json
import shlex
from pathlib import Path

import msgspec

from assent.protocol.canonical import Json, canonical
from tests.surfaces.page.in_node import call

__all__: list[str] = []

ACTIONS = """
import { commandOf, inventory, shellWord, shortDigest } from "/page/action.js";
export default ({ actions, commands, words, digest }) => ({
  inventories: actions.map(inventory),
  commands: commands.map(([key, value]) => commandOf(key, value)),
  words: words.map(shellWord).join(" "),
  digest: shortDigest(digest),
});
"""
EXACT = """
import { breakLines, parse, spell } from "/page/json.js";
export default ({ texts, broken }) => ({
  tight: texts.map((text) => spell(parse(text))),
  wide: texts.map((text) => spell(parse(text), "  ")),
  sums: texts.map((text) => [parse(text)].flat().reduce((sum, each) => sum + Number(each), 0)),
  refused: broken.map((text) => {
    try { return spell(parse(text)); } catch (error) { return error.name; }
  }),
});
"""
ORDERED = """
import { inOrder, parse, spell } from "/page/json.js";
export default (texts) => texts.map((text) => spell(parse(text), "", "", inOrder));
"""
DIFFS = """
import { isDiff, parseDiff, tally } from "/page/diff.js";
export default (texts) => texts.map((text) => {
  const lines = isDiff(text) ? parseDiff(text) : null;
  return lines && { lines: lines.map(({ type, number, text: line }) => [type, number, line]), tally: tally(lines) };
});
"""
DIFF = """--- a/x.py
+++ b/x.py
@@ -17,4 +17,3 @@ class User:
     id = 1
-    legacy = 2
---- a dash
+++ plus
 end

@@ -40 +39 @@
+last
\\ No newline at end of file
"""
WORDS = [
    "git",
    "commit",
    "-m",
    "it's done",
    "$HOME",
    "a b",
    "",
    "*.py",
    "`id`",
    "a\nb",
    "--x=1,2:3",
    'say "hi"',
    "é",
]


def test_words_of_a_command_are_quoted_as_a_shell_reads_them(tmp_path: Path) -> None:
    """What is shown, typed into a shell, is the list that the agent gave."""
    told = call(
        tmp_path,
        ACTIONS,
        {"actions": [], "commands": [], "words": WORDS, "digest": "sha256:" + 8 * "0123abcd"},
    )
    assert shlex.split(told["words"]) == WORDS
    assert told["digest"] == "sha256 0123 abcd … abcd"


def test_json_is_written_as_it_was_read_to_the_last_digit(tmp_path: Path) -> None:
    """Numbers beyond a script's own, in its reader and in its writer; and texts that look like them."""
    texts = [
        "9007199254740993",
        "[-9223372036854775808,18446744073709551615,1e300,5e-324,1e16,0.1,-12]",
        '{"10":1,"__proto__":{"polluted":9007199254740993},"a":["9007199254740993",true,null,false]}',
        '["\\"\\\\","\\u0001\\n","\\\\",{"\\\\":"é\U0001f600"}]',
        "[[],{},[[]]]",
        json.dumps(["x" * 1_000_000, '\\"' * 10_000]).replace(", ", ","),
    ]
    broken = [
        "",
        "[1",
        '{"a" 1}',
        '{"a":1,}',
        "[1 2]",
        '"a',
        "1 2",
        "nul",
        "--1",
        "1.2.3",
        "]",
        '"\\"',
        '"\\x"',
    ]
    told = call(tmp_path, EXACT, {"texts": texts, "broken": broken})
    assert told["tight"] == texts
    assert told["wide"] == [msgspec.json.format(text.encode(), indent=2).decode() for text in texts]
    assert told["sums"][0] == 9007199254740992
    assert told["refused"] == ["SyntaxError"] * len(broken)


def test_action_has_one_order_in_whichever_its_parts_came(tmp_path: Path) -> None:
    """That of its digest, so that nothing on a card changes places when it is read again."""
    actions: list[Json] = [
        {"command": "ls", "argv": ["z", "a"], "numbers": {"true": True, "text": "true", "big": 2**63}},
        {"2": 1, "10": {"b": [], "a": {"d": 1, "c": None}}, "": 0, "Z": 1, "é": 2, "\u001f": 3},
    ]
    told = call(tmp_path, ORDERED, [json.dumps(action) for action in actions])
    assert [text.encode() for text in told] == [canonical(action) for action in actions]


def test_command_is_told_from_what_only_looks_like_one(tmp_path: Path) -> None:
    """A list with a number in it is no command, and neither is a text under another name."""
    commands = [
        ["command", "rm -rf /"],
        ["argv", ["rm", "-rf", "/"]],
        ["argv", ["rm", 1]],
        ["argv", []],
        ["note", "rm"],
        ["command", {"a": 1}],
        ["constructor", "x"],
    ]
    actions: list[Json] = [
        {
            "command": "x",
            "files": [{"path": "a", "diff": DIFF}],
            "tries": 3,
            "deep": {"list": [1, None, [True]]},
        },
        {"__proto__": {"a": 1}, "constructor": "c"},
        "text",
        [],
        {},
    ]
    told = call(tmp_path, ACTIONS, {"actions": actions, "commands": commands, "words": [], "digest": ""})
    assert told["commands"] == ["rm -rf /", "rm -rf /", None, None, None, None, None]
    assert told["inventories"] == ["1 command, 1 file, 4 values", "2 values", "1 value", "", ""]


def test_difference_is_read_whole_with_the_numbers_of_its_lines(tmp_path: Path) -> None:
    """Lines that begin with the signs of a head are lines of it; what stands outside a hunk is neither more nor less."""
    [told] = call(tmp_path, DIFFS, [DIFF])
    assert told["lines"] == [
        ["gap", "", "--- a/x.py"],
        ["gap", "", "+++ b/x.py"],
        ["gap", "", "@@ -17,4 +17,3 @@ class User:"],
        ["", 17, "    id = 1"],
        ["del", 18, "    legacy = 2"],
        ["del", 19, "--- a dash"],
        ["add", 18, "++ plus"],
        ["", 19, "end"],
        ["gap", "", ""],
        ["gap", "", "@@ -40 +39 @@"],
        ["add", 39, "last"],
        ["gap", "", "\\ No newline at end of file"],
    ]
    assert told["tally"] == "+2 −2"


def test_text_without_a_hunk_is_no_difference(tmp_path: Path) -> None:
    """A list with dashes, or a text about @@, stays a text."""
    assert call(tmp_path, DIFFS, ["- one\n+ two\n", "mail @@ home", "@@ -x +y @@", 7, None]) == [None] * 5


def test_head_of_the_next_file_is_no_line_that_goes(tmp_path: Path) -> None:
    """Several files in one text are told apart by what their hunks say of themselves."""
    two = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n--- a/y\n+++ b/y\n@@ -1,0 +1 @@\n+new\n"
    [told] = call(tmp_path, DIFFS, [two])
    kinds = [line[0] for line in told["lines"]]
    assert kinds == ["gap", "gap", "gap", "del", "add", "gap", "gap", "gap", "add"]
