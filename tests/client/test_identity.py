"""Who acts: a person is never assumed where an agent runs the process."""

import os
import pty
from pathlib import Path

import pytest

import assent
from assent.client.identity import AGENT_MARKS, agent, agent_mark, assurance_here, person
from assent.protocol.error import BadRequestError, ForbiddenError
from assent.protocol.principal import Assurance, Principal, Role

__all__: list[str] = []

HOSTS = ["ASSENT_RUN_ID", "CLAUDECODE", "CODEX_SANDBOX", "CURSOR_AGENT", "GEMINI_CLI", "OPENCODE"]


@pytest.mark.parametrize("mark", HOSTS)
def test_host_of_an_agent_is_known_by_its_mark(mark: str) -> None:
    """What it sets for the commands that it runs; an empty variable is no mark."""
    assert mark in AGENT_MARKS
    assert agent_mark({mark: "1"}) == mark
    assert agent_mark({mark: ""}) is None
    with pytest.raises(ForbiddenError, match=f"{mark} is set.*assent inbox"):
        person({mark: "1", "ASSENT_PRINCIPAL": "human:ana"})


def test_process_that_was_declared_an_agents_is_refused() -> None:
    """Our own mark, by principal."""
    environ = {"ASSENT_PRINCIPAL": "agent:coder"}
    assert agent_mark(environ) == "ASSENT_PRINCIPAL"
    with pytest.raises(ForbiddenError, match="ASSENT_PRINCIPAL"):
        person(environ)


@pytest.mark.parametrize("role", ["operator", "observer"])
def test_other_roles_are_no_people(role: str) -> None:
    """Only a person can answer."""
    with pytest.raises(ForbiddenError, match="not a person"):
        person({"ASSENT_PRINCIPAL": f"{role}:x"})


def test_person_is_the_user_or_as_declared() -> None:
    """The name comes from the system unless the environment says another person's."""
    assert person({}).role is Role.HUMAN
    assert person({}).name
    assert person({"ASSENT_PRINCIPAL": "human:ana"}) == Principal(Role.HUMAN, "ana")
    with pytest.raises(BadRequestError):
        person({"ASSENT_PRINCIPAL": "ana"})


def test_agent_is_named_declared_or_the_user() -> None:
    """In this order; a declared person is no name for an agent."""
    assert agent({}, "coder") == Principal(Role.AGENT, "coder")
    assert agent({"ASSENT_PRINCIPAL": "agent:x"}) == Principal(Role.AGENT, "x")
    assert agent({"ASSENT_PRINCIPAL": "agent:x"}, "coder") == Principal(Role.AGENT, "coder")
    assert agent({"ASSENT_PRINCIPAL": "human:ana"}).role is Role.AGENT


def test_assurance_is_terminal_only_in_front_of_one() -> None:
    """A pipe, or a terminal that is not ours, proves nobody."""
    read, write = os.pipe()
    ours, theirs = pty.openpty()
    try:
        assert assurance_here(read) is Assurance.DECLARED
        assert assurance_here(theirs) is Assurance.DECLARED
    finally:
        for descriptor in (read, write, ours, theirs):
            os.close(descriptor)
    assert assurance_here(read) is Assurance.DECLARED


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_assurance_is_terminal_where_a_person_types() -> None:
    """Twin: a process in the foreground of its controlling terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os._exit(0 if assurance_here(0) is Assurance.TERMINAL else 1)
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert status == 0


@pytest.mark.parametrize("mark", ["CLAUDECODE", "ASSENT_RUN_ID"])
def test_connecting_as_a_person_is_refused_where_an_agent_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mark: str
) -> None:
    """The public door asks, too; an agent may connect as itself, and nothing is made by a refusal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(mark, "1")
    for principal in ("human:ana", "operator:x"):
        with pytest.raises(ForbiddenError):
            assent.connect(principal=principal)
    assert list(tmp_path.iterdir()) == []
    with assent.connect() as client:
        assert client.principal.role is Role.AGENT
        assert client.open("Which?", ["red fox", "blue fox"]).ask.is_open
