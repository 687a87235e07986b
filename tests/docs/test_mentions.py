"""Whatever the pages name exists: commands, options, exit statuses, make targets, Python names, error codes."""

import importlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from assent.cli.exit import DONE, STATUSES, UNFINISHED
from assent.client.verbs import VERBS
from assent.protocol.decision import Coverage
from tools.page import ROOT, Page, pages
from tools.reference_cli import every_command
from tools.reference_error import every_error

__all__: list[str] = []

COMMANDS = every_command()
OPTIONS = {
    called: {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    | {"-h", "--help"}
    for called, command in COMMANDS.items()
}
TAKES_VALUE = {
    name
    for command in COMMANDS.values()
    for parameter in command.params
    if isinstance(parameter, click.Option) and not parameter.is_flag
    for name in parameter.opts
}
STATUS_NUMBERS = {DONE, UNFINISHED, *STATUSES.values()}
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
ERROR_CODES = {kind.code for _, kind in every_error()}

CALL = re.compile(r"(?:^|[\s(\"'=/|&;])assent(?P<rest>(?: +[^|;&)\"'#`<>]+| *\"[^\"]*\"| *'[^']*')+)")
STATUS = re.compile(r"\b(?:exit )?status(?:es)? (\d+)\b", re.IGNORECASE)
MAKE = re.compile(r"\bmake ([a-z]+)\b")
NAME = re.compile(r"\bassent((?:\.[A-Za-z_]+)+)")


def calls(text: str) -> Iterator[list[str]]:
    """Yield the words after each `assent` of a line of code."""
    for found in CALL.finditer(text):
        try:
            yield shlex.split(found["rest"].replace("…", ""))
        except ValueError:
            yield found["rest"].split()


def unknown_in_call(words: list[str]) -> list[str]:
    """List the command or options of one call that do not exist; what stands behind a bare -- is not ours."""
    words = words[: words.index("--")] if "--" in words else words
    called = "assent"
    plain = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if before not in TAKES_VALUE and not word.startswith("-")
    ]
    for word in plain:
        if f"{called} {word}" not in COMMANDS:
            break
        called = f"{called} {word}"
    if called == "assent" and plain and re.fullmatch(r"[a-z]+", plain[0]):
        return [f"assent {plain[0]}"]
    known = OPTIONS[called] | OPTIONS["assent"]
    named = [word for word in words if re.fullmatch(r"--?[a-z][a-z-]*", word)]
    return [f"{called} {word}" for word in named if word not in known]


def unknown_names(text: str) -> list[str]:
    """List the Python names below `assent` that do not exist."""
    unknown = []
    for found in NAME.finditer(text):
        path = f"assent{found[1]}"
        if not re.search(r"\.(?:db|md|fish|example)\b", path) and not exists(path.split(".")):
            unknown.append(path)
    return unknown


def exists(names: list[str]) -> bool:
    """Tell whether a dotted name can be imported."""
    for cut in range(len(names), 0, -1):
        try:
            found: object = importlib.import_module(".".join(names[:cut]))
        except ModuleNotFoundError:
            continue
        for name in names[cut:]:
            if not hasattr(found, name):
                return False
            found = getattr(found, name)
        return True
    return False


def unknown_things(page: Page) -> list[str]:
    """List everything that a page names and that does not exist."""
    unknown = []
    for code in page.snippets():
        for words in calls(code):
            unknown += unknown_in_call(words)
        unknown += [f"make {name}" for name in MAKE.findall(code) if name not in TARGETS]
        unknown += unknown_names(code)
        bare = re.fullmatch(r"(--[a-z][a-z-]+)(?: .*)?", code)
        if bare and not any(bare[1] in names for names in OPTIONS.values()):
            unknown.append(bare[1])
    unknown += [
        f"status {number}" for number in STATUS.findall(page.text) if int(number) not in STATUS_NUMBERS
    ]
    return unknown


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_what_a_page_names_exists(page: Page) -> None:
    """A reader who types it gets what the page says."""
    assert unknown_things(page) == []


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("`assent teach`", ["assent teach"]),
        ("`assent ask 'Go?' --recommend`", ["assent ask --recommend"]),
        (
            "```sh\nid=$(assent ask 'Go?' --no-wait)\nassent --store x inbox --colour\n```",
            ["assent inbox --colour"],
        ),
        ("`assent loop --endless -- claude -p --model {model}`", ["assent loop --endless"]),
        ("use `--sudo`", ["--sudo"]),
        ("`make everything`", ["make everything"]),
        ("`assent.connekt()`", ["assent.connekt"]),
        ("It ends with exit status 9.", ["status 9"]),
        ("`assent audit verify --json`, `make test`, `assent.testing.throwaway`, status 6, `assent`", []),
    ],
)
def test_what_does_not_exist_is_reported(tmp_path: Path, text: str, unknown: list[str]) -> None:
    """Twin of the test above."""
    path = tmp_path / "page.md"
    path.write_text(text)
    assert unknown_things(Page(path)) == unknown


def test_error_code_of_the_glossary_and_pages_exists() -> None:
    """Codes are compared by programs, so a page must not invent one."""
    shaped = re.compile(
        r"`((?:bad|store|key|flow|run|control|invalid|command|still|not|no|too|path|world|effect)_[a-z_]+)`"
    )
    named = {code for page in pages() for code in shaped.findall(page.text) if not code.endswith("_id")}
    fields = set(Coverage.__struct_fields__)  # `not_landed` is none of the codes, and begins like one
    adapted = {"run_until_done", "run_until_done_async"}  # nor are these calls of an adapter
    assert named - ERROR_CODES - fields - adapted - set(VERBS) == set()
