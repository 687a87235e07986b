"""How commands end: one status for each kind of end, one sentence, never a stack trace."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from assent.cli.exit import STATUSES, status_of
from assent.protocol import error as errors
from assent.protocol.error import AssentError
from tests.cli.shell import Result, Shell
from tests.patience import PATIENCE

__all__: list[str] = []

Call = Callable[..., Result]

EXPECTED = {
    "AssentError": 1,
    "NotFoundError": 1,
    "StoreError": 1,
    "StoreFullError": 1,
    "CommandReusedError": 1,
    "BadRequestError": 2,
    "BadJsonError": 2,
    "BadPromptError": 2,
    "TooLargeError": 2,
    "UnrecognisedError": 2,
    "StillOpen": 3,
    "Declined": 4,
    "ForbiddenError": 4,
    "NoAnswer": 5,
    "Withdrawn": 5,
    "Expired": 5,
    "Superseded": 5,
    "ConflictError": 6,
    "KeyReusedError": 6,
    "FlowTakenError": 6,
}


@pytest.mark.parametrize(("name", "status"), EXPECTED.items())
def test_error_has_its_exit_status(name: str, status: int) -> None:
    """As the table says."""
    assert status_of(getattr(errors, name)()) == status


def test_every_error_of_the_tree_has_an_exit_status() -> None:
    """Also those that come later: the nearest parent counts."""
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, AssentError)
    ]
    assert len(kinds) > 20
    assert {status_of(kind()) for kind in kinds} == set(STATUSES.values())


def test_unexpected_error_is_one_sentence_with_status_1(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the type and the way to see more; the way really shows it."""

    def burst(_: object) -> int:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr("assent.cli.summary.summarise", burst)
    failed = call()
    assert (failed.status, failed.out) == (1, "")
    assert failed.err == (
        "Something unexpected happened (ZeroDivisionError: on purpose); ASSENT_DEBUG=1 shows where.\n"
    )
    monkeypatch.setenv("ASSENT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        call()


def test_error_with_json_is_on_both_outputs(call: Call) -> None:
    """The sentence for people on standard error, the object for programs on standard output."""
    missing = call("show", "zzzzzz", "--json")
    assert missing.status == 1
    error = missing.json["error"]
    assert (error["code"], error["details"]) == ("not_found", {})
    assert error["message"] == missing.err.strip()
    usage = call("show", "--json")
    assert (usage.status, usage.json["error"]["code"]) == (2, "bad_request")


def test_folder_that_is_gone_is_a_plain_sentence(shell: Shell) -> None:
    """Even the current folder may be."""
    line = f'cd "{shell.folder}" && rmdir "{shell.folder}" && exec {sys.executable} -m assent inbox'
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        env=shell.environ(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_reader_that_has_had_enough_is_no_reason_to_complain(shell: Shell) -> None:
    """`assent inbox | head -0`."""
    shell.open("Which?")
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen(
        [sys.executable, "-m", "assent", "inbox"],
        cwd=shell.folder,
        env=shell.environ(),
        stdout=write,
        stderr=subprocess.PIPE,
    )
    os.close(write)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (1, b"")


def test_narrow_locale_does_not_stop_a_command(shell: Shell) -> None:
    """What the locale cannot say is spelled out."""
    shell.open("Größe Ω?")
    process = shell.start("inbox", PYTHONIOENCODING="latin-1")
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, b"")
    assert "Größe \\u03a9?".encode("latin-1") in out


def test_store_on_a_full_or_foreign_place_is_a_plain_sentence(call: Call, shell: Shell) -> None:
    """A folder that cannot be made: status 1."""
    (shell.folder / ".assent").write_text("a file where the folder should be")
    refused = call("ask", "Which?", "--no-wait")
    assert (refused.status, refused.out) == (1, "")
    assert refused.err.count("\n") == 1
