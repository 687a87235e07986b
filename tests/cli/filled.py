"""A store with something in every table, and the rows of a store as a test compares them."""

import sys
from typing import Any

from assent import connect
from assent.client.connect import open_hub
from assent.hub.command import ClaimAsk, PostMessage, StartRun, TellOutput, WriteStep
from assent.hub.future import LightFuture
from assent.hub.outbox import Outbox
from assent.protocol.run import RunId
from assent.storage.copy import find_heads
from assent.storage.copy_end import Source
from assent.storage.copy_table import EVENTS, LOG_SHIFT, TABLES
from assent.storage.port import Step
from tests.cli.shell import Shell
from tests.patience import PATIENCE
from tests.run_samples import new_frame
from tests.samples import AGENT, ANA
from tests.steering import tell
from tests.target_samples import adding

__all__ = ["ACTION", "fill", "rows_of"]

ACTION = '{"sql": "DROP TABLE users"}'


def fill(shell: Shell, project: str = "shop") -> dict[str, str]:
    """Put something into every table of a project; return the receipt's id and a person's token."""
    (shell.folder / "action.json").write_text(ACTION)
    with (
        connect(shell.store, project=project) as agent,
        connect(shell.store, project=project, principal="human:ana") as ana,
    ):
        first = agent.open("Which?", ["Red", "Blue"], key="colour")
        ana.answer(first.ask_id, "Red")
        claimed = agent.open("Why?")
        agent.open("Replaced?", key="other")
        agent.open("Really replaced?", key="other", replace=True)
        agent.create_task("Paint it")
    with_project = ("--project", project)
    made = {
        "policy": shell.run(
            "policy", "set", "scopeChanges", "notify_and_proceed", "--unattended", *with_project
        ),
        "receipt": shell.run(
            "approve", "Drop it?", "--action", "action.json", "--category", "scopeChanges", *with_project
        ),
        "token": shell.run("token", "create", "--role", "human", "--unattended", *with_project),
    }
    assert [ended.status for ended in made.values()] == [0, 0, 0], made
    hub = open_hub(shell.store, shell.environ())
    try:
        tell(hub, ClaimAsk(claimed.ask_id), ANA, project)
        run_id = RunId("nightly")
        tell(hub, StartRun(run_id, new_frame(), "host:1"), AGENT, project)
        tell(hub, TellOutput(run_id, 1, b"hello\n"), AGENT, project)
        note = PostMessage("notes", b'{"a": 1}')
        posted = hub.handle(note, project=project, principal=AGENT, command_id="mine-1")
        assert isinstance(posted, LightFuture)
        assert posted.wait(PATIENCE)
        tell(hub, WriteStep(Step("review:1", 0, "d", "done", b"{}")), AGENT, project)
        tell(hub, adding(), ANA, project)
        outbox = Outbox(hub)
        claim = outbox.claim(project, "hook")
        assert claim is not None
        with hub.store.transaction() as transaction:
            transaction.keep_message(project, "hook", claimed.ask_id, "C1:17.5")
        assert outbox.let_go(claim)
    finally:
        hub.close()
    assert shell.run("pause", "nightly", *with_project).status == 0
    return {name: ended.out.strip() for name, ended in made.items()}


def rows_of(end: Source) -> dict[str, Any]:
    """Return everything that a store holds, by project and table; a project's number is its store's own business."""
    found: dict[str, Any] = {}
    for project, head in find_heads(end).items():
        found[project] = (head.sequence, head.hash, head.at)
        low = head.number * LOG_SHIFT
        events = end.query(
            f"SELECT {', '.join(EVENTS)} FROM events WHERE event_number > ? AND event_number < ? ORDER BY event_number",
            (low, low + LOG_SHIFT),
        )
        found[f"{project}.events"] = [(row[0] - low, *row[1:]) for row in events]
        for table in TABLES:
            found[f"{project}.{table.name}"] = end.query(table.first(), (head.number, sys.maxsize))
    return found
