"""A hub on SQLite and one on PostgreSQL, side by side: the same commands and the same clock give the same of everything."""

from collections.abc import Callable
from datetime import timedelta
from typing import ClassVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from assent.hub.command import (
    AnswerAsk,
    BeginTurn,
    EndTurn,
    ExecuteControl,
    OpenAsk,
    PostMessage,
    Request,
    StartRun,
)
from assent.hub.hub import Hub
from assent.hub.work_command import CreateTask, SetPolicy
from assent.protocol.ask import AskId, Consequence, State
from assent.protocol.policy import Category, Level
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.run import RunId
from assent.protocol.task import TaskId
from assent.protocol.topic import CONTROL_TOPIC
from assent.storage.postgres.store import PostgresStore
from assent.storage.sqlite.store import SqliteStore
from assent.testing import FakeClock, throwaway
from tests.chance import run_until
from tests.hub.two_stores import (
    COMMANDS,
    ENDINGS,
    PROJECTS,
    PROMPTS,
    REQUESTS,
    SENDERS,
    everything,
    tell,
    tell_together,
)
from tests.run_samples import new_frame, request_text
from tests.samples import AGENT, ANA, NOON, digest_of
from tests.token_samples import creating
from tools.postgres import PostgresServer

__all__ = ["TwoStores"]


class TwoStores(RuleBasedStateMachine):
    """Whatever is done is done to both."""

    server: ClassVar[PostgresServer]
    reached: ClassVar[set[str]] = set()
    """The types of event that came about in any example."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock(NOON)
        self.place = throwaway()
        self.database = self.server.lend_database()
        self.sent = 0

    @initialize()
    def begin(self) -> None:
        """Begin with a few asks, so that there is something to end."""
        self.open()
        for number, prompt in enumerate(PROMPTS[:2], start=1):
            ask_id = AskId(f"ask_{number:018}")
            self.send(OpenAsk(ask_id, prompt, digest_of(prompt)), "test", AGENT, "new")

    def open(self) -> None:
        """Open both stores."""
        self.file = Hub(SqliteStore(self.place.path), self.clock)
        self.base = Hub(PostgresStore(self.database), self.clock)

    def command_id(self, chosen: str) -> str:
        """Return an id that was never used, or the one that was chosen."""
        self.sent += 1
        return f"cmd_{self.sent}" if chosen == "new" else chosen

    @rule(request=REQUESTS, project=PROJECTS, by=SENDERS, chosen=COMMANDS)
    def send(self, request: Request, project: str, by: Principal, chosen: str) -> None:
        """Send one request."""
        command_id = self.command_id(chosen)
        ours = tell(self.base, request, project, by, command_id)
        assert ours == tell(self.file, request, project, by, command_id)

    @rule(requests=st.lists(st.tuples(REQUESTS, SENDERS, COMMANDS), min_size=2, max_size=6), project=PROJECTS)
    def send_together(self, requests: list[tuple[Request, Principal, str]], project: str) -> None:
        """Send several that share a transaction."""
        together = [(request, by, self.command_id(chosen)) for request, by, chosen in requests]
        ours = tell_together(self.base, project, together)
        assert ours == tell_together(self.file, project, together)

    @rule(number=st.integers(0, 9), ending=ENDINGS, chosen=COMMANDS)
    def end_one(self, number: int, ending: tuple[Callable[[AskId], Request], Principal], chosen: str) -> None:
        """End an ask that is open, or claim it."""
        with self.file.store.reading() as reader:
            waiting = reader.asks(None, State.OPEN, 10)
        if waiting:
            ask = waiting[number % len(waiting)]
            self.send(ending[0](ask.ask_id), ask.project, ending[1], chosen)

    @rule(run_id=st.sampled_from(["r1", "r2"]), command=st.sampled_from(["pause", "resume", "cancel"]))
    def drive(self, run_id: str, command: str) -> None:
        """Go through a turn of a run, and steer it."""
        for request in (
            StartRun(RunId(run_id), new_frame(id=run_id, max=4), "host:1"),
            BeginTurn(RunId(run_id), 1),
            EndTurn(RunId(run_id), 1),
            PostMessage(
                CONTROL_TOPIC, request_text(command, request_id=f"req-{self.sent}", target={"run_id": run_id})
            ),
        ):
            self.send(request, "test", ANA if isinstance(request, PostMessage) else AGENT, "new")
        self.send(ExecuteControl(f"req-{self.sent - 4}"), "test", ANA, "new")

    @rule(number=st.integers(1, 6), consequence=st.sampled_from(Consequence))
    def let_one_lapse(self, number: int, consequence: Consequence) -> None:
        """Open an ask that has a deadline, and let it go by."""
        ask_id = AskId(f"ask_{number:018}")
        prompt = PROMPTS[0]
        self.send(
            OpenAsk(
                ask_id, prompt, digest_of(prompt), deadline=timedelta(seconds=20), consequence=consequence
            ),
            "test",
            AGENT,
            "new",
        )
        self.step_the_clock(21)
        self.look()

    def tour(self) -> None:
        """Pass by everything once: a run of few examples need not come across it."""
        self.end_one(
            0, (lambda ask_id: AnswerAsk(ask_id, "1", via="x", assurance=Assurance.TERMINAL), ANA), "new"
        )
        self.let_one_lapse(9, Consequence.DENY)
        self.drive("r1", "pause")
        self.send(CreateTask(TaskId("task-1"), "a", 1), "test", AGENT, "new")
        self.send(
            SetPolicy({Category.SCOPE_CHANGES: Level.AUTOMATED}, Assurance.TERMINAL), "test", ANA, "new"
        )
        self.send(creating(Role.AGENT, 1), "test", ANA, "new")

    @rule(seconds=st.sampled_from([1, 5, 30, 31, 100, 1_000, -40]))
    def step_the_clock(self, seconds: float) -> None:
        """Let time go by, or set the clock back."""
        self.clock.set(self.clock.at + timedelta(seconds=seconds))

    @rule()
    def look(self) -> None:
        """Somebody only looks; what is due is done on the way."""
        assert everything(self.base) == everything(self.file)

    @rule()
    def tick(self) -> None:
        """What is due is done."""
        self.base.tick()
        self.file.tick()

    @rule()
    def restart(self) -> None:
        """Other processes take the place of these."""
        self.file.close()
        self.base.close()
        self.open()

    def teardown(self) -> None:
        """Compare everything once more, event by event and hash by hash."""
        try:
            ours, theirs = everything(self.base), everything(self.file)
            for name, wanted in theirs.items():
                assert (name, ours[name]) == (name, wanted)
            with self.file.store.reading() as reader:
                self.reached.update(
                    record.type
                    for head in reader.heads()
                    for record in reader.records(head.project, 0, 1_000)
                )
        finally:
            self.file.close()
            self.base.close()
            self.place.close()
            self.server.take_back(self.database)


def test_both_stores_say_and_keep_the_same_whatever_comes(postgres_server: PostgresServer) -> None:
    """Replies, refusals with their sentences, rows, pages, and the log with its hashes."""
    TwoStores.server = postgres_server
    wanted = {"ask.answered", "ask.withdrawn", "run.started", "control.resolved"}
    bounds = settings(max_examples=8, stateful_step_count=30)
    run_until(TwoStores, bounds, lambda: wanted <= TwoStores.reached)
    assert wanted <= TwoStores.reached
