"""Confirms from Python: the same question while it waits, the answer that came meanwhile, and a new one after that."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import assent
from assent import Ask
from assent.client import durable
from assent.client.journal import Settled, make_step, render_opened, render_returned
from assent.effects.direct import Direct
from assent.effects.performer import Performers
from assent.effects.reviewer import reviewer_performers
from assent.flows.confirm import CONFIRM, ConfirmInputs, How, RunReviewer
from assent.flows.document import Document, ReadDocument
from assent.flows.step import Done, step_digest
from assent.protocol.error import BadRequestError, EffectError, NotFoundError
from assent.protocol.plan import Moment, Status
from assent.protocol.prompt import Field, Prompt, question
from assent.testing.store import ThrowawayStore
from tests.client.both import NewStore, only_on_a_file
from tests.client.talk import Crash
from tests.flows.plan_page import ai, fill, human
from tests.proves import proves

__all__: list[str] = []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder that is a project."""
    (tmp_path / ".git").mkdir()
    return tmp_path


def write(folder: Path, *spots: object) -> Path:
    """Write a plan with these confirms."""
    plan = folder / "plan.xml"
    plan.write_bytes(fill(spots))  # type: ignore[arg-type]
    return plan


def meeting(store: ThrowawayStore, *replies: str) -> tuple[list[str], Callable[[Ask], None]]:
    """Return what will be asked, and somebody who answers it."""
    asked: list[str] = []
    person = store.person()

    def meet(ask: Ask) -> None:
        person.answer(ask.ask_id, replies[len(asked)])
        asked.append(ask.prompt.title)

    return asked, meet


@proves("C28")
def test_both_halves_are_asked_in_every_round(new_store: NewStore, folder: Path) -> None:
    """C-X4: what was confirmed in an earlier round says nothing about this one."""
    plan = write(folder, human("T1.1", "both"))
    with new_store() as store:
        asked, meet = meeting(store, "y", "y", "y", "y")
        for _ in range(2):
            for moment in ("before", "after", "before", "after"):
                verdict = assent.confirm_plan(store.agent(), plan, "T1.1", moment, "S", present=meet, wait=0)
                assert verdict.how is How.CONFIRMED
            plan.write_bytes(fill([human("T1.1", "both")]))
    assert ["When=after" in title for title in asked] == [False, True, False, True]


@proves("C45")
def test_yes_that_comes_after_the_reviewer_failed_counts_tomorrow(new_store: NewStore, folder: Path) -> None:
    """The file says BLOCKED while the person is asked; asked again, it is the same question."""
    plan = write(folder, ai("T1.1", "before"))

    def fail(_: RunReviewer) -> None:
        raise EffectError("gone")

    performers: Performers = {RunReviewer: Direct(RunReviewer, fail)}
    with new_store() as store:
        agent = store.agent()
        with pytest.raises(assent.StillOpen):
            assent.confirm_plan(agent, plan, "T1.1", "before", "S", performers=performers, wait=0)
        (ask,) = agent.inbox()
        store.person().answer(ask.ask_id, "y")
        verdict = assent.confirm_plan(agent, plan, "T1.1", "before", "S", performers=performers, wait=0)
    assert verdict.how is How.CONFIRMED


@pytest.mark.parametrize(
    ("reply", "how"), [("rename it", How.CHANGES), ("y", How.CONFIRMED), ("n", How.DECLINED)]
)
def test_answer_is_not_lost_by_a_crash_before_the_end(
    new_store: NewStore, folder: Path, monkeypatch: pytest.MonkeyPatch, reply: str, how: How
) -> None:
    """The status was written already; what was said is still told."""
    plan = write(folder, human("T1.1", "both", "DONE"))

    def die(*_: object) -> None:
        raise Crash

    with new_store() as store:
        asked, meet = meeting(store, reply)
        with monkeypatch.context() as patched:
            patched.setattr(durable.Driver, "_finish", die)
            with pytest.raises(Crash):
                assent.confirm_plan(store.agent(), plan, "T1.1", "after", "S", present=meet, wait=0)
        verdict = assent.confirm_plan(store.agent(), plan, "T1.1", "after", "S", wait=0)
    assert (verdict.how, len(asked)) == (how, 1)


