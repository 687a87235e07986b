"""Fixes worked into a document: what is computed, what fails and how, and that nothing is written before it is written."""

import json
import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from assent.client.identity import person
from assent.effects.applier import NO_APPLIER, Apply, run_applier, walk_through_performers
from assent.effects.performer import World, find_performer, intend, settle
from assent.effects.place import MAX_FILE_BYTES
from assent.flows.document import WriteDocument
from assent.flows.step import Done, Effect, Failed
from assent.flows.walk_through.effect import CheckAppend, Edited, MakeEdits, Writable
from assent.protocol.canonical import Json, convert, digest
from assent.protocol.error import EffectError, ForbiddenError
from assent.protocol.finding import (
    MAX_RECORDS,
    Action,
    AutofixClass,
    Edit,
    Finding,
    FindingType,
    Severity,
)
from tests.effects.processes import DEADLINE, STARTS_ANOTHER, Alive, wait_until_empty
from tests.proves import proves

__all__: list[str] = []

TEXT = "# Plan\n\nUse one cache.\nShip in May.\n"
READ_ONLY = Writable(False, "document is read-only in this environment", takes_words=False)
UPPER = "import json, sys; told = json.load(sys.stdin); sys.stdout.write(told['document'].upper())"

Program = Callable[..., Apply]


def finding(name: str, **changes: object) -> Finding:
    """Return a finding that has a fix in words."""
    plain = Finding(
        name,
        f"Title of {name}",
        Severity.P1,
        "Scope",
        "It matters.",
        FindingType.ERROR,
        AutofixClass.GATED_AUTO,
        75,
        Action.APPLY,
        suggested_fix="Say it better.",
    )
    return replace(plain, **changes)


def exact(name: str, before: str, after: str) -> Finding:
    """Return a finding with an exact edit."""
    return finding(name, edit=Edit(before, after))


def do(root: Path, effect: Effect, apply: Apply | None = None) -> Done | Failed:
    """Have an effect done as a driver does it."""
    performer = find_performer(walk_through_performers(root, apply), effect)
    intention = intend(performer, effect)
    return intention if isinstance(intention, Failed) else settle(performer, intention)


def make(document: Path, *findings: Finding, apply: Apply | None = None) -> Edited:
    """Return the document with fixes in it; the file must be as it was."""
    before = document.read_bytes()
    came = do(document.parent, MakeEdits(document.name, findings), apply)
    assert isinstance(came, Done), came
    assert document.read_bytes() == before
    assert list(document.parent.iterdir()) == [document]
    edited = convert(came.result, Edited)
    assert edited.before_digest == digest(before)
    return edited


def check(document: Path) -> Writable:
    """Return whether a document can be appended to."""
    came = do(document.parent, CheckAppend(document.name))
    assert isinstance(came, Done), came
    return convert(came.result, Writable)


def fails(document: Path, apply: Apply) -> str:
    """Return why a fix in words fails, which must leave the document as it was."""
    edited = make(document, finding("a"), apply=apply)
    assert edited.content == document.read_bytes()
    return edited.failed["a"]


def shout(_: dict[str, Json], document: str) -> str:
    """Apply anything by making all of it larger."""
    return document.upper()


