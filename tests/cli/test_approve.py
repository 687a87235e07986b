"""`assent approve` and `assent redeem`: a yes for exactly one action, printed as a receipt and spent once."""

import json
import subprocess
from collections.abc import Callable
from hashlib import sha256
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


@pytest.mark.parametrize(
    ("approved", "presented"),
    [("1", "1.0000000000000001"), ("0", "-0.0"), ("0", "-0"), ("9007199254740992", "9007199254740993")],
)
def test_number_that_reads_otherwise_redeems_nothing(
    call: Call, shell: Shell, approved: str, presented: str
) -> None:
    """Equal as floats is not equal; and what no float keeps is asked of nobody."""
    loosen(call, "automated")
    plan = shell.folder / "number.json"
    plan.write_text(f'{{"amount": {approved}}}', encoding="utf-8")
    receipt_id = call("approve", TITLE, "--action", str(plan), "--category", "scopeChanges").out.strip()
    other = shell.run("redeem", receipt_id, "-", typed=f'{{"amount": {presented}}}')
    assert (other.status, other.out, other.err.count("\n")) == (4 if presented.isdecimal() else 2, "", 1)
    assert presented in other.err
    assert shell.run("redeem", receipt_id, "-", typed=f'{{"amount": {approved}}}').status == 0


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
        ("redeem", "rcp_1", "--print", "--json"),
        ("approve", TITLE, "--action", "plan.json", "--", "true"),
        ("approve", TITLE, "--json", "--", "true"),
        ("approve", TITLE, "--", "no-such-program"),
    ],
    ids=[
        "no action",
        "no file",
        "no category",
        "no life",
        "nothing to redeem",
        "no file named",
        "two ways to print",
        "two actions",
        "a receipt amid what a command prints",
        "no program",
    ],
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


def test_action_that_redeem_prints_is_what_was_approved_whatever_the_file_says_by_then(
    call: Call, shell: Shell, plan: str
) -> None:
    """Byte for byte what was digested; a second time it prints nothing."""
    loosen(call, "automated")
    told = call("approve", TITLE, "--action", plan, "--category", "scopeChanges", "--json").json
    (shell.folder / plan).write_text('{"sql": "DROP TABLE users"}', encoding="utf-8")
    done = shell.run("redeem", told["receipt_id"], "--print")
    assert (done.status, json.loads(done.out), done.err) == (0, ACTION, "")
    assert f"sha256:{sha256(done.out.encode()).hexdigest()}" == told["action_digest"]
    again = shell.run("redeem", told["receipt_id"], "--print")
    assert (again.status, again.out) == (6, "")


def test_action_that_redeem_prints_and_was_named_must_be_the_one_that_was_approved(
    call: Call, shell: Shell, plan: str
) -> None:
    loosen(call, "automated")
    receipt_id = call("approve", TITLE, "--action", plan, "--category", "scopeChanges").out.strip()
    other = shell.run("redeem", receipt_id, "-", "--print", typed='{"sql": "DROP TABLE users"}')
    assert (other.status, other.out) == (4, "")
    done = shell.run("redeem", receipt_id, plan, "--print")
    assert (done.status, json.loads(done.out)) == (0, ACTION)


WRITES = ("sh", "-c", 'printf "%s\\n" "$@"; pwd; exit 9', "x", "two words", "$HOME;", "--wait")


def test_command_that_a_person_approves_is_run_as_it_was_shown(shell: Shell) -> None:
    """By no shell, with its own output and status, and the receipt is spent before it runs."""
    with Terminal(shell, "approve", "Run it?", "--", *WRITES) as terminal:
        terminal.until("> ")
        shown = "".join("\n".join(terminal.screen()).split())
        terminal.type("Approve\n")
        ended = terminal.end()
    assert all("".join(word.split()) in shown for word in ("two words", "$HOME;", str(shell.folder)))
    assert ended.status == 9, ended.err
    assert ended.out.splitlines() == ["two words", "$HOME;", "--wait", str(shell.folder)]
    assert "is spent on it" in ended.err
    assert "agent:ana redeemed it" in shell.run("log").out


@pytest.mark.parametrize("reply", ["Reject: not on a Friday\n", "\x04"])
def test_command_that_nobody_approved_is_not_run(shell: Shell, reply: str) -> None:
    with Terminal(shell, "approve", "Run it?", "--", "touch", "ran") as terminal:
        terminal.until("> ")
        terminal.type(reply)
        ended = terminal.end()
    assert ended.status in {3, 4}
    assert not (shell.folder / "ran").exists()


def test_command_whose_key_was_approved_before_runs_once(call: Call, shell: Shell) -> None:
    """A script that is started twice does not do twice what was approved once."""
    words = ("approve", "Run it?", "--key", "k", "--wait", "0", "--", "sh", "-c", "echo ran >> ran")
    assert call(*words).status == 3
    assert call("answer", shell.only_open().ask_id, "Approve", "--unattended").status == 0
    assert [shell.run(*words).status for _ in range(2)] == [0, 6]
    assert (shell.folder / "ran").read_text() == "ran\n"


def test_command_that_cannot_be_started_says_so_in_one_sentence(call: Call, shell: Shell) -> None:
    """Also where that is seen only after the approval is spent."""
    loosen(call, "automated")
    program = shell.folder / "odd"
    program.write_text("#!/no/such/shell\n")
    program.chmod(0o755)
    ended = shell.run("approve", "Run it?", "--category", "scopeChanges", "--", "./odd")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.splitlines()[-1].startswith('"./odd" cannot be started, and the approval is spent: ')


def test_approval_that_has_ended_is_shown_whole_with_what_became_of_its_receipt(
    call: Call, shell: Shell, plan: str
) -> None:
    """The action and the options stay to be read; the receipt says whether it was spent."""
    assert call("approve", TITLE, "--action", plan, "--wait", "0", "--key", "k").status == 3
    ask_id = shell.only_open().ask_id
    assert call("answer", ask_id, "Approve", "--unattended").status == 0
    receipt_id = call("approve", TITLE, "--action", plan, "--key", "k").out.strip()
    shown = " ".join(call("show", ask_id).out.split())
    assert all(part in shown for part in (str(ACTION["sql"]), "A) Approve", "B) Reject", "answered"))
    assert f"Receipt {receipt_id}, for sha256:" in shown
    assert "can be redeemed once" in shown
    assert call("redeem", receipt_id, plan).status == 0
    assert "agent:ana redeemed it at " in " ".join(call("show", ask_id).out.split())


def test_rejected_action_is_not_asked_about_again_unless_the_agent_says_why(
    shell: Shell, call: Call, plan: str
) -> None:
    """The no comes at once with its words; the card of the second ask shows the first no and the reason."""
    with Terminal(shell, "approve", TITLE, "--action", plan) as terminal:
        terminal.until("> ")
        terminal.type("Reject: not on a Friday\n")
        assert terminal.end().status == 4
    refused = call("approve", "Another title", "--action", plan, "--json")
    assert (refused.status, refused.json["error"]["code"]) == (4, "rejected_before")
    assert 'Reason: "not on a Friday".' in refused.err
    assert call("inbox").out == "Nothing waits.\n"
    with Terminal(shell, "approve", TITLE, "--action", plan, "--again", "It is Monday.") as terminal:
        terminal.until("> ")
        shown = "\n".join(terminal.screen())
        terminal.type("Approve\n")
        assert terminal.end().status == 0
    assert "ana said no to this action at " in shown
    assert 'Reason: "not on a Friday".' in " ".join(shown.split())
    assert "Asked again, in the asker's words:\n: It is Monday." in shown
