"""`assent approve` and `assent redeem`: a yes for exactly one action, printed as a receipt and spent once."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.shell import Result, Shell, Terminal
from tests.patience import PATIENCE
from tests.receipt_samples import ACTION, TITLE

__all__: list[str] = []

Call = Callable[..., Result]


@pytest.fixture
def plan(shell: Shell) -> str:
    """Give the name of a file with the action in it."""
    (shell.folder / "plan.json").write_text(json.dumps(ACTION), encoding="utf-8")
    return "plan.json"


def loosen(call: Call, level: str) -> None:
    """Let changes of scope go."""
    assert call("policy", "set", "scopeChanges", level, "--unattended").status == 0


def test_person_at_a_terminal_approves_and_the_agent_redeems_once(shell: Shell, plan: str) -> None:
    """The whole action is shown; standard output is the receipt's id and nothing else."""
    with Terminal(shell, "approve", TITLE, "--action", plan, "--risk", "irreversible") as terminal:
        terminal.until("> ")
        shown = "\n".join(terminal.screen())
        terminal.type("Approve\n")
        ended = terminal.end()
    assert all(part in shown for part in (TITLE, "legacy_id", "backup", "irreversible"))
    assert ended.status == 0, ended.err
    receipt_id = ended.out.strip()
    assert receipt_id.startswith("rcp_")
    assert "ana approved it" in ended.err
    redeemed = shell.run("redeem", receipt_id, plan, "--json")
    assert (redeemed.status, redeemed.json["redeemed_by"]) == (0, "agent:ana")
    assert redeemed.json["assurance"] == "terminal"
    again = shell.run("redeem", receipt_id, plan)
    assert (again.status, again.out) == (6, "")
    assert "agent:ana redeemed it at " in again.err


def test_rejection_at_a_terminal_is_status_4_with_the_name_and_the_words(shell: Shell, plan: str) -> None:
    """And nothing on standard output that a script could take for a receipt."""
    with Terminal(shell, "approve", TITLE, "--action", plan) as terminal:
        terminal.until("> ")
        terminal.type("Reject: not on a Friday\n")
        ended = terminal.end()
    assert (ended.status, ended.out) == (4, "")
    assert "ana rejected it at " in ended.err
    assert 'Reason: "not on a Friday".' in ended.err


def test_approve_without_a_terminal_waits_for_a_person_elsewhere(shell: Shell, plan: str) -> None:
    """The answer is given at another terminal; the process that waits prints the receipt."""
    waiting = shell.start("approve", TITLE, "--action", plan, stdin=subprocess.DEVNULL)
    ask_id = shell.only_open().ask_id
    refused = shell.run("answer", ask_id, "Approve")
    assert refused.status == 4
    with Terminal(shell, "answer", ask_id, "Approve") as terminal:
        assert terminal.end().status == 0
    ended = shell.finish(waiting)
    assert (ended.status, ended.out[:4]) == (0, "rcp_"), ended.err


def test_wait_that_lapses_is_status_3_and_the_key_goes_on(shell: Shell, call: Call, plan: str) -> None:
    """The ask stays open, and the same command finds it again."""
    first = call("approve", TITLE, "--action", plan, "--key", "drop", "--wait", "0")
    assert (first.status, first.out) == (3, "")
    ask_id = shell.only_open().ask_id
    assert call("approve", TITLE, "--action", plan, "--key", "drop", "--wait", "0").status == 3
    assert shell.only_open().ask_id == ask_id
    assert call("answer", ask_id, "Approve", "--unattended").status == 0
    ids = {call("approve", TITLE, "--action", plan, "--key", "drop").out for _ in range(2)}
    assert len(ids) == 1
    other = call("approve", "Another?", "--action", plan, "--key", "drop")
    assert (other.status, other.out) == (6, "")


@pytest.mark.parametrize(
    ("level", "word"), [("automated", "nobody was asked"), ("notify_and_proceed", "told")]
)
def test_policy_that_lets_it_go_gives_the_receipt_at_once(
    call: Call, plan: str, level: str, word: str
) -> None:
    """Without anybody to ask; the log says how it came about."""
    loosen(call, level)
    done = call("approve", TITLE, "--action", plan, "--category", "scopeChanges", "--json")
    assert (done.status, done.json["by"], done.json["category"]) == (0, "policy", "scopeChanges")
    assert word in done.err
    assert (
        call("redeem", done.json["receipt_id"], plan).out == f"Redeemed {done.json['receipt_id']}: {TITLE}\n"
    )
    log = call("log").out
    assert "the policy lets agent:ana go on" in log
    assert "agent:ana redeemed it" in log


def test_changed_action_is_status_4_and_says_what_differs(call: Call, shell: Shell, plan: str) -> None:
    """From a file or from standard input; a hostile one prints nothing that a terminal would obey."""
    loosen(call, "automated")
    receipt_id = call("approve", TITLE, "--action", plan, "--category", "scopeChanges").out.strip()
    hostile = {**ACTION, "sql": "DROP\x1b[2J\nRedeemed"}
    changed = shell.run("redeem", receipt_id, "-", typed=json.dumps(hostile))
    assert (changed.status, changed.out) == (4, "")
    assert changed.err.count("\n") == 1
    assert "\x1b" not in changed.err
    assert '$.sql was approved as "ALTER TABLE' in changed.err
    other = call("redeem", receipt_id, plan, "--as", "other", "--json")
    assert (other.status, other.json["error"]["code"]) == (4, "forbidden")
    assert shell.run("redeem", receipt_id, "-", typed=json.dumps(ACTION, indent=4)).status == 0


def test_expired_receipt_is_status_5(call: Call, shell: Shell, plan: str) -> None:
    """By the clock of the store."""
    loosen(call, "automated")
    told = call("approve", TITLE, "--action", plan, "--category", "scopeChanges", "--life", "1s", "--json")
    expires_at = told.json["expires_at"]
    until = shell.run("ask", "Wait", "--deadline", "1s", "--consequence", "deny", "--wait", str(PATIENCE))
    assert until.status == 5  # nobody answered for a second, so the second is over
    late = call("redeem", told.json["receipt_id"], plan)
    assert (late.status, late.out) == (5, "")
    assert expires_at[11:19] in late.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("approve", TITLE),
        ("approve", TITLE, "--action", "missing.json"),
        ("approve", TITLE, "--action", "plan.json", "--category", "retries"),
        ("approve", TITLE, "--action", "plan.json", "--life", "0"),
        ("redeem", "rcp_1", "missing.json"),
        ("redeem", "rcp_1"),
    ],
    ids=["no action", "no file", "no category", "no life", "nothing to redeem", "no file named"],
)
def test_what_cannot_be_understood_is_status_2(
    call: Call, shell: Shell, plan: str, arguments: tuple[str, ...]
) -> None:
    """And nobody is asked."""
    assert Path(shell.folder / plan).exists()
    assert call(*arguments).status == 2
    assert shell.waiting() == []


def test_receipt_that_was_never_granted_is_no_success(call: Call, plan: str) -> None:
    """A script that goes on with `&&` does not go on."""
    missing = call("redeem", "rcp_none\x1b[2J", plan)
    assert (missing.status, missing.out) == (1, "")
    assert "\x1b" not in missing.err