@pytest.fixture
def document(tmp_path: Path) -> Path:
    """Give a document, alone in its folder."""
    path = tmp_path / "docs" / "plan.md"
    path.parent.mkdir()
    path.write_text(TEXT)
    return path


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Make an applier of a small program, which runs in the folder."""

    def run(source: str, *words: str, seconds: float = DEADLINE) -> Apply:
        script = tmp_path / "apply.py"
        script.write_text(source)
        return run_applier([sys.executable, str(script), *words], tmp_path, os.environ, seconds)

    return run


# Working fixes in


@proves("W65")
def test_every_fix_is_worked_in_in_one_pass_and_each_sees_what_the_one_before_left(document: Path) -> None:
    """Exact edits and fixes in words, in the order given; nothing is written yet."""
    seen: list[tuple[Json, str]] = []

    def apply(given: dict[str, Json], text: str) -> str:
        seen.append((given["id"], text))
        return text + "Done.\n"

    first, second = exact("a", "one cache", "two caches"), exact("c", "two caches", "three caches")
    edited = make(document, first, finding("b"), second, apply=apply)
    assert edited.content.decode() == "# Plan\n\nUse three caches.\nShip in May.\nDone.\n"
    assert edited.failed == {}
    assert seen == [("b", TEXT.replace("one cache", "two caches"))]


@proves("W66")
@pytest.mark.parametrize("fix", [None, "", " \n"], ids=["none", "empty", "blank"])
def test_finding_without_a_fix_is_skipped_with_the_reason_and_the_batch_goes_on(
    document: Path, fix: str | None
) -> None:
    """Also when it carries an edit: what nobody suggested is not applied."""
    bare = finding("bare", suggested_fix=fix)
    edited = make(
        document,
        bare,
        replace(bare, finding_id="edit", edit=Edit("Plan", "X")),
        exact("last", "May", "June"),
        apply=shout,
    )
    reason = "Apply skipped — no suggested_fix available"
    assert edited.failed == {"bare": reason, "edit": reason}
    assert edited.content.decode() == TEXT.replace("May", "June")


def test_fix_that_fails_leaves_no_trace_and_the_batch_goes_on(document: Path) -> None:
    """Whatever the reason: the edit, the applier, or what the applier gave back."""

    def apply(given: dict[str, Json], text: str) -> str:
        if given["id"] == "raises":
            raise LookupError("No such\n section.")
        return "" if given["id"] == "empties" else text + "!"

    edited = make(
        document,
        exact("gone", "July", "June"),
        finding("raises"),
        finding("fits"),
        finding("empties"),
        exact("last", "May", "June"),
        apply=apply,
    )
    assert edited.failed == {
        "gone": 'What the edit replaces, "July", is not in the document.',
        "raises": "No such section.",
        "empties": "Nothing would be left of the document.",
    }
    assert edited.content.decode() == TEXT.replace("May", "June") + "!"


def test_without_an_applier_a_fix_in_words_says_how_to_give_one(document: Path) -> None:
    """Exact edits are made all the same."""
    edited = make(document, finding("a"), exact("b", "May", "June"))
    assert edited.failed == {"a": NO_APPLIER}
    assert all(word in NO_APPLIER for word in ("`--applier COMMAND`", "`.assent/review.toml`", "`edit`"))
    assert edited.content.decode() == TEXT.replace("May", "June")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (TEXT, "The applier changed nothing."),
        ("", "Nothing would be left of the document."),
        (" \n\t\n", "Nothing would be left of the document."),
        (None, "The applier gave back no text."),
        (TEXT.encode(), "The applier gave back no text."),
        (TEXT + "\ud800", "The applier gave back half of a surrogate pair, which is no text."),
        ("x" * (MAX_FILE_BYTES + 1), "The document would have 4,194,305 bytes; it has at most 4,194,304."),
        (
            "é" * (MAX_FILE_BYTES // 2 + 1),
            "The document would have 4,194,306 bytes; it has at most 4,194,304.",
        ),
    ],
    ids=["unchanged", "empty", "blank", "nothing", "bytes", "half pair", "too large", "too large in bytes"],
)
def test_what_is_no_new_document_is_a_failed_fix(document: Path, answer: object, reason: str) -> None:
    """A function can give back anything."""
    assert fails(document, lambda *_: answer) == reason  # type: ignore[arg-type]


def test_largest_document_is_allowed(document: Path) -> None:
    """The bound is part of what is allowed."""
    edited = make(document, finding("a"), apply=lambda *_: "x" * MAX_FILE_BYTES)
    assert (len(edited.content), edited.failed) == (MAX_FILE_BYTES, {})


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (EffectError("No money left."), "No money left."),
        (ValueError("two\nlines \x1b[2J\ud800"), "two lines <U+001B>[2J<U+D800>"),
        (RuntimeError(), "The applier failed with RuntimeError."),
        (ValueError("x" * 9_999), "x" * 499 + "…"),
    ],
    ids=["ours", "hostile", "silent", "long"],
)
def test_what_an_applier_raises_is_why_its_fix_failed(document: Path, error: Exception, reason: str) -> None:
    """On one line, of bounded length, and fit to be shown and kept."""

    def apply(*_: object) -> str:
        raise error

    assert fails(document, apply) == reason


def test_interrupt_is_no_failed_fix(document: Path) -> None:
    """Whoever presses Ctrl-C wants all of it to end."""

    def apply(*_: object) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        do(document.parent, MakeEdits(document.name, (finding("a"),)), apply)
    assert document.read_text() == TEXT


def test_edit_that_takes_the_whole_document_away_is_a_failed_fix(document: Path) -> None:
    """An agent wrote it."""
    edited = make(document, exact("a", TEXT, ""))
    assert (edited.failed, edited.content) == (
        {"a": "Nothing would be left of the document."},
        TEXT.encode(),
    )


def test_document_that_is_not_utf_8_fails_fixes_in_words_only(document: Path) -> None:
    """An exact edit needs no text around it."""
    document.write_bytes(b"\xff one cache\n")
    edited = make(document, finding("a"), exact("b", "one", "two"), apply=shout)
    assert edited.failed == {"a": "The document is not UTF-8 text, so only an exact edit can be made in it."}
    assert edited.content == b"\xff two cache\n"


def test_crlf_document_keeps_its_line_ends_whatever_an_applier_prints(document: Path) -> None:
    """Programs that print tend to print LF, and an applier that changed no more than that changed nothing."""
    document.write_bytes(b"one\r\ntwo\r\n")
    edited = make(document, finding("a"), apply=lambda _, text: text.replace("\r\n", "\n") + "three\n")
    assert edited.content == b"one\r\ntwo\r\nthree\r\n"
    assert fails(document, lambda _, text: text.replace("\r\n", "\n")) == "The applier changed nothing."


def test_applier_gets_the_finding_as_json_and_the_text_as_it_is(document: Path) -> None:
    """What it does to its copy of a finding is nobody's business."""
    document.write_bytes("\ufeffé\r\nb\n".encode())
    seen: list[tuple[dict[str, Json], str]] = []

    def apply(given: dict[str, Json], text: str) -> str:
        seen.append((dict(given), text))
        given.clear()
        return text + "!"

    make(document, finding("a", evidence=("quote",), reviewers=("coherence",)), apply=apply)
    assert seen == [
        (
            {
                "id": "a",
                "title": "Title of a",
                "severity": "P1",
                "section": "Scope",
                "why_it_matters": "It matters.",
                "finding_type": "error",
                "autofix_class": "gated_auto",
                "confidence": 75,
                "recommended_action": "Apply",
                "evidence": ["quote"],
                "reviewers": ["coherence"],
                "suggested_fix": "Say it better.",
            },
            "\ufeffé\r\nb\n",
        )
    ]


