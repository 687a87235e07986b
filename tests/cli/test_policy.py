"""`assent policy`: everybody may look, only a person sets, and loosening takes a terminal or a word that the log shows."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from assent.client.identity import AGENT_MARKS
from assent.protocol.policy import PRESETS, Category, Level, Policy
from assent.protocol.policy_text import render_context
from tests.cli.shell import Result, Shell, Terminal
from tests.proves import proves

__all__: list[str] = []

Call = Callable[..., Result]
TEXTS = {
    "automated": "Full autonomy: proceed without confirmation",
    "notify_and_proceed": "Notify user but proceed",
    "requires_approval": "Confirm all changes before proceeding",
}
CLOSED = dict.fromkeys(map(str, Category), "requires_approval")


def levels(call: Call) -> dict[str, str]:
    """Return the policy as it is now."""
    found: dict[str, str] = call("policy", "show", "--json").json["hilConfig"]
    return found


def loosen(call: Call, category: str, level: str) -> Result:
    """Set a level where no terminal is."""
    return call("policy", "set", category, level, "--unattended")


@proves("Q28")
def test_policy_has_three_categories_with_three_levels_and_nothing_else(call: Call) -> None:
    """Each can be set to each; any other key or value is refused with status 2 and changes nothing."""
    for category in ("scopeChanges", "architectureDecisions", "dependencyModifications"):
        for level in TEXTS:
            assert loosen(call, category, level).status == 0
            assert levels(call)[category] == level
    before = levels(call)
    assert list(before) == ["scopeChanges", "architectureDecisions", "dependencyModifications"]
    for category, level in [("scopechanges", "automated"), ("tests", "automated"), ("scopeChanges", "maybe")]:
        refused = loosen(call, category, level)
        assert (refused.status, refused.out) == (2, "")
    assert levels(call) == before


@proves("Q30")
@pytest.mark.parametrize("level", [*TEXTS])
def test_policy_is_shown_with_the_fixed_texts(call: Call, level: str) -> None:
    """On a line for each category, in the list, in the prompt block and in the sentence."""
    loosen(call, "scopeChanges", level)
    shown = call("policy", "show").out.splitlines()
    assert shown[0].split(maxsplit=2) == ["scopeChanges", level, TEXTS[level]]
    assert f"- scopeChanges: {TEXTS[level]} ({level})\n" in call("policy", "explain").out
    assert call("policy", "explain", "scopeChanges").out.startswith(f"Scope changes ({TEXTS[level]}): ")


def test_project_that_said_nothing_requires_approval_and_looking_makes_no_store(
    call: Call, shell: Shell
) -> None:
    """When in doubt, ask."""
    assert levels(call) == CLOSED
    assert call("policy", "explain").out == render_context(Policy())
    assert list(shell.folder.iterdir()) == []


@pytest.mark.parametrize("preset", [*PRESETS])
def test_preset_sets_all_three(call: Call, preset: str) -> None:
    """And the list names it; a policy that no preset makes has no name."""
    loosen(call, "scopeChanges", "notify_and_proceed")
    assert "preset" not in call("policy", "show").out
    done = call("policy", "preset", preset, "--unattended")
    assert done.out.splitlines()[-1] == f"That is the preset {preset}."
    wanted = next(policy for name, policy in PRESETS.items() if name == preset)
    assert levels(call) == {str(category): str(level) for category, level in wanted.levels.items()}


def test_unknown_preset_ends_with_2(call: Call) -> None:
    """With the words that there are."""
    refused = call("policy", "preset", "most")
    assert (refused.status, refused.err) == (2, '"most" is no preset: use confirm_all, major_only or full.\n')


def test_loosening_needs_a_terminal_or_a_word_that_the_log_shows(call: Call) -> None:
    """A process's word is enough to tighten only."""
    refused = call("policy", "set", "scopeChanges", "automated")
    assert (refused.status, refused.out) == (4, "")
    assert "needs a person at a terminal" in refused.err
    assert "--unattended" in refused.err
    assert levels(call) == CLOSED
    assert loosen(call, "scopeChanges", "automated").status == 0
    assert "scopeChanges: requires_approval -> automated (unattended)" in call("log").out
    assert call("policy", "set", "scopeChanges", "requires_approval").status == 0
    assert levels(call) == CLOSED


