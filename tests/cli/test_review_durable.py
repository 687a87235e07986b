"""`assent review --durable`: each question is an ask, answered from anywhere, and a killed review goes on."""

import json
import re
import signal
import subprocess

import psutil
import pytest

from assent import Ask, Kind, State, connect
from assent.surfaces.card import short_id
from tests.cli.reviews import FIXED, Desk, document_of, merged, merged_set
from tests.cli.shell import Shell, wait_for
from tests.patience import PATIENCE
from tests.proves import proves

__all__: list[str] = []

NAMES = ("one", "two", "three")
THREE = merged_set(*(merged(name) for name in NAMES))
REPLIES = ["A", "B", "A", "A", "B", "LFG the rest", "Proceed", "stop"]
"""One by one: the root and its dependent deferred, one applied, one deferred, the rest together."""
KINDS = [Kind.QUESTION, *[Kind.FINDING] * 5, Kind.QUESTION, Kind.QUESTION]


@pytest.fixture
def desk(shell: Shell) -> Desk:
    """Give a desk with the round of five."""
    return Desk(shell)


def next_ask(shell: Shell, answered: list[Ask]) -> Ask:
    """Return the question that is open now and was not answered before."""
    known = {ask.ask_id for ask in answered}

    def is_there() -> bool:
        return any(ask.ask_id not in known for ask in shell.waiting())

    wait_for(is_there)
    (ask,) = shell.waiting()
    return ask


def every_ask(shell: Shell) -> list[Ask]:
    """Return all asks of the folder's store, whatever became of them."""
    with connect(shell.store, project=shell.folder.name) as client:
        return client.inbox(all_states=True)


def undisturbed(desk: Desk) -> str:
    """Return the document as the same replies leave it when nothing happens in between."""
    before = desk.document
    assert desk.run(replies=REPLIES).status == 0
    after = desk.document
    desk.path.write_text(before)
    return after


def test_each_question_is_an_ask_that_another_process_answers(shell: Shell, desk: Desk) -> None:
    """Kinds finding and question, in `assent inbox --json`; what comes out is that of a review in memory."""
    expected = undisturbed(desk)
    reviewing = desk.start("--durable")
    answered: list[Ask] = []
    for reply in REPLIES:
        ask = next_ask(shell, answered)
        (listed,) = shell.run("inbox", "--json").json["asks"]
        assert (listed["ask_id"], listed["kind"]) == (ask.ask_id, ask.kind)
        assert shell.run("answer", ask.ask_id, reply).status == 0
        answered.append(ask)
    ended = shell.finish(reviewing)
    assert ended.status == 0, ended.err
    assert [ask.kind for ask in answered] == KINDS
    assert ended.out.endswith("Verdict: Not ready.\nReview complete.\n")
    assert desk.document == expected
    assert shell.waiting() == []


def test_card_of_a_finding_shows_its_block_and_its_letters(shell: Shell, desk: Desk) -> None:
    """Whoever answers from elsewhere reads what the terminal would have shown."""
    reviewing = desk.start("--durable")
    routing = next_ask(shell, [])
    shell.answer(routing.ask_id, "A")
    ask = next_ask(shell, [routing])
    shown = shell.run("show", ask.ask_id).out
    assert "## Finding 1 of 5 — P0 The cache may not be needed\n" in shown
    assert "  B. Defer — append to the doc's Open Questions section (recommended)\n" in shown
    wrong = shell.run("answer", ask.ask_id, "E")
    assert (wrong.status, "I didn't recognize" in wrong.err) == (2, True)
    desk.kill(reviewing)


def test_question_answered_by_two_at_once_has_one_winner(shell: Shell, desk: Desk) -> None:
    """The loser is told who won, and the review goes on with the winner's word."""
    reviewing = desk.start("--durable")
    routing = next_ask(shell, [])
    shell.answer(routing.ask_id, "A")
    ask = next_ask(shell, [routing])
    rivals = [shell.start("answer", ask.ask_id, reply) for reply in "BC"]
    ended = [shell.finish(rival) for rival in rivals]
    assert sorted(rival.status for rival in ended) == [0, 6]
    (loser,) = (rival for rival in ended if rival.status == 6)
    assert "answered" in loser.err
    won = "Deferring" if ended[0].status == 0 else "Skipping"
    assert next_ask(shell, [routing, ask]).prompt.title.startswith(f"{won} this root")
    desk.kill(reviewing)