def test_progress_is_told_before_each_fix(document: Path) -> None:
    """With how many are through; a fix that fails is through, too."""
    told: list[object] = []

    def apply(given: dict[str, Json], text: str) -> str:
        told.append(given["id"])
        return text + "!"

    performers = walk_through_performers(
        document.parent, apply, lambda done, total, which: told.append((done, total, which.finding_id))
    )
    effect = MakeEdits(document.name, (finding("a"), exact("b", "none", "x"), finding("c")))
    performer = find_performer(performers, effect)
    assert told == []
    assert isinstance(settle(performer, performer.intend(effect)), Done)
    assert told == [(0, 3, "a"), "a", (1, 3, "b"), (2, 3, "c"), "c"]


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("none.md", "effect_failed", 'There is no document "none.md".'),
        ("../plan.md", "path_refused", '"../plan.md" is not a path downward from the root.'),
        (".git/config", "path_refused", '".git/config" lies in a folder that is not for documents.'),
    ],
)
def test_document_that_cannot_be_read_fails_the_whole_pass(
    document: Path, path: str, code: str, message: str
) -> None:
    """Nobody is asked to apply anything then."""

    def never(*_: object) -> str:
        pytest.fail("There is nothing to apply it to.")

    assert do(document.parent, MakeEdits(path, (finding("a"),)), never) == Failed(code, message)


def test_pass_that_a_crash_cut_off_is_computed_anew_from_the_document_as_it_is_then(document: Path) -> None:
    """It changed nothing, so there is nothing to be found of it."""
    effect = MakeEdits(document.name, (exact("a", "May", "June"),))
    performer = find_performer(walk_through_performers(document.parent, None), effect)
    kept = performer.intend(effect)
    performer.perform(kept)
    document.write_text("It is May.\n")
    assert performer.look(kept) is World.BEFORE
    came = settle(performer, kept)
    assert isinstance(came, Done)
    assert convert(came.result, Edited) == Edited(digest(b"It is May.\n"), b"It is June.\n")


