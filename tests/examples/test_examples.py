"""The examples as people run them: started, killed while they wait, started again, answered; and all of it happens once."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent import Ask
from assent.protocol.principal import Principal, Role
from tests.cli.shell import Shell, Terminal, wait_for
from tests.patience import PATIENCE
from tools.warm import spawn

__all__: list[str] = []

EXAMPLES = Path(__file__).parents[2] / "examples"
STAND_IN = Path(__file__).parent / "stand_in"
STORIES = {
    "langgraph_approval.py": ("approve", "refunded order 7"),
    "langchain_approval.py": ("approve", "The tool said: refunded order 7"),
    "openai_agents_approval.py": ("approve", "The tool said: refunded order 7"),
    "pydantic_ai_approval.py": ("approve", "The tool said: refunded order 7"),
    "crewai_feedback.py": ("fine", "sent, with the remark: fine"),
    "replace_input.py": ("yes", "refunded order 7"),
}
"""What a person answers, and what the example prints then."""
APPROVAL = "langgraph_approval.py"
DOCS = EXAMPLES.parent / "docs"
PAGES = ["langgraph", "langchain", "openai-agents", "pydantic-ai", "crewai", "replace-input"]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """Give a person's shell in an empty folder."""
    folder = tmp_path / "shop"
    folder.mkdir()
    made = Shell(folder)
    yield made
    made.close()


def start(shell: Shell, name: str) -> subprocess.Popen[bytes]:
    """Start an example in the shell's folder."""
    changes: dict[str, str | None] = {"PYTHONPATH": str(STAND_IN)} if name.startswith("crewai") else {}
    process = spawn(
        [sys.executable, str(EXAMPLES / name)],
        cwd=shell.folder,
        env=shell.environ(**changes),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    shell.started.append(process)
    return process


def only_open(shell: Shell, process: subprocess.Popen[bytes]) -> Ask:
    """Return the one ask that waits, once it is there; an example that ended before has failed."""
    wait_for(lambda: len(shell.waiting()) == 1 or process.poll() is not None)
    assert process.poll() is None, shell.finish(process)
    return shell.only_open()


def answer(shell: Shell, ask_id: str, reply: str) -> None:
    """Answer as a person at a terminal does."""
    with Terminal(shell, "answer", ask_id, reply) as terminal:
        result = terminal.end()
    assert result.status == 0, result


def asks_ever(shell: Shell) -> int:
    """Return how many asks there were, whatever became of them."""
    with shell.client(Principal(Role.AGENT, "test")) as client:
        return len(client.inbox(all_states=True))


@pytest.mark.parametrize("page", PAGES)
def test_page_of_a_framework_begins_with_three_lines_and_a_picture(page: str) -> None:
    """Three lines to copy, which bring all of ours that they use; then what people see of it. And the index lists it."""
    text = (DOCS / "how-to" / f"{page}.md").read_text()
    begin = re.match(
        r"# .+\n\n```python\n(?P<code>.*?)```\n\n!\[.+\]\(\.\./images/.+\.png\)\n", text, re.DOTALL
    )
    assert begin is not None
    lines = list(filter(None, begin["code"].split("\n")))
    assert len(lines) == 3
    assert "import assent" in lines or "assent." not in "".join(lines[1:])
    assert f"(how-to/{page}.md)" in (DOCS / "README.md").read_text()


def test_every_example_has_its_story() -> None:
    """An example of a framework that nobody runs would rot."""
    frameworks = {path.name for path in EXAMPLES.glob("*.py") if "assent.hosts" in path.read_text()}
    assert set(STORIES) == frameworks


@pytest.mark.parametrize("name", STORIES)
def test_example_that_is_killed_while_it_waits_goes_on_once_it_is_answered(shell: Shell, name: str) -> None:
    """One ask, one answer, one deed, over two processes."""
    reply, told = STORIES[name]
    first = start(shell, name)
    ask = only_open(shell, first)
    os.kill(first.pid, signal.SIGKILL)
    first.wait(PATIENCE)
    assert not (shell.folder / "refunds.txt").exists()
    answer(shell, ask.ask_id, reply)
    result = shell.finish(start(shell, name))
    assert result.status == 0, result.err
    assert result.out.strip() == told
    assert (shell.folder / "refunds.txt").read_text() == "7\n"
    assert asks_ever(shell) == 1


def test_example_that_waits_again_hears_the_answer_then(shell: Shell) -> None:
    """The second process finds the open ask and waits for it, too."""
    first = start(shell, APPROVAL)
    ask = only_open(shell, first)
    os.kill(first.pid, signal.SIGKILL)
    first.wait(PATIENCE)
    second = start(shell, APPROVAL)
    answer(shell, ask.ask_id, "approve")
    result = shell.finish(second)
    assert result.out.strip() == STORIES[APPROVAL][1], result.err
    assert (shell.folder / "refunds.txt").read_text() == "7\n"
    assert asks_ever(shell) == 1


def test_example_that_is_told_no_does_nothing_and_says_who_said_so(shell: Shell) -> None:
    """Twin of the stories above."""
    process = start(shell, APPROVAL)
    answer(shell, only_open(shell, process).ask_id, "reject")
    result = shell.finish(process)
    assert result.out.startswith("not refunded: ana rejected it"), result
    assert not (shell.folder / "refunds.txt").exists()