def test_person_at_a_terminal_loosens_without_more(shell: Shell) -> None:
    """Who sits there is there."""
    with Terminal(shell, "policy", "set", "scopeChanges", "automated") as terminal:
        done = terminal.end()
    assert done.status == 0
    assert done.out.splitlines()[0].split() == ["scopeChanges", "automated", *TEXTS["automated"].split()]
    assert '"assurance":"terminal"' in shell.run("log", "--json").out


def test_setting_what_is_so_changes_nothing(call: Call) -> None:
    """And says so; the log has nothing new."""
    loosen(call, "scopeChanges", "automated")
    before = call("log").out
    assert loosen(call, "scopeChanges", "automated").out.startswith(
        "Nothing was changed: it is so already.\n"
    )
    assert call("log").out == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("set", "scopeChanges", "automated"),
        ("preset", "confirm_all"),
        ("accept", "approval", "host"),
        ("accept", "approval", "--default"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("mark", [*AGENT_MARKS, "ASSENT_PRINCIPAL"])
def test_agent_sets_no_policy_not_even_a_tighter_one(
    call: Call, monkeypatch: pytest.MonkeyPatch, mark: str, arguments: tuple[str, ...]
) -> None:
    """It would choose who is asked about its own work. Looking is for everybody."""
    monkeypatch.setenv(mark, "agent:coder" if mark == "ASSENT_PRINCIPAL" else "1")
    refused = call("policy", *arguments, "--unattended")
    assert (refused.status, refused.out) == (4, "")
    assert refused.err.startswith(f"{mark} is set, so an agent runs this command, and only a person can set")
    assert levels(call) == CLOSED


@proves("Q3", "Q29")
def test_policy_reaches_agents_in_their_prompt_and_their_task_directory(call: Call, shell: Shell) -> None:
    """Both say the same, and when to ask; an agent reads them where it runs."""
    loosen(call, "dependencyModifications", "notify_and_proceed")
    assert call("policy", "export", "--task-dir", "task").out == "Written to task/config.json.\n"
    config = json.loads((shell.folder / "task" / "config.json").read_text())
    assert config == {"hilConfig": {**CLOSED, "dependencyModifications": "notify_and_proceed"}}
    block = shell.run("policy", "explain", CLAUDECODE="1").out
    assert block == render_context(Policy(dependency_modifications=Level.NOTIFY_AND_PROCEED))
    for category, level in config["hilConfig"].items():
        assert f"- {category}: {TEXTS[level]} ({level})\n" in block
    assert "- Open question: when information is missing.\n" in block
    assert "ask for approval and wait for a person's yes before you go on" in block


def test_export_keeps_what_else_the_file_holds(call: Call, shell: Shell) -> None:
    """An old policy in it is replaced, whatever it was."""
    file = config_in(shell, '{"taskId": "T-12", "hilConfig": {"old": 1}, "paths": ["a", null]}')
    file.chmod(0o640)
    assert call("policy", "export", "--task-dir", "task").status == 0
    assert json.loads(file.read_text()) == {"hilConfig": CLOSED, "taskId": "T-12", "paths": ["a", None]}
    assert file.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in file.parent.iterdir()] == ["config.json"]


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("[]", 2),
        ("{", 2),
        ('{"a": 1, "a": 2}', 2),
        ('{"hilC\\u043enfig": {}}', 2),
        (" " * (4 << 20) + "{}", 1),
    ],
    ids=["list", "cut off", "key twice", "lookalike", "too large"],
)
def test_export_leaves_a_file_alone_that_is_no_config(
    call: Call, shell: Shell, content: str, status: int
) -> None:
    """Somebody meant something by it."""
    file = config_in(shell, content)
    refused = call("policy", "export", "--task-dir", "task")
    assert (refused.status, refused.out) == (status, "")
    assert file.read_text() == content


def test_export_follows_no_link(call: Call, shell: Shell) -> None:
    """Agents write into task directories: neither the file nor the directory leads elsewhere."""
    file = config_in(shell, "{}")
    (shell.folder / "elsewhere.json").write_text("{}")
    (shell.folder / "link").symlink_to("task")
    refused = call("policy", "export", "--task-dir", "link")
    assert (refused.status, refused.err) == (1, '"link" is a link, and is not followed.\n')
    for target in ("../elsewhere.json", "inside.json"):
        file.unlink()
        file.symlink_to(target)
        refused = call("policy", "export", "--task-dir", "task")
        assert (refused.status, refused.err) == (1, '"task/config.json" is a link, and is not followed.\n')
    assert (shell.folder / "elsewhere.json").read_text() == "{}"
    assert not (shell.folder / "task" / "inside.json").exists()