@pytest.mark.parametrize("when", ["before it is answered", "after it was answered"])
def test_review_killed_at_every_question_asks_and_appends_nothing_twice(
    shell: Shell, desk: Desk, when: str
) -> None:
    """A driver for each question, each killed; the document is that of an undisturbed review."""
    expected = undisturbed(desk)
    answered: list[Ask] = []
    for reply in REPLIES:
        reviewing = desk.start("--durable")
        ask = next_ask(shell, answered)
        if when.startswith("before"):
            desk.kill(reviewing)
        shell.answer(ask.ask_id, reply)
        desk.kill(reviewing)
        answered.append(ask)
        entries = desk.document.count("<!-- section=")
        assert desk.document.startswith(FIXED) or desk.document == expected
        assert entries <= 3
    ended = shell.finish(desk.start("--durable"))
    assert ended.status == 0, ended.err
    assert desk.document == expected
    keys = [ask.key for ask in every_ask(shell)]
    assert len(keys) == len(set(keys)) == len(REPLIES)
    again = shell.finish(desk.start("--durable"))
    assert (again.status, again.out, desk.document) == (0, ended.out, expected)


def test_replies_that_come_one_by_one_through_pipes_go_on_where_the_last_ended(
    shell: Shell, desk: Desk
) -> None:
    """The end of the pipe leaves the question open, with status 3; the next one answers it."""
    expected = undisturbed(desk)
    for reply in REPLIES[:-1]:
        ended = desk.run("--durable", replies=[reply])
        is_over = reply == "Proceed"  # then the report is out, whatever comes next
        assert ended.status == (0 if is_over else 3), ended.err
        if not is_over:
            assert re.search(
                r"> \nThe question stays open\. Answer it with: assent answer \w+ …\n"
                r"The same command goes on where it stopped\.\n$",
                ended.err,
            )
    assert desk.document == expected
    assert desk.run("--durable", "--json", replies=REPLIES[-1:]).json["next_step"] == "stop"
    assert shell.waiting() == []
    assert [ask.state for ask in every_ask(shell)].count(State.ANSWERED) == len(REPLIES)


@pytest.mark.parametrize(
    ("end", "status", "state"),
    [(("answer", "--decline"), 4, "declined"), (("withdraw",), 5, "withdrawn")],
    ids=["declined", "withdrawn"],
)
@proves("W64")
def test_question_that_ends_otherwise_ends_the_review(
    shell: Shell, desk: Desk, end: tuple[str, ...], status: int, state: str
) -> None:
    """No report, nothing applied; and the same command is a new review, from its first question on."""
    reviewing = desk.start("--durable", "--json")
    answered: list[Ask] = []
    for reply in REPLIES[:4]:
        ask = next_ask(shell, answered)
        shell.answer(ask.ask_id, reply)
        answered.append(ask)
    ask = next_ask(shell, answered)
    command, *options = end
    assert shell.run(command, ask.ask_id, *options).status == 0
    ended = shell.finish(reviewing)
    assert ended.status == status
    assert ended.json["error"]["code"] == state
    assert (
        "The review is over without a report, and none of its decisions was applied.\n"
        "Safe fixes and deferred findings stay in the document. The same command begins a new one.\n"
    ) in ended.err
    assert desk.document.startswith(FIXED)
    assert desk.document.count("<!-- section=") == 2
    reviewing = desk.start("--durable")
    first = next_ask(shell, [*answered, ask])
    assert first.prompt.title.startswith("What should the agent do with the remaining")
    assert first.key != answered[0].key
    desk.kill(reviewing)


def test_second_driver_is_refused_while_the_first_lives(shell: Shell, desk: Desk) -> None:
    """Status 6, and where to answer instead; the first one is not disturbed."""
    reviewing = desk.start("--durable")
    next_ask(shell, [])
    second = shell.finish(desk.start("--durable"))
    assert second.status == 6
    assert re.search(
        rf"^This review goes on already \(Process {reviewing.pid}\)\. "
        r"Answer it there, or from the inbox: assent inbox$",
        second.err,
        re.MULTILINE,
    )
    other = desk.start("--durable", "--run-id", "other")
    wait_for(lambda: len(shell.waiting()) == 2)
    for process in (reviewing, other):
        desk.kill(process)


