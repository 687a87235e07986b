"""What a run prints, handed on and read through a client: on a file and behind a server, for threads and for tasks."""

import pytest

from assent.client.client import Client
from assent.protocol.error import BadRequestError, NotFoundError, RunTakenError
from assent.protocol.tail import MAX_TAIL_BYTES
from tests.client.both import Clients

__all__: list[str] = []


@pytest.fixture
def agent(clients: Clients) -> Client:
    """Give a client that drives."""
    return clients.agent()


@pytest.fixture
def ana(clients: Clients) -> Client:
    """Give somebody who looks."""
    return clients.person()


def test_output_that_a_run_tells_is_read_from_where_one_stopped(agent: Client, ana: Client) -> None:
    """Another client reads it while the run goes on, and still when it is over."""
    with agent.run(run_id="r-1", max=2) as run:
        for turn in run:
            run.tell(f"turn {turn.number} ö\n")
            first = ana.read_output("r-1")
            assert first.text.endswith(f"turn {turn.number} ö\n")
    assert ana.read_output("r-1").text == "turn 1 ö\nturn 2 ö\n"
    rest = ana.read_output("r-1", 10)
    assert (rest.text, rest.start, rest.written) == ("turn 2 ö\n", 10, 20)
    assert rest.at is not None


def test_output_may_be_any_bytes_and_of_any_length(agent: Client, ana: Client) -> None:
    """What is no text is replaced, and of more than is kept the end stays."""
    with agent.run(run_id="r-1") as run:
        run.tell(b"\xff\x1b[2J\0" + b"x" * 3 + "\ud800".encode("utf-8", "surrogatepass"))
        assert ana.read_output("r-1").text.startswith("\ufffd\x1b[2J\0xxx\ufffd")
        run.tell("é" * MAX_TAIL_BYTES)
        tail = ana.read_output("r-1")
        assert len(tail.text.encode()) == MAX_TAIL_BYTES
        assert tail.written == tail.start + MAX_TAIL_BYTES
        run.tell("half \ud800\n")
        assert ana.read_output("r-1", tail.written).text == "half \ufffd\n"


def test_output_of_a_run_that_was_taken_over_is_refused(clients: Clients) -> None:
    """Its old driver is told so, as with everything else that it sends."""
    agent, other = clients.agent(), clients.agent()
    run = agent.run(run_id="r-1")
    run.__enter__()
    run.tell("mine\n")
    run.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)  # which leaves the run as it is
    with other.run(run_id="r-1") as taken:
        with pytest.raises(RunTakenError):
            run.tell("late\n")
        taken.tell("ours\n")
        assert other.read_output("r-1").text == "mine\nours\n"


def test_output_before_the_run_begins_is_refused(agent: Client) -> None:
    """There is nobody yet whose output it could be."""
    run = agent.run(run_id="r-1")
    with pytest.raises(BadRequestError):
        run.tell("early")


def test_output_of_an_unknown_run_is_not_found(ana: Client) -> None:
    """As the run itself."""
    with pytest.raises(NotFoundError):
        ana.read_output("nobody")