def test_document_is_written_once_with_all_fixes_in_it(document: Path) -> None:
    """In one move: whoever has the old file open still reads all of the old one."""
    edited = make(document, exact("a", "one", "two"), exact("b", "May", "June"))
    with document.open() as opened:
        came = do(document.parent, WriteDocument(document.name, edited.before_digest, edited.content))
        assert came == Done()
        assert opened.read() == TEXT
    assert document.read_text() == TEXT.replace("one", "two").replace("May", "June")
    assert list(document.parent.iterdir()) == [document]


def test_document_that_changed_after_the_pass_is_not_overwritten(document: Path) -> None:
    """A person saved while fixes were being computed: what was computed is for another document."""

    def apply(_: dict[str, Json], text: str) -> str:
        document.write_text("a person's change\n")
        return text + "!"

    came = do(document.parent, MakeEdits(document.name, (finding("a"),)), apply)
    assert isinstance(came, Done)
    edited = convert(came.result, Edited)
    assert edited == Edited(digest(TEXT.encode()), TEXT.encode() + b"!")
    written = do(document.parent, WriteDocument(document.name, edited.before_digest, edited.content))
    assert isinstance(written, Failed)
    assert (written.code, document.read_text()) == ("world_changed", "a person's change\n")


def test_largest_review_is_worked_in_in_no_time(document: Path) -> None:
    """As many findings as a review has, each with an edit of its own."""
    document.write_text("".join(f"line {number};\n" for number in range(MAX_RECORDS)))
    findings = [exact(f"f{number}", f" {number};", f" {number}!") for number in range(MAX_RECORDS)]
    begun = time.monotonic()
    edited = make(document, *findings)
    assert time.monotonic() - begun < 5
    assert edited.failed == {}
    assert edited.content.decode() == "".join(f"line {number}!\n" for number in range(MAX_RECORDS))


# A command


def test_command_gets_the_finding_and_the_document_and_prints_the_new_one(
    document: Path, program: Program, tmp_path: Path
) -> None:
    """On standard input only; its standard error is no part of the document."""
    source = (
        "import json, os, pathlib, sys; told = json.load(sys.stdin)\n"
        "pathlib.Path('told').write_text(json.dumps([told, os.getcwd(), sys.argv[1:]]))\n"
        "print('thinking', file=sys.stderr)\n"
        "sys.stdout.write(told['document'] + told['finding']['id'])\n"
    )
    edited = make(document, finding("é"), apply=program(source, "$(x)"))
    assert (edited.content.decode(), edited.failed) == (TEXT + "é", {})
    told, folder, words = json.loads((tmp_path / "told").read_text())
    assert set(told) == {"finding", "document"}
    assert (told["document"], told["finding"]["suggested_fix"]) == (TEXT, "Say it better.")
    assert (Path(folder), words) == (tmp_path.resolve(), ["$(x)"])


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("", " printed nothing."),
        ("import sys; print('thinking', file=sys.stderr)", " printed nothing."),
        ("print()", "Nothing would be left of the document."),
        (r"import sys; sys.stdout.buffer.write(b'a\xff\x00')", " printed is not UTF-8 text."),
        ("import sys; sys.exit(3)", " ended with status 3."),
        ("import os; os.kill(os.getpid(), 9)", " ended with status -9."),
        (
            "import sys; print('half a docu'); sys.exit('thinking\\nout of money.\\n\\n')",
            " ended with status 1: out of money.",
        ),
        ("1 / 0", " ended with status 1: ZeroDivisionError: division by zero."),
        (
            "import sys; sys.stdout.write(__import__('json').load(sys.stdin)['document'])",
            "The applier changed nothing.",
        ),
    ],
    ids=["silent", "only thinks", "blank", "garbage", "status", "killed", "complains", "breaks", "unchanged"],
)
def test_command_that_gives_no_new_document_is_a_failed_fix_in_one_sentence(
    document: Path, program: Program, source: str, reason: str
) -> None:
    """However it fails, and also where it printed something before it failed."""
    said = fails(document, program(source))
    assert said.endswith(reason)
    assert "\n" not in said


def test_command_that_takes_too_long_is_ended_with_all_that_it_started(
    document: Path, program: Program, tmp_path: Path, left_behind: Alive
) -> None:
    """The whole group, at once; the batch goes on."""
    edited = make(document, finding("a"), exact("b", "May", "June"), apply=program(STARTS_ANOTHER, seconds=3))
    assert edited.failed == {"a": f'"{sys.executable}" took longer than 3 s.'}
    assert edited.content.decode() == TEXT.replace("May", "June")
    assert len(list(tmp_path.glob("pid-*"))) == 2
    wait_until_empty(left_behind)