def test_person_at_the_terminal_and_people_elsewhere_answer_the_same_review(shell: Shell, desk: Desk) -> None:
    """What is answered elsewhere is told at the terminal, and the next question comes there."""
    desk.write(THREE)
    desk.path.write_text(document_of(*NAMES))
    with desk.terminal("--durable") as terminal:
        terminal.until("\n> ", 1)
        terminal.type("A\n")
        terminal.until("\n> ", 2)
        shell.answer(shell.only_open().ask_id, "C", name="sam")
        terminal.until("Answered elsewhere: ")
        terminal.until("\n> ", 3)
        for number, reply in enumerate(["A", "A", "stop"], 3):
            terminal.until("\n> ", number)
            terminal.type(f"{reply}\n")
        ended = terminal.end()
    assert ended.status == 0
    assert desk.document == document_of(*NAMES, clear=["two", "three"])
    assert "2 applied, 1 skipped" in ended.err


@pytest.mark.parametrize("leave", ["interrupt", "hang up"])
def test_leaving_the_terminal_keeps_the_question_and_every_decision(
    shell: Shell, desk: Desk, leave: str
) -> None:
    """Ctrl-C says how to go on; the same command begins with that very question."""
    with desk.terminal("--durable") as terminal:
        for number, reply in enumerate(REPLIES[:4], 1):
            terminal.until("\n> ", number)
            terminal.type(f"{reply}\n")
        terminal.until("\n> ", 5)
        if leave == "interrupt":
            terminal.process.send_signal(signal.SIGINT)
            ended = terminal.end()
            assert (ended.status, "The same command goes on where it stopped." in ended.err) == (3, True)
        else:
            terminal.hang_up()
            terminal.process.wait(PATIENCE)
    left = shell.only_open()
    with desk.terminal("--durable") as terminal:
        for number, reply in enumerate(REPLIES[4:], 1):
            terminal.until("\n> ", number)
            if number == 1:
                assert left.ask_id.encode() in terminal.seen
            terminal.type(f"{reply}\n")
        assert terminal.end().status == 0
    assert desk.document.count("<!-- section=") == 3
    assert len(every_ask(shell)) == len(REPLIES)


@pytest.mark.parametrize("wait", ["0", "1s"])
def test_wait_that_lapses_leaves_the_question_open(shell: Shell, desk: Desk, wait: str) -> None:
    """Status 3, and for a program the id of the ask."""
    ended = shell.finish(desk.start("--durable", "--wait", wait, "--json"))
    (waiting,) = shell.waiting()
    assert (ended.status, ended.json) == (3, {"how": "open", "ask_id": waiting.ask_id})


@pytest.mark.parametrize(
    "options", [["--wait", "0"], ["--wait", "1s"], []], ids=["at once", "lapse", "end of input"]
)
def test_nobody_says_what_comes_next_and_the_question_stays_open(
    shell: Shell, desk: Desk, options: list[str]
) -> None:
    """The report is out, status 0, and nothing is recorded of anybody; the answer is found when it comes."""
    assert shell.finish(desk.start("--durable", "--wait", "0")).status == 3
    shell.answer(shell.only_open().ask_id, "D", "sam")
    if options:
        ended = shell.finish(desk.start("--durable", "--json", *options))
    else:
        ended = desk.run("--durable", "--json")
    assert (ended.status, ended.json["next_step"]) == (0, None), ended.err
    (waiting,) = shell.waiting()
    assert (waiting.prompt.title, waiting.answer) == ("What should the agent do next?", None)
    assert (
        f"What comes next is still asked. Answer it with: assent answer {short_id(waiting.ask_id)}"
        in ended.err
    )
    again = desk.run("--durable", "--json", *options)
    assert (again.json["next_step"], shell.waiting()) == (None, [waiting])
    shell.answer(waiting.ask_id, "Stop — end the review here", "sam")
    assert desk.run("--durable", "--json").json["next_step"] == "stop"


@pytest.mark.parametrize("end", ["--decline", "withdraw"])
def test_question_after_the_report_that_ends_otherwise_is_nobodys_stop(
    shell: Shell, desk: Desk, end: str
) -> None:
    """A no to being asked, and a question that was taken back, say nothing of what comes next."""
    desk.run("--durable", replies=["D"])
    ask_id = shell.only_open().ask_id
    ended = shell.run("withdraw", ask_id) if end == "withdraw" else shell.run("answer", ask_id, end)
    assert ended.status == 0, ended.err
    again = desk.run("--durable", "--json")
    assert (again.status, again.json["next_step"], shell.waiting()) == (0, None, [])


