"""The log gives the rows: whatever commands come, replaying their events rebuilds every row."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.hub.audit import replay, verify
from assent.hub.command import (
    AnswerAsk,
    BeginTurn,
    ClaimAsk,
    DeclineAsk,
    EndTurn,
    ExecuteControl,
    FailRun,
    FinishRun,
    OpenAsk,
    PopFrame,
    PostMessage,
    PushFrame,
    ReportUndelivered,
    Request,
    StartRun,
    WithdrawAsk,
    WriteStep,
)
from assent.hub.hub import Hub
from assent.hub.record import Step
from assent.protocol.ask import AskId, Consequence, Kind
from assent.protocol.error import AssentError
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.run import DoneReason, RunId
from assent.protocol.topic import CONTROL_TOPIC
from assent.testing import FakeClock, throwaway
from tests.chance import examples
from tests.engine.strategies import PROMPTS
from tests.run_samples import new_frame, request_text
from tests.samples import AGENT, ANA, BOB, digest_of

__all__: list[str] = []

PEOPLE = (ANA, BOB, AGENT, Principal(Role.AGENT, "other"), Principal(Role.OPERATOR, "op"))
IDS = range(4)
_ids = st.sampled_from(IDS)
_seconds = st.sampled_from([None, 0, 5, 60])
_run_ids = st.sampled_from(["r1", "r2"]).map(RunId)


@st.composite
def openings(draw: st.DrawFn) -> OpenAsk:
    """Openings with few ids and keys, so that they meet."""
    prompt = draw(st.sampled_from(PROMPTS))
    seconds = draw(_seconds)
    return OpenAsk(
        AskId(str(draw(_ids))),
        prompt,
        digest_of(prompt),
        draw(st.sampled_from(Kind)),
        draw(st.none() | st.sampled_from(["k", "l"])),
        draw(st.none() | _run_ids),
        None if seconds is None else timedelta(seconds=seconds),
        draw(st.sampled_from(Consequence)),
        draw(st.none() | st.just("human:bob")),
        draw(st.booleans()),
    )


_ask_ids = _ids.map(str).map(AskId)
_steps = st.builds(
    Step,
    st.just("f"),
    st.integers(0, 3),
    st.sampled_from("de"),
    st.sampled_from(["intended", "done"]),
    st.just(b"{}"),
)
_fences = st.integers(1, 2)
_depths = st.integers(0, 2)
_driving: st.SearchStrategy[Request] = st.one_of(
    st.builds(
        StartRun, _run_ids, st.builds(lambda most: new_frame(max=most), st.integers(1, 3)), st.just("host:1")
    ),
    st.builds(BeginTurn, _run_ids, _fences, _depths),
    st.builds(
        EndTurn,
        _run_ids,
        _fences,
        _depths,
        st.none() | st.sampled_from(DoneReason),
        st.sampled_from(["", "x"]),
    ),
    st.builds(PushFrame, _run_ids, _fences, st.just(new_frame(id="inner")), _depths),
    st.builds(PopFrame, _run_ids, _fences, _depths),
    st.builds(FinishRun, _run_ids, _fences),
    st.builds(FailRun, _run_ids, _fences, st.just("boom")),
)
_texts = st.builds(
    lambda command, run_id, number: request_text(
        command, target={"run_id": run_id}, request_id=f"req-{number}"
    ),
    st.sampled_from(["pause", "resume", "cancel", "escalate", "dance"]),
    _run_ids,
    st.integers(1, 5),
)
_steering: st.SearchStrategy[Request] = st.one_of(
    st.builds(PostMessage, st.just(CONTROL_TOPIC), _texts | st.just(b"{}"), st.booleans()),
    st.builds(PostMessage, st.just("issue:1"), st.sampled_from([b'{"a": 1}', b"not json"])),
    st.builds(ExecuteControl, st.integers(1, 5).map(lambda number: f"req-{number}")),
)
requests: st.SearchStrategy[Request | float] = st.one_of(
    _driving,
    _steering,
    openings(),
    st.builds(
        AnswerAsk,
        _ask_ids,
        st.sampled_from(["1", "red fox, blue fox", "free words", "q1: 1\nq2: so", ""]),
        assurance=st.sampled_from(Assurance),
    ),
    st.builds(DeclineAsk, _ask_ids, st.sampled_from(["", "no"])),
    st.builds(WithdrawAsk, _ask_ids),
    st.builds(ReportUndelivered, _ask_ids),
    st.builds(ClaimAsk, _ask_ids),
    st.builds(WriteStep, _steps),
    st.sampled_from([1.0, 30.0, 31.0, -20.0]),
)


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    """Give one hub for all examples; each example has a project of its own."""
    with throwaway(clock=FakeClock()) as store:
        yield store.hub()


_examples = count()


def in_project(request: Request, project: str) -> Request:
    """Return `request` about an ask of this project: ids are unique in a store."""
    if isinstance(request, OpenAsk | AnswerAsk | DeclineAsk | WithdrawAsk | ReportUndelivered | ClaimAsk):
        return replace(request, ask_id=AskId(f"ask_{project}_{request.ask_id}"))
    return request


@examples(100)
@given(st.lists(st.tuples(requests, st.sampled_from(PEOPLE)), max_size=25))
def test_replay_of_the_log_gives_the_rows(hub: Hub, script: list[tuple[Request | float, Principal]]) -> None:
    """Any commands, refused or not, with the clock moving both ways: rows and log never part."""
    project = f"p{next(_examples)}"
    for request, by in script:
        if isinstance(request, float):
            assert isinstance(hub.clock, FakeClock)
            hub.clock.set(hub.clock.at + timedelta(seconds=request))
            continue
        with suppress(AssentError):
            hub.handle(in_project(request, project), project=project, principal=by).result()
    with hub.reading() as reader, reader.snapshot():
        records = reader.records(project, 0, 1_000)
        rows = {
            "ask": {ask.ask_id: replace(ask, claim=None) for ask in reader.asks(project, None, 1_000)},
            "run": {run.run_id: run for run in reader.runs(project, 1_000, active=False)},
            "request": {control.request.request_id: control for control in reader.controls(project)},
        }
        steps = {f"step {step.step} of {step.flow_id}": step for step in reader.steps(project)}
    told = replay(project, records)
    assert {name: told.rows[name] for name in rows} == rows
    assert told.steps == steps
    assert [record.sequence for record in records] == list(range(1, len(records) + 1))


def test_store_of_all_examples_is_whole(hub: Hub) -> None:
    """Twin in the large: the audit agrees about every project at once, in whichever order the tests run."""
    assert verify(hub.store).problems == ()