def test_huge_output_is_a_failed_fix_and_never_held(document: Path, program: Program) -> None:
    """A document that was cut is nobody's document."""
    size = 128 << 20
    before = psutil.Process().memory_info().rss
    source = f"import sys; [sys.stdout.buffer.write(b'x' * (1 << 20)) for _ in range({size >> 20})]"
    assert fails(document, program(source)).endswith(
        f" printed {size:,} bytes; a document has at most {MAX_FILE_BYTES:,}."
    )
    assert psutil.Process().memory_info().rss - before < size // 2


def test_largest_document_goes_through_a_command(document: Path, program: Program) -> None:
    """In and out."""
    text = "a\n" * (MAX_FILE_BYTES // 2)
    document.write_text(text)
    edited = make(document, finding("a"), apply=program(UPPER))
    assert (edited.failed, edited.content) == ({}, text.upper().encode())


def test_command_that_does_not_listen_is_no_trouble(document: Path, program: Program) -> None:
    """A document larger than a pipe, to a program that never reads."""
    document.write_text("x" * 1_000_000)
    edited = make(document, finding("a"), apply=program("print('new')"))
    assert (edited.content, edited.failed) == (b"new\n", {})


def test_missing_program_is_a_failed_fix(document: Path) -> None:
    """Told by its name."""
    apply = run_applier(["./no-such-program"], document.parent, os.environ)
    assert fails(document, apply) == '"./no-such-program" cannot be run: No such file or directory.'


def test_command_can_answer_nothing(tmp_path: Path) -> None:
    """It runs under an agent's name, so it is no person for us, whatever its surroundings say."""
    command = [sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))"]
    environ = {"ASSENT_PRINCIPAL": "human:ana", "PATH": os.environ["PATH"]}
    told = json.loads(run_applier(command, tmp_path, environ)({}, TEXT))
    assert told["ASSENT_PRINCIPAL"] == "agent:applier"
    with pytest.raises(ForbiddenError):
        person(told)


# Whether it can be appended to


def test_ordinary_document_can_be_appended_to(document: Path) -> None:
    """And looking at it changes nothing."""
    before = document.stat()
    assert check(document) == Writable(True, takes_words=False)
    assert document.stat() == before
    assert list(document.parent.iterdir()) == [document]


def test_document_without_any_write_bit_is_read_only(document: Path) -> None:
    """For everybody: whoever took the bits away meant root as well."""
    document.chmod(0o444)
    assert check(document) == READ_ONLY


@pytest.mark.parametrize("denied", ["plan.md", "."], ids=["file", "folder"])
def test_document_that_this_user_may_not_replace_is_read_only(
    document: Path, monkeypatch: pytest.MonkeyPatch, denied: str
) -> None:
    """The file's own right, and that of its folder, which a move takes; a read-only mount denies both."""
    access = os.access

    def deny(path: str, mode: int, *, dir_fd: int) -> bool:
        return not (path == denied and mode & os.W_OK) and access(path, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "access", deny)
    assert check(document) == READ_ONLY


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none.md", "document does not exist"),
        ("folder", "document is not an ordinary file"),
        ("pipe", "document is not an ordinary file"),
    ],
)
def test_what_is_no_document_cannot_be_appended_to(document: Path, name: str, reason: str) -> None:
    """The reason can go on after a dash."""
    (document.parent / "folder").mkdir()
    os.mkfifo(document.parent / "pipe")
    assert check(document.parent / name) == Writable(False, reason, takes_words=False)


def test_link_inside_the_root_is_looked_at_where_it_leads(document: Path) -> None:
    """That is the file that would be replaced."""
    link = document.parent / "README.md"
    link.symlink_to("plan.md")
    assert check(link) == Writable(True, takes_words=False)
    document.chmod(stat.S_IRUSR)
    assert check(link) == READ_ONLY


@pytest.mark.parametrize("path", ["../plan.md", "/etc/hosts", ".assent/assent.db", "a\0b", "none/plan.md"])
def test_path_that_no_document_has_is_a_failure(document: Path, path: str) -> None:
    """A finding or a caller can name anything."""
    assert isinstance(do(document.parent, CheckAppend(path)), Failed)