def test_agent_that_types_into_its_own_durable_review_decides_nothing(shell: Shell, desk: Desk) -> None:
    """A machine is never a human: it is not read, and cannot answer from elsewhere either."""
    process = shell.start(*desk.arguments, "--durable", "--wait", "1s", stdin=subprocess.PIPE, CLAUDECODE="1")
    ended = shell.finish(process, b"A\nB\n")
    assert (ended.status, "what is typed here is not read" in ended.err) == (3, True)
    (waiting,) = shell.waiting()
    assert waiting.prompt.title.startswith("What should the agent do with the remaining 5")
    refused = shell.run("answer", waiting.ask_id, "A", CLAUDECODE="1")
    assert (refused.status, len(shell.waiting())) == (4, 1)


def test_durable_report_can_be_printed_again_as_json(shell: Shell, desk: Desk) -> None:
    """A review that is over asks nothing and does nothing; other findings are another review."""
    assert desk.run("--durable", replies=REPLIES).status == 0
    after = desk.document
    report = shell.run(*desk.arguments, "--durable", "--json", typed="").json
    assert (report["verdict"], report["next_step"]) == ("Not ready", "stop")
    assert desk.document == after
    desk.write(THREE)
    assert desk.run("--durable").status == 3
    assert len(shell.waiting()) == 1


def test_review_that_is_over_says_so_before_its_report(shell: Shell, desk: Desk) -> None:
    """Whoever expects questions learns why none comes, and how to be asked again; a new one does not say it."""
    first = desk.run("--durable", replies=REPLIES)
    assert (first.status, "came to its end before" in first.err) == (0, False)
    again = desk.run("--durable")
    assert (again.status, again.out) == (0, first.out)
    assert again.err.startswith(
        "This review came to its end before, and this is its report. --run-id ID begins another one.\n"
    )
    other = desk.run("--durable", "--run-id", "second")
    assert (other.status, "came to its end before" in other.err) == (3, False)
    assert shell.only_open().prompt.title.startswith("What should the agent do with the remaining")


def test_store_of_a_killed_review_verifies(shell: Shell, desk: Desk) -> None:
    """Killed in the middle, resumed, and the record is whole."""
    reviewing = desk.start("--durable")
    ask = next_ask(shell, [])
    desk.kill(reviewing)
    shell.answer(ask.ask_id, "D")
    assert desk.run("--durable").status == 0
    audited = shell.run("audit", "verify", "--json")
    assert audited.status == 0, audited.err
    assert json.loads(audited.out)["problems"] == []


def test_interrupt_while_fixes_are_worked_in_keeps_every_decision(shell: Shell, desk: Desk) -> None:
    """No question is open then: it says so, the applier ends with it, and the next run needs nobody."""
    desk.write(merged_set(*(merged(name, edit=None) for name in NAMES)))
    desk.path.write_text(document_of(*NAMES))
    slow = desk.folder / "slow"
    slow.write_text("#!/bin/sh\necho $$ > started\nexec sleep 60\n")
    slow.chmod(0o755)
    with desk.terminal("--durable", "--applier", "./slow") as terminal:
        for number, reply in enumerate(["B", "Proceed"], 1):
            terminal.until("\n> ", number)
            terminal.type(f"{reply}\n")
        wait_for(lambda: (desk.folder / "started").exists() and (desk.folder / "started").read_text() != "")
        terminal.process.send_signal(signal.SIGINT)
        ended = terminal.end()
    assert (ended.status, "stays open" in ended.err) == (3, False)
    assert "The same command goes on where it stopped." in ended.err
    assert not psutil.pid_exists(int((desk.folder / "started").read_text()))
    assert desk.document == document_of(*NAMES)
    again = desk.run("--durable", "--applier", "sed s/stands/stood/")
    assert again.status == 0, again.err
    assert len(every_ask(shell)) == 3  # the way, the plan, and what comes next


@pytest.mark.parametrize("joint", [" ", "\n"], ids=["one line", "lines"])
def test_what_is_approved_can_be_read_whole_before_apply(shell: Shell, joint: str) -> None:
    """In the pipe, and in the ask that every other surface shows: to the last word of what would be written."""
    after = joint.join(f"word{number}" for number in range(100))
    finding = merged("one", edit={"before": "Passage one stands here.", "after": after})
    desk = Desk(shell, merged_set(finding), document_of("one"))
    ended = desk.run("--durable", replies=["A"])
    assert ended.status == 3
    body = shell.only_open().prompt.body
    assert after in body
    assert after.split() == [word for word in ended.err.replace('"', " ").split() if word in after.split()]
    desk.run("--durable", replies=["A", "stop"])
    assert desk.document == document_of("one").replace("Passage one stands here.", after)