@pytest.mark.parametrize("status", ["BLOCKED", "IN_PROGRESS", "TODO", "CANCELLED"])
def test_yes_that_nobody_heard_counts_whatever_became_of_the_file_meanwhile(
    new_store: NewStore, folder: Path, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    """The agent died before it was told; the file says something else now, and follows."""
    plan = write(folder, human("T1.1", "before"))

    def die(*_: object) -> None:
        raise Crash

    with new_store() as store:
        _, meet = meeting(store, "y")
        with monkeypatch.context() as patched:
            patched.setattr(durable.Driver, "_finish", die)
            with pytest.raises(Crash):
                assent.confirm_plan(store.agent(), plan, "T1.1", "before", "S", present=meet, wait=0)
        write(folder, human("T1.1", "before", status))
        assert assent.confirm_plan(store.agent(), plan, "T1.1", "before", "S", wait=0).how is How.CONFIRMED
        assert plan.read_bytes() == fill([human("T1.1", "before", "DONE")])


@pytest.mark.parametrize("status", ["BLOCKED", "IN_PROGRESS", "TODO"])
def test_status_that_is_opened_again_after_a_yes_is_asked_again(
    new_store: NewStore, folder: Path, status: str
) -> None:
    """Whoever sets back what was confirmed wants it asked: that is never a yes too many."""
    plan = write(folder, human("T1.1", "before"))
    with new_store() as store:
        _, meet = meeting(store, "y")
        assent.confirm_plan(store.agent(), plan, "T1.1", "before", "S", present=meet, wait=0)
        write(folder, human("T1.1", "before", status))
        with pytest.raises(assent.StillOpen):
            assent.confirm_plan(store.agent(), plan, "T1.1", "before", "S", wait=0)


def test_journal_that_an_agent_made_up_confirms_nothing_and_the_ask_opens(
    new_store: NewStore, folder: Path
) -> None:
    """It says that the store held the yes when it began; there is no ask with an answer."""
    plan = write(folder, human("T1.1", "before", "BLOCKED"))
    with new_store() as store:
        agent = store.agent()
        inputs = ConfirmInputs("plan.xml", "T1.1", Moment.BEFORE, "S", settled=("before:1.human",))
        flow_id = f"confirm:{plan}:T1.1:before:1"
        made_up = Document(fill([human("T1.1", "before", "DONE")]), "sha256:0")
        read = ReadDocument(inputs.plan)
        agent.write_step(make_step(flow_id, 0, render_opened(CONFIRM, inputs)))
        done = Settled(Done(msgspec.to_builtins(made_up)))
        agent.write_step(make_step(flow_id, 1, done, step_digest(read)))
        with pytest.raises(assent.StillOpen):
            assent.confirm_plan(agent, plan, "T1.1", "before", "S", wait=0)
        assert len(agent.inbox()) == 1


def test_after_half_that_an_agent_made_up_is_asked_all_the_same(new_store: NewStore, folder: Path) -> None:
    """A journal may say that it was confirmed; no person's yes is in the store."""
    plan = write(folder, human("T1.1", "both", "DONE"))
    with new_store() as store:
        agent = store.agent()
        inputs = ConfirmInputs(str(plan), "T1.1", Moment.AFTER, "S")
        flow_id = f"confirm:{plan}:T1.1:after:1"
        agent.write_step(make_step(flow_id, 0, render_opened(CONFIRM, inputs)))
        agent.write_step(make_step(flow_id, 1, render_returned(assent.Verdict(How.CONFIRMED, confirmed=1))))
        with pytest.raises(assent.StillOpen):
            assent.confirm_plan(agent, plan, "T1.1", "after", "S", wait=0)


def test_question_of_another_kind_under_the_key_of_a_confirm_is_no_record(
    new_store: NewStore, folder: Path
) -> None:
    """Any agent may open any ask, and write a journal; a person's yes to tea confirms nothing."""
    plan = write(folder, human("T1.1", "before", "DONE"))
    with new_store() as store:
        agent = store.agent()
        flow_id = f"confirm:{plan}:T1.1:before:1"
        inputs = ConfirmInputs("plan.xml", "T1.1", Moment.BEFORE, "S")
        for number, prompt in enumerate(
            [question("Tea?"), Prompt("Tea?", fields=(Field("confirm", free=True),))]
        ):
            flow_id = f"confirm:{plan}:T1.1:before:{number + 1}"
            ask = agent.open(prompt, kind="confirm", key=f"{flow_id}:1.human").ask
            store.person().answer(ask.ask_id, "y")
            verdict = assent.Verdict(How.CONFIRMED, confirmed=1, passed={"1.human": "1.human"})
            agent.write_step(make_step(flow_id, 0, render_opened(CONFIRM, inputs)))
            agent.write_step(make_step(flow_id, 1, render_returned(verdict)))
        with pytest.raises(assent.StillOpen):
            assent.confirm_plan(agent, plan, "T1.1", "before", "S", wait=0)
        (ask,) = agent.inbox()
        assert ask.prompt.title.startswith("Confirm (human) task T1.1: Rename. When=before.")


@only_on_a_file
def test_record_is_found_among_any_number_of_other_asks(new_store: NewStore, folder: Path) -> None:
    """It is looked up by its key, also while it is open."""
    plan = write(folder, human("T1.1", "both"), human("P1", "before"))
    with new_store() as store:
        agent = store.agent()
        for owner in ("T1.1", "P1"):
            with pytest.raises(assent.StillOpen):
                assent.confirm_plan(agent, plan, owner, "before", "S", wait=0)
        first, second = agent.inbox()
        store.person().answer(second.ask_id, "y")
        for number in range(1_500):
            agent.open(f"Question {number}?")
        assert assent.confirm_plan(agent, plan, "T1.1", "before", "S", wait=0).how is How.CONFIRMED
        assert assent.confirm_plan(agent, plan, "T1.1", "before", "S", wait=0).how is How.CONFIRMED
        with pytest.raises(assent.StillOpen):
            assent.confirm_plan(agent, plan, "P1", "before", "Another", wait=0)
        assert agent.show(first.ask_id).state == "withdrawn"


def test_clean_report_lets_a_reviewers_confirm_pass_and_never_a_persons(
    new_store: NewStore, folder: Path
) -> None:
    """A machine is never a human: also where the journal says that the person's confirm passed by a report."""
    plan = write(folder, ai("T1.1", "before"), human("T1.1", "before"))
    with new_store() as store:
        agent = store.agent()
        inputs = ConfirmInputs("plan.xml", "T1.1", Moment.BEFORE, "S")
        flow_id = f"confirm:{plan}:T1.1:before:1"
        verdict = assent.Verdict(How.CONFIRMED, confirmed=2, passed={"1.ai.critic": "", "1.human": ""})
        agent.write_step(make_step(flow_id, 0, render_opened(CONFIRM, inputs)))
        agent.write_step(make_step(flow_id, 1, render_returned(verdict)))
        write(folder, ai("T1.1", "before", "DONE"), human("T1.1", "before", "DONE"))
        with pytest.raises(assent.StillOpen):
            assent.confirm_plan(agent, plan, "T1.1", "before", "S", wait=0)
        (ask,) = agent.inbox()
        store.person().answer(ask.ask_id, "y")
        assert assent.confirm_plan(agent, plan, "T1.1", "before", "S", wait=0).how is How.CONFIRMED


@pytest.mark.parametrize("door", ["server"])
def test_report_in_another_agents_journal_is_not_believed_over_a_server(
    new_store: NewStore, folder: Path
) -> None:
    """Its own reviewer looks."""
    plan = write(folder, ai("T1.1", "before"))
    looked: list[str] = []

    def look(effect: RunReviewer) -> dict[str, object]:
        looked.append(effect.agent)
        return {"blocking": [], "non_blocking": [], "summary": "Fine."}

    performers: Performers = {RunReviewer: Direct(RunReviewer, look)}  # type: ignore[arg-type]
    with new_store() as store:
        for _ in range(2):
            for name in ("one", "two"):
                verdict = assent.confirm_plan(
                    store.agent(name), plan, "T1.1", "before", "S", performers=performers, wait=0
                )
                assert verdict.how is How.CONFIRMED
    assert looked == ["critic", "critic"]


REPORTS = {
    "fine": '{"blocking": [], "non_blocking": [], "summary": "Fine."}',
    "bad": '{"blocking": ["No index."], "non_blocking": [], "summary": "Not yet."}',
}


def write_reviewer(folder: Path, report: str) -> None:
    """Put a reviewer into the project that says this, and notes that it was run."""
    (folder / ".assent").mkdir(exist_ok=True)
    (folder / "report.json").write_text(REPORTS[report])
    script = "echo >> runs; cat report.json"
    (folder / ".assent" / "reviewers.toml").write_text(
        f'[reviewer.critic]\ncommand = ["sh", "-c", "{script}"]\n'
    )


def count_runs(folder: Path) -> int:
    """Return how often the reviewer was run."""
    runs = folder / "runs"
    return len(runs.read_bytes()) if runs.exists() else 0


@proves("C39", "C42", "C43")
def test_reviewers_of_the_project_run_from_python_once_a_person_accepted_them(
    new_store: NewStore, folder: Path
) -> None:
    """One ask for the acceptance; blocking issues return at once, and only a person's word runs it again."""
    plan = write(folder, ai("T1.1", "before"))
    write_reviewer(folder, "bad")
    with new_store() as store:
        agent, person = store.agent(), store.person()

        def run(wait: float = 0) -> assent.Verdict:
            return assent.confirm_plan(agent, plan, "T1.1", "before", "S", wait=wait)

        for _ in range(2):
            with pytest.raises(assent.StillOpen):
                run()
        (ask,) = agent.inbox()
        assert (ask.kind, count_runs(folder)) == ("approval", 0)
        person.answer(ask.ask_id, "Accept", unattended=True)
        for _ in range(2):
            blocked = run(wait=0.01)
            (ask,) = agent.inbox()
            assert (blocked.how, blocked.ask_id, count_runs(folder)) == (How.BLOCKED, ask.ask_id, 1)
        person.answer(ask.ask_id, "y")
        assert run().how is How.BLOCKED, "a yes to a question of what to do is no direction"
        (ask,) = agent.inbox()
        (folder / "report.json").write_text(REPORTS["fine"])
        person.answer(ask.ask_id, "1")
        assert (run().how, count_runs(folder)) == (How.CONFIRMED, 2)


def test_later_call_waits_for_the_direction_if_it_is_told_how_long(new_store: NewStore, folder: Path) -> None:
    """The first one returns at once whatever it is told."""
    plan = write(folder, ai("T1.1", "before"))
    bad = {"blocking": ["No index."], "non_blocking": [], "summary": "Not yet."}
    performers: Performers = {RunReviewer: Direct(RunReviewer, lambda _: bad)}
    with new_store() as store:
        asked, meet = meeting(store, "Stop")
        for how in (How.BLOCKED, How.STOPPED):
            verdict = assent.confirm_plan(
                store.agent(), plan, "T1.1", "before", "S", performers=performers, present=meet, wait=600
            )
            assert verdict.how is how
    assert len(asked) == 1


def test_dropped_is_for_good_and_for_both_halves(new_store: NewStore, folder: Path) -> None:
    """A person's wish outlives what is written into the file."""
    plan = write(folder, human("T1.1", "both"))
    with new_store() as store:
        asked, meet = meeting(store, "drop this confirm")
        for moment in ("before", "before", "after"):
            verdict = assent.confirm_plan(store.agent(), plan, "T1.1", moment, "S", present=meet, wait=0)
            assert (verdict.how, verdict.confirmed) == (How.DROPPED, 0)
            assert plan.read_bytes() == fill([human("T1.1", "both", "CANCELLED")])
            write(folder, human("T1.1", "both"))
    assert len(asked) == 1


def test_confirm_that_nobody_may_pass_is_told_apart(new_store: NewStore, folder: Path) -> None:
    """Nothing to confirm, missing and refused are three things, and none of them is a yes."""
    plan = write(folder, human("T1.1", "before"))
    with new_store() as store:
        agent = store.agent()
        assert assent.confirm_plan(agent, plan, "P1", "before", "S", wait=0).how is How.NOTHING
        write(folder)
        gone = assent.confirm_plan(agent, plan, "T1.1", "before", "S", wait=0)
        assert (gone.how, gone.confirmed) == (How.MISSING, 0)
        page = fill([human("T1.1", "before")])
        plan.write_bytes(
            page.replace(b"<confirm note", b"<Confirm note").replace(b"></confirm", b"></Confirm")
        )
        with pytest.raises(BadRequestError, match="<Confirm> is no <confirm>: nobody would be asked"):
            assent.confirm_plan(agent, plan, "T1.1", "before", "S", wait=0)


@pytest.mark.parametrize("status", list(Status))
def test_status_that_an_agent_writes_while_the_ask_is_open_changes_nothing(
    new_store: NewStore, folder: Path, status: str
) -> None:
    """The ask stays, the command says what the file claims, and the person's word decides."""
    plan = write(folder, human("T1.1", "before"))
    with new_store() as store:
        agent, said = store.agent(), list[str]()
        for _ in range(2):
            with pytest.raises(assent.StillOpen):
                assent.confirm_plan(agent, plan, "T1.1", "before", "S", say=said.append, wait=0)
            write(folder, human("T1.1", "before", status))
        (ask,) = agent.inbox()
        claims = {
            "DONE": ["The file says DONE, and nobody confirmed it."],
            "CANCELLED": ["The file says CANCELLED, and nobody dropped it."],
        }
        assert said == claims.get(status, [])
        store.person().answer(ask.ask_id, "n")
        assert assent.confirm_plan(agent, plan, "T1.1", "before", "S", wait=0).how is How.DECLINED
        assert plan.read_bytes() == fill([human("T1.1", "before", "BLOCKED")])


def test_yes_to_another_summary_is_no_yes_to_this_one(new_store: NewStore, folder: Path) -> None:
    """The first question is taken back, answered or not, and the second is asked."""
    plan = write(folder, human("T1.1", "before"))
    with new_store() as store:
        agent = store.agent()
        for summary in ("Rename a column", "Drop the table", "Drop the table"):
            with pytest.raises(assent.StillOpen):
                assent.confirm_plan(agent, plan, "T1.1", "before", summary, wait=0)
        (ask,) = agent.inbox()
        assert "Drop the table" in ask.prompt.title
        store.person().answer(ask.ask_id, "y")
        with pytest.raises(assent.StillOpen):
            assent.confirm_plan(agent, plan, "T1.1", "before", "Drop the database", wait=0)


@proves("C34")
@pytest.mark.parametrize(
    ("reply", "how"), [("stop", How.STOPPED), ("n", How.DECLINED), ("rename it", How.CHANGES)]
)
def test_no_is_told_though_the_agent_came_back_with_another_summary(
    new_store: NewStore, folder: Path, reply: str, how: How
) -> None:
    """A stop holds whatever the words were; only a yes is bound to them."""
    plan = write(folder, human("T1.1", "before"))
    with new_store() as store:
        agent = store.agent()
        with pytest.raises(assent.StillOpen):
            assent.confirm_plan(agent, plan, "T1.1", "before", "Rename a column", wait=0)
        (ask,) = agent.inbox()
        store.person().answer(ask.ask_id, reply)
        assert assent.confirm_plan(agent, plan, "T1.1", "before", "Rename one column", wait=0).how is how
        assert plan.read_bytes() == fill([human("T1.1", "before", "BLOCKED")])


@proves("C31", "C33")
def test_changes_are_applied_and_the_confirm_is_asked_again_until_it_is_settled(
    new_store: NewStore, folder: Path
) -> None:
    """The orchestrator applies; the next question has the next summary."""
    plan = write(folder, human("T1.1", "before"))
    wanted: list[str] = []

    def apply(verdict: assent.Verdict) -> str:
        wanted.append(verdict.text)
        return f"with {verdict.text}"

    with new_store() as store:
        asked, meet = meeting(store, "a view", "two views", "y")
        verdict = assent.confirm_plan(
            store.agent(), plan, "T1.1", "before", "bare", apply=apply, present=meet, wait=0
        )
    assert (verdict.how, wanted) == (How.CONFIRMED, ["a view", "two views"])
    assert [title.partition("Summary: ")[2].partition(".")[0] for title in asked] == [
        "bare",
        "with a view",
        "with two views",
    ]


@proves("C38")
def test_callers_mistake_is_refused_before_anything_is_written(new_store: NewStore, folder: Path) -> None:
    """C-X13: relative paths, folders that are not there, plans and moments that there are not."""
    plan = write(folder, ai("T1.1", "before"))
    content = plan.read_bytes()
    performers = reviewer_performers({}, {}, lambda _: None)
    with new_store() as store:
        agent = store.agent()
        for track_dir in ("here", "/nowhere/at/all"):
            with pytest.raises(BadRequestError):
                assent.confirm_plan(
                    agent, plan, "T1.1", "before", "S", track_dir=track_dir, performers=performers, wait=0
                )
        with pytest.raises(BadRequestError, match="before or after"):
            assent.confirm_plan(agent, plan, "T1.1", "both", "S", wait=0)
        with pytest.raises(NotFoundError):
            assent.confirm_plan(agent, folder / "no.xml", "T1.1", "before", "S", wait=0)
        assert agent.inbox() == []
    assert plan.read_bytes() == content


def test_plan_in_a_git_worktree_is_one_of_its_own(
    new_store: NewStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worktrees of a project share its store; the reviewer looks at the worktree that the plan lies in."""
    main, tree = tmp_path / "main", tmp_path / "tree"
    (main / ".git" / "worktrees" / "tree").mkdir(parents=True)
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {main}/.git/worktrees/tree\n")
    (main / ".git" / "worktrees" / "tree" / "gitdir").write_text(f"{tree}/.git\n")
    monkeypatch.chdir(main)
    ours, theirs = write(main, human("T1.1", "both")), write(tree, human("T1.1", "both", "DONE"))
    with new_store() as store:
        agent = store.agent()
        asked, meet = meeting(store, "y", "y", "y")
        for moment in ("before", "after"):
            assent.confirm_plan(agent, ours, "T1.1", moment, "S", present=meet, wait=0)
        monkeypatch.chdir(tree)
        verdict = assent.confirm_plan(agent, theirs, "T1.1", "after", "S", present=meet, wait=0)
        assert (verdict.confirmed, len(asked)) == (1, 3), "the other worktree's yes is none to this one"

        looked: list[str] = []

        def look(effect: RunReviewer) -> None:
            looked.append(effect.workspace_dir)
            raise EffectError("gone")

        write(tree, human("T1.1", "both", "DONE"), ai("P1", "before"))
        performers: Performers = {RunReviewer: Direct(RunReviewer, look)}
        with pytest.raises(assent.StillOpen):
            assent.confirm_plan(agent, theirs, "P1", "before", "S", performers=performers, wait=0)
        assert looked == [str(tree)]


def test_yes_is_not_taken_for_a_plan_of_another_project_with_the_same_path(
    new_store: NewStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From one project a plan of another may be named; both are called plan.xml at home."""
    for name in ("a", "b"):
        (tmp_path / name / ".git").mkdir(parents=True)
    ours, theirs = write(tmp_path / "a", human("T1.1", "before")), tmp_path / "b" / "plan.xml"
    theirs.write_bytes(fill([human("T1.1", "before", "IN_PROGRESS")]))
    monkeypatch.chdir(tmp_path / "a")
    with new_store() as store:
        agent = store.agent()
        with pytest.raises(assent.StillOpen):
            assent.confirm_plan(agent, ours, "T1.1", "before", "S", wait=0)
        (ask,) = agent.inbox()
        store.person().answer(ask.ask_id, "y")
        with pytest.raises(assent.StillOpen):
            assent.confirm_plan(agent, theirs, "T1.1", "before", "S", wait=0)
        assert assent.confirm_plan(agent, ours, "T1.1", "before", "S", wait=0).how is How.CONFIRMED