def test_export_refuses_what_is_no_ordinary_file(call: Call, shell: Shell) -> None:
    """A pipe is not waited for, and a folder is not replaced."""
    file = config_in(shell, "{}")
    file.unlink()
    os.mkfifo(file)
    assert call("policy", "export", "--task-dir", "task").status == 1
    file.unlink()
    file.mkdir()
    assert call("policy", "export", "--task-dir", "task").status == 1
    assert list(file.iterdir()) == []


@pytest.mark.parametrize(
    ("task_dir", "complaint"),
    [
        ("a/b", '"a/b" cannot be used: No such file or directory.\n'),
        ("plain", '"plain" is no folder.\n'),
        (".git/task", '".git/task" lies in a folder of git, and is left alone.\n'),
    ],
)
def test_export_into_no_task_directory_ends_with_1(
    call: Call, shell: Shell, task_dir: str, complaint: str
) -> None:
    """Only the directory itself is made where it is missing; git's own are closed."""
    (shell.folder / "plain").write_text("")
    (shell.folder / ".git").mkdir()
    refused = call("policy", "export", "--task-dir", task_dir)
    assert (refused.status, refused.out, refused.err) == (1, "", complaint)
    assert list((shell.folder / ".git").iterdir()) == []


def test_export_leaves_a_read_only_file_as_it_is(call: Call, shell: Shell) -> None:
    """Whoever took the right to write away meant us, too."""
    file = config_in(shell, "{}")
    file.chmod(0o444)
    assert call("policy", "export", "--task-dir", "task").status == 1
    assert file.read_text() == "{}"


def test_explain_of_what_is_never_asked_about_says_so(call: Call) -> None:
    """Test failures and retries are no categories."""
    refused = call("policy", "explain", "retries")
    assert refused.status == 2
    assert "always automated" in refused.err


def config_in(shell: Shell, content: str) -> Path:
    """Write a task directory with a config.json."""
    folder = shell.folder / "task"
    folder.mkdir()
    file = folder / "config.json"
    file.write_text(content)
    return file


def accepted(call: Call) -> dict[str, list[str]]:
    """Return the assurances that the project lists."""
    found: dict[str, list[str]] = call("policy", "show", "--json").json["assurances"]
    return found


def test_assurances_that_suffice_are_listed_shown_and_taken_back(call: Call) -> None:
    """More than before takes a terminal or a word that the log shows; less does not."""
    assert accepted(call) == {}
    refused = call("policy", "accept", "approval", "token", "terminal", "host")
    assert (refused.status, refused.out) == (4, "")
    assert "--unattended" in refused.err
    assert accepted(call) == {}
    listed = call("policy", "accept", "approval", "host", "token", "--unattended")
    line = "approval: an answer counts with token or host."
    assert (listed.status, listed.out.splitlines()[-1]) == (0, line)
    assert call("policy", "show").out.splitlines()[-1] == line
    assert accepted(call) == {"approval": ["token", "host"]}
    assert "ana sets approval: with token or host (unattended)" in call("log").out
    assert levels(call) == CLOSED
    # The default takes a terminal's word, which the list does not: that is more.
    assert call("policy", "accept", "approval", "--default").status == 4
    assert call("policy", "accept", "approval", "token").status == 0
    assert call("policy", "accept", "question", "terminal", "token").status == 0
    assert accepted(call) == {"question": ["token", "terminal"], "approval": ["token"]}
    for kind in ("approval", "question"):
        assert call("policy", "accept", kind, "--default", "--unattended").status == 0
    assert accepted(call) == {}
    assert call("log").out.splitlines()[-1].endswith("ana sets the default (unattended)")


def test_person_at_a_terminal_lists_more_without_more(shell: Shell) -> None:
    """Who sits there is there."""
    with Terminal(shell, "policy", "accept", "approval", "token", "terminal", "host") as terminal:
        assert terminal.end().status == 0
    assert '"assurance":"terminal"' in shell.run("log", "--json").out


@pytest.mark.parametrize(
    "given",
    [
        ["approval"],
        ["approval", "token", "--default"],
        ["approvals", "token"],
        ["approval", "voice"],
        ["approval", "TOKEN"],
    ],
    ids=" ".join,
)
def test_what_is_no_list_of_assurances_ends_with_2_and_changes_nothing(call: Call, given: list[str]) -> None:
    """In one sentence that names what there is."""
    refused = call("policy", "accept", *given, "--unattended")
    assert (refused.status, refused.out) == (2, "")
    assert accepted(call) == {}
