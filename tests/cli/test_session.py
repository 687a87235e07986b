"""`assent session` as processes: through a pipe, on a terminal, answered from elsewhere, killed, and resumed."""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from assent import State, connect
from assent.protocol.principal import Assurance
from tests.cli.sessions import Desk, person_answers
from tests.cli.shell import Result, Shell, Terminal, wait_for
from tests.flows.session.seat import PULL, REVIEW, VISUAL
from tests.patience import PATIENCE
from tests.proves import proves

__all__: list[str] = []

FILE = "findings.json"
STOP = "\N{OCTAGONAL SIGN}"
_PROMPT_SIGN = re.compile(rb"\n(?:\x1b\[[0-9;]*m)*> (?:\x1b\[[0-9;]*m)*\Z").search
ECHO = [sys.executable, "-c", "import sys; print('looked at', len(sys.stdin.read()) > 9)"]


@pytest.fixture
def desk(shell: Shell) -> Desk:
    """Give a shell with a review."""
    return Desk(shell)


Talk = Callable[..., Result]


@pytest.fixture
def talk(desk: Desk, call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> Talk:
    """Give `assent session` without the cost of a process; the replies come from a file, a line each."""
    for name, value in desk.surroundings.items():
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)

    def talk(*arguments: str, typed: tuple[str, ...] = ()) -> Result:
        replies = desk.folder.parent / "replies"
        replies.write_text("".join(f"{reply}\n" for reply in typed))
        before, given = os.dup(0), os.open(replies, os.O_RDONLY)
        os.dup2(given, 0)
        try:
            return call("session", *arguments)
        finally:
            os.dup2(before, 0)
            os.close(before)
            os.close(given)

    return talk


# Through a pipe


@proves("G1", "G3", "G8", "G44")
def test_whole_session_runs_through_a_pipe(desk: Desk) -> None:
    """A reply a line; the blocks go to standard error, how it ended to standard output."""
    replies = [
        "Proceed",
        "1",
        "deselect L1",
        "todo: ask Sam",
        "2",
        "H1",
        "4",
        "Continue",
        "4",
        "Save locally",
    ]
    ended = desk.run(FILE, typed="".join(f"{reply}\n" for reply in replies))
    assert (ended.status, ended.out) == (
        0,
        "Saved locally. Post them later with: assent session --post-only\n",
    )
    headings = [line for line in ended.err.split("\n") if line.startswith(f"### {STOP}")]
    assert [heading.split(": ")[1] for heading in headings] == [
        "Phase Gate",
        "Chunk Plan",
        "Chunk Loop",
        "Chunk Loop",
        "Chunk Loop",
        "Deep-dive",
        "Chunk Loop",
        "Chunk Loop",
        "Synthesis",
    ]
    assert "Marked for posting: H1, M1, M2." in ended.err
    assert desk.shell.waiting() == []
    assert not desk.path("review-state.md").exists()
    assert "- [ ] ask Sam <!-- id: 20" in desk.path("review-todo.md").read_text()
    exported = desk.path("review-findings.md").read_text()
    assert "### L1\n\nMinor, bug, confidence 80, not marked\n" in exported


@proves("G42")
def test_session_is_paused_and_resumed_with_json_about_both(desk: Desk, talk: Talk) -> None:
    """Exit 3, and on at the same chunk; without the file as with it."""
    paused = talk(FILE, "--json", typed=("1", "1", "1", "pause"))
    assert (paused.status, paused.json) == (3, {"how": "paused", "posted": None, "reason": ""})
    assert [part.status.value for part in desk.session.parts] == ["reviewed", "in-progress", "pending"]
    again = talk("--resume", typed=("pause",))
    assert (again.status, again.out) == (3, "Paused. Go on with: assent session --resume\n")
    assert again.err.count(f"### {STOP}") == 1
    assert "Chunk 2 of 3, settings." in again.err
    assert "Resuming acme/shop#7, begun 20" in again.err


@proves("G13", "G19")
def test_end_of_input_decides_nothing(desk: Desk, talk: Talk) -> None:
    """Exit 3, the ask is open, and --resume stands at the same gate with the same ask."""
    left = talk(FILE, "--json", typed=("1", "1"))
    (ask,) = desk.shell.waiting()
    assert (left.status, left.json) == (3, {"how": "open", "ask_id": ask.ask_id})
    assert "Nothing was decided. The gate stays open. " in left.err
    assert ask.prompt.title == "Chunk Loop"
    again = talk("--resume")
    assert (again.status, desk.shell.waiting()) == (3, [ask])
    assert again.err.count(f"### {STOP}") == 1


def test_posting_without_a_way_to_github_saves_the_findings(desk: Desk, talk: Talk) -> None:
    """Exit 1; --resume asks again before it is tried again, and --post-only finds them."""
    failed = talk(FILE, typed=("1", "1", "4", "Post all marked"))
    reason = "There is no way to GitHub from here: set GH_TOKEN, or install gh and log in."
    assert (failed.status, failed.out) == (
        1,
        f"Not posted. Try again with: assent session --post-only {reason}\n",
    )
    assert "The findings are in .assent/review-findings.md." in failed.err
    again = talk("--resume")
    assert (again.status, [ask.prompt.title for ask in desk.shell.waiting()]) == (3, ["Synthesis"])
    posting = talk("--post-only", "--json", typed=("toggle H1", "Cancel"))
    assert (posting.status, posting.json["how"]) == (0, "cancelled")
    assert "- [ ] H1" in posting.err
    assert (
        "### H1\n\nAction Required, bug, confidence 95, not marked"
        in desk.path("review-findings.md").read_text()
    )


def test_declined_gate_stops_the_session_and_can_be_resumed(desk: Desk, talk: Talk) -> None:
    """Exit 4; whoever resumes is asked anew, and not told of the old no."""
    talk(FILE, typed=("1", "1"))
    (ask,) = desk.shell.waiting()
    declined = desk.shell.run("answer", ask.ask_id, "--decline", "--reason", "not mine")
    assert declined.status == 0, declined.err
    stopped = talk("--resume", "--json")
    assert (stopped.status, stopped.json["how"], stopped.json["reason"]) == (4, "declined", "not mine")
    again = talk("--resume", typed=("pause",))
    assert (again.status, again.out) == (3, "Paused. Go on with: assent session --resume\n")
    assert "Chunk 1 of 3, payment retries." in again.err


def test_gate_answered_while_nobody_ran_is_gone_on_from(desk: Desk, talk: Talk) -> None:
    """The reply is the first one that the resumed session finds."""
    talk(FILE, typed=("1", "1"))
    desk.shell.answer(desk.shell.only_open().ask_id, "deselect H1", "sam")
    again = talk("--resume", typed=("pause",))
    assert again.status == 3
    assert "Marked for posting: M1, M2, L1." in again.err
    assert [held.finding_id for held in desk.session.held if not held.is_marked] == ["H1"]


def test_saved_session_is_not_lost_to_a_new_one(desk: Desk, talk: Talk) -> None:
    """G-U14: a yes is needed; a no ends it."""
    talk(FILE, typed=("1", "1", "pause"))
    saved = desk.path("review-state.md").read_bytes()
    kept = talk(FILE, typed=("n",))
    assert (kept.status, kept.out) == (
        3,
        "The saved session stays. Go on with it: assent session --resume\n",
    )
    assert desk.path("review-state.md").read_bytes() == saved
    anew = talk(FILE, typed=("y", "pause"))
    assert anew.status == 3
    assert desk.session.held == ()


@proves("G35")
def test_another_pull_request_and_another_head_are_asked_about(desk: Desk, talk: Talk) -> None:
    """G-U13, G-U14: through the command, with files that say so."""
    talk(FILE, typed=("1", "1", "pause"))
    other = desk.write(replace(REVIEW, pull_request=replace(PULL, number=8)), "other.json")
    newer = desk.write(replace(REVIEW, pull_request=replace(PULL, head_sha="b" * 40)), "newer.json")
    went_on = talk(newer, "--resume", typed=("1", "pause"))
    assert f"### {STOP} REVIEW GATEWAY: Head changed" in went_on.err
    assert "Chunk 1 of 3" in went_on.err
    cleared = talk(other, "--resume", typed=("Start fresh",))
    assert f"### {STOP} REVIEW GATEWAY: Continue (mismatch)" in cleared.err
    assert "Asked for: acme/shop#8. Saved: acme/shop#7 (" in cleared.err
    assert cleared.status == 0
    assert not desk.path("review-state.md").exists()


@proves("G35")
@pytest.mark.parametrize(
    ("changes", "gate", "reply"),
    [
        ({"number": 8}, "Continue (mismatch)", "Resume saved session"),
        ({"head_sha": "b" * 40}, "Head changed", "Go on with the saved session"),
    ],
    ids=["mismatch", "head"],
)
def test_which_session_it_is_is_asked_again_by_whoever_comes_again(
    desk: Desk, talk: Talk, changes: dict[str, object], gate: str, reply: str
) -> None:
    """An answer about the world holds for this once; the gate behind it is the same ask, and takes its answer."""
    talk(FILE, typed=("1", "1", "Skip to synthesis", "pause"))
    other = desk.write(replace(REVIEW, pull_request=replace(PULL, **changes)), "other.json")
    shown = f"### {STOP} REVIEW GATEWAY: {gate}"
    first = talk(other, "--resume", typed=(reply,))
    assert (first.status, shown in first.err) == (3, True)
    (synthesis,) = desk.shell.waiting()
    assert synthesis.prompt.title == "Synthesis"

    again = talk(other, "--resume")
    assert (again.status, shown in again.err, "Synthesis" in again.err) == (3, True, False)
    (comparing,) = [ask for ask in desk.shell.waiting() if ask.prompt.title == gate]
    desk.shell.answer(comparing.ask_id, "todo: ask ana", "sam")
    assert talk(other, "--resume", typed=("pause",)).status == 3

    desk.shell.answer(synthesis.ask_id, "Save locally", "sam")
    silent = talk(other, "--resume")
    assert (silent.status, shown in silent.err) == (3, True), "not even where the next gate was answered"
    assert [ask.prompt.title for ask in desk.shell.waiting()] == [gate]
    saved = talk(other, "--resume", typed=(reply,))
    assert (saved.status, desk.shell.waiting()) == (0, []), saved.err


def test_which_session_it_is_is_answered_while_nobody_runs_and_counts_once(desk: Desk, talk: Talk) -> None:
    """Where nobody sits, a reply comes later: it was given to this very question, and is used up by it."""
    talk(FILE, typed=("1", "1", "Skip to synthesis", "pause"))
    other = desk.write(replace(REVIEW, pull_request=replace(PULL, number=8)), "other.json")
    third = desk.write(replace(REVIEW, pull_request=replace(PULL, number=9)), "third.json")
    talk(other, "--resume")
    desk.shell.answer(desk.shell.only_open().ask_id, "1", "sam")
    third_asked = talk(third, "--resume")
    assert "Asked for: acme/shop#9." in third_asked.err, "it was no answer about that one"
    assert "Synthesis" in talk(other, "--resume").err
    again = talk(other, "--resume")
    assert ("Asked for: acme/shop#8." in again.err, "Synthesis" in again.err) == (True, False)


def test_refreshed_context_is_read_from_the_file_as_it_is_now(desk: Desk, talk: Talk) -> None:
    """A file that cannot be read any more is told, and the gate shown again."""
    desk.write(VISUAL)
    shown = talk(FILE, typed=("1", "3", "2", "pause"))
    assert shown.err.count("2 screens changed.") == 2
    assert "Chunk Plan" in shown.err
    missing = talk("--resume", typed=("pause",))
    assert missing.status == 3


# What cannot be


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"{", "The JSON text ends too early, at line 1, column 2."),
        (b"[]", "Expected object, got array."),
        (b'{"chunks": []}', "Object missing required field pull_request."),
        (
            msgspec.json.encode(REVIEW).replace(b'"confidence":95', b'"confidence":"high"'),
            "Expected int, got str at $.chunks[0].findings[2].confidence.",
        ),
        (
            msgspec.json.encode(REVIEW).replace(b'"file":"src/retry.py"', b'"file":"../x"', 1),
            '"../x" is no path inside the repository, at $.chunks[0].findings[0].file.',
        ),
    ],
    ids=["cut", "list", "missing", "type", "path"],
)
def test_bad_input_names_file_place_and_reason(desk: Desk, talk: Talk, text: bytes, reason: str) -> None:
    """One sentence, exit 2, and nothing was changed."""
    (desk.folder / FILE).write_bytes(text)
    refused = talk(FILE)
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.strip().endswith(f"{FILE}: {reason}")
    assert refused.err.count("\n") == 1
    assert not desk.path("").exists()


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("nowhere.json",), 2, "nowhere.json: it cannot be read: No such file or directory."),
        (("--resume",), 1, "Nothing is saved here: start with assent session FINDINGS.json"),
        (("--post-only",), 1, "Nothing is saved here: start with assent session FINDINGS.json"),
        ((), 2, "What is to be reviewed? As in: assent session FINDINGS.json"),
        ((FILE, "--resume", "--post-only"), 2, "Give --resume or --post-only, not both."),
    ],
)
def test_command_without_anything_to_review_says_so(
    desk: Desk, talk: Talk, arguments: tuple[str, ...], status: int, words: str
) -> None:
    """And makes nothing."""
    refused = talk(*arguments)
    assert refused.status == status
    assert words in refused.err
    assert not desk.path("").exists()


def test_resuming_where_nothing_is_saved_starts_with_the_file(desk: Desk, talk: Talk) -> None:
    """It is told."""
    started = talk(FILE, "--resume", typed=("pause",))
    assert "There is no saved session to resume, so this is a new one.\n" in started.err
    assert (started.status, desk.session.phase.value) == (3, "overview")


def test_garbled_state_is_told_removed_and_started_from_afresh(desk: Desk, talk: Talk) -> None:
    """G-U12: never half a session."""
    talk(FILE, typed=("1", "1", "pause"))
    state = desk.path("review-state.md")
    state.write_text(state.read_text().replace("head_sha:", "head:"))
    fresh = talk(FILE, "--resume", typed=("pause",))
    warning = fresh.err.split("\n")[0]
    assert warning.startswith("Warning: .assent/review-state.md is removed, as it cannot be read: ")
    assert warning.endswith(".")
    assert (fresh.status, desk.session.held, desk.session.phase.value) == (3, (), "overview")


def test_state_that_is_a_link_is_not_followed(desk: Desk, talk: Talk) -> None:
    """Nor removed: it is no file of ours."""
    desk.path("").mkdir()
    target = desk.folder / "secret"
    target.write_text("secret")
    desk.path("review-state.md").symlink_to(target)
    refused = talk(FILE, "--resume")
    assert refused.status != 0
    assert "review-state.md is a link, and not followed." in refused.err
    assert target.read_text() == "secret"


# Looking into findings


def test_command_that_was_named_here_looks_into_a_finding(desk: Desk, talk: Talk) -> None:
    """What it prints is shown, with nothing hidden in it; the gate follows."""
    program = desk.folder / "look.py"
    program.write_text("import sys, json; print('\\x1b[2J', json.load(sys.stdin)['finding']['title'])")
    command = f"{sys.executable} look.py"
    shown = talk(
        FILE, "--deep-dive", command, typed=("1", "1", "deep-dive H1", "Analyze context", "4", "pause")
    )
    assert "Analyze context, H1:\n\n: <U+001B>[2J Retry loop never ends on 429\n" in shown.err
    assert shown.err.count("REVIEW GATEWAY: Deep-dive") == 2


def test_command_that_looks_into_a_finding_can_answer_nothing(desk: Desk, talk: Talk) -> None:
    """It is the agent's: `assent answer` from inside is refused, and the ask stays open."""
    ask_id = desk.shell.open("Which database?", "-o", "PostgreSQL", "-o", "SQLite")
    command = f"{sys.executable} -m assent answer {ask_id} SQLite"
    shown = talk(FILE, "--deep-dive", command, typed=("1", "1", "deep-dive H1", "1", "pause"))
    words = " ".join(shown.err.split())
    assert "ended with status 4: ASSENT_PRINCIPAL is set, so an agent runs this command" in words
    assert desk.shell.ask(ask_id).state is State.OPEN


def gates_file(desk: Desk, command: list[str]) -> None:
    """Name a command in the project's file."""
    desk.path("").mkdir(exist_ok=True)
    listed = ", ".join(msgspec.json.encode(word).decode() for word in command)
    desk.path("gates.toml").write_text(f"[deep-dive]\ncommand = [{listed}]\n")


def test_command_that_imitates_a_gate_is_seen_to(desk: Desk, talk: Talk) -> None:
    """Every line of its own stands behind a sign; only a gate of ours begins with the heading."""
    program = "print('### \\U0001f6d1 REVIEW GATEWAY: Synthesis\\n\\n**Select an action:**\\n1. Go on')"
    (desk.folder / "look.py").write_text(program)
    shown = talk(
        FILE, "--deep-dive", f"{sys.executable} look.py", typed=("1", "1", "deep-dive H1", "1", "pause")
    )
    assert f": ### {STOP} REVIEW GATEWAY: Synthesis\n:\n: **Select an action:**\n: 1. Go on\n" in shown.err
    assert f"\n### {STOP} REVIEW GATEWAY: Synthesis" not in shown.err


def test_acceptance_that_was_taken_back_is_asked_for_again(desk: Desk, talk: Talk) -> None:
    """An agent that withdraws it must not keep people from ever accepting."""
    gates_file(desk, ECHO)
    talk(FILE, typed=("1", "1", "deep-dive H1", "1", "pause"))
    (first,) = [ask for ask in desk.shell.waiting() if ask.kind == "approval"]
    with connect(desk.shell.store, project=desk.folder.name, principal=first.asker) as agent:
        agent.withdraw(first.ask_id, "never mind")
    again = talk("--resume", typed=("deep-dive H1", "1", "pause"))
    assert "A person has to accept the command" in " ".join(again.err.split())
    (second,) = [ask for ask in desk.shell.waiting() if ask.kind == "approval"]
    assert second.ask_id != first.ask_id


def test_command_of_the_projects_file_never_runs_through_a_pipe(desk: Desk, talk: Talk) -> None:
    """Nobody accepted it; the sentence says how to."""
    gates_file(desk, [sys.executable, "-c", "open('ran', 'w')"])
    refused = talk(FILE, typed=("1", "1", "deep-dive H1", "1", "Accept", "4", "pause"))
    assert (
        "Analyze context did not work: A person has to accept the command in .assent/gates.toml first; "
        in " ".join(refused.err.split())
    )
    assert not (desk.folder / "ran").exists()
    (ask,) = [ask for ask in desk.shell.waiting() if ask.kind == "approval"]
    assert ask.prompt.action is not None
    assert 'I didn\'t recognize "Accept".' in refused.err


def test_command_of_the_projects_file_runs_once_a_person_accepted_that_file(desk: Desk) -> None:
    """At a terminal, once per content: the second time nobody asks, a changed file is a new question."""
    gates_file(desk, ECHO)
    with desk.terminal(FILE) as terminal:
        until_asked(terminal, "Phase Gate")
        reply(terminal, "1", "Chunk Plan")
        reply(terminal, "1", "Chunk Loop")
        reply(terminal, "deep-dive H1", "Deep-dive")
        reply(terminal, "1", "May the commands that .assent/gates.toml names be run?")
        ask = next(ask for ask in desk.shell.waiting() if ask.kind == "approval")
        reply(terminal, "Accept", "looked at True")
        reply(terminal, "2", "looked at True")
        terminal.type("pause\n")
        assert terminal.end().status == 3
    accepted = desk.shell.ask(ask.ask_id)
    assert accepted.answer is not None
    assert accepted.answer.assurance is Assurance.TERMINAL
    same = desk.run("--resume", typed="deep-dive H1\n1\npause\n")
    assert "looked at True" in same.err
    gates_file(desk, [*ECHO, "again"])
    changed = desk.run("--resume", typed="deep-dive H1\n1\npause\n")
    assert "A person has to accept the command" in changed.err
    assert "looked at True" not in changed.err


def until_asked(terminal: Terminal, shown: str, start: int = 0) -> None:
    """Wait until something stands there, later than `start`, and the prompt sign waits below it."""
    name = shown.encode()

    def stands() -> bool:
        return name in terminal.seen[start:] and _PROMPT_SIGN(terminal.seen) is not None

    wait_for(lambda: stands() or not terminal._read(0.05))
    assert stands(), terminal.seen


def reply(terminal: Terminal, typed: str, shown: str) -> None:
    """Type a reply, and wait for what it leads to."""
    start = len(terminal.seen)
    terminal.type(f"{typed}\n")
    until_asked(terminal, shown, start)


# On a terminal, from elsewhere, and killed


def test_session_on_a_terminal_reads_well(desk: Desk) -> None:
    """Gate, reply, notice, gate; nothing scrolls by that was not asked for."""
    with desk.terminal(FILE) as terminal:
        until_asked(terminal, "Phase Gate")
        reply(terminal, "Proceed", "Chunk Plan")
        reply(terminal, "1", "Chunk Loop")
        reply(terminal, "disacrd", "I didn't recognize")
        reply(terminal, "discard", "[y/n]")
        reply(terminal, "y", "Chunk Loop")
        terminal.type("pause\n")
        ended = terminal.end()
        screen = terminal.screen()
    assert ended.status == 3
    shown = [line for line in screen if not line.startswith(("# gate", "Or from elsewhere:"))]
    first = next(number for number, line in enumerate(shown) if line.endswith("GATEWAY: Chunk Loop"))
    again = shown.index("Removed 4 findings of chunk 1.")
    assert shown[first + 1 : again] == CHUNK
    last = shown.index("Paused. Go on with: assent session --resume")
    assert shown[last - 1] == "> pause"
    assert not any(shown[last + 1 :])


CHUNK = [
    "",
    "Chunk 1 of 3, payment retries. 4 findings in 2 files, 286 lines.",
    "- [x] H1 Retry loop never ends on 429  src/retry.py:88",
    "  > It never ends.",
    "- [x] M1 Key is built twice  src/retry.py:88",
    "  > It never ends.",
    "- [x] M2 Timeout swallowed  src/charge.py:88",
    "  > It never ends.",
    "- [x] L1 Name says seconds  src/retry.py:88",
    "  > It never ends.",
    "",
    "Commands: `discard`, `todo: {text}`, `deselect {IDs}`",
    "",
    "**Select an action:**",
    "1. Continue",
    "2. Deep-dive",
    "3. Pause & save",
    "4. Skip to synthesis",
    "",
    "*Type a number or command to proceed.*",
    "> disacrd",
    'I didn\'t recognize "disacrd".',
    "1. Continue",
    "2. Deep-dive",
    "3. Pause & save",
    "4. Skip to synthesis",
    "> discard",
    "",
    "",
    "This will remove 4 findings from this chunk. They won't be recoverable. Proceed?",
    " [y/n]",  # the text is fixed (G23), and longer than the terminal is wide
    "> y",
]


@proves("G13")
def test_interrupted_session_leaves_its_gate_open(desk: Desk) -> None:
    """Ctrl-C is no decision: exit 3."""
    with desk.terminal(FILE) as terminal:
        until_asked(terminal, "Phase Gate")
        ask = desk.shell.only_open()
        terminal.type("\x03")
        ended = terminal.end()
    assert ended.status == 3
    assert desk.shell.ask(ask.ask_id).state is State.OPEN
    assert "Nothing was decided. The gate stays open" in " ".join(ended.err.split())


def test_interrupted_quick_mode_is_gone_on_with_by_the_replies_that_the_store_has(desk: Desk) -> None:
    """It saves nothing itself (G-U12), and yet nobody is asked twice."""
    with desk.terminal(FILE) as terminal:
        until_asked(terminal, "Phase Gate")
        reply(terminal, "Quick mode", "Chunk Loop")
        reply(terminal, "deselect H1", "Chunk Loop")
        ask = desk.shell.only_open()
        terminal.type("\x03")
        assert terminal.end().status == 3
    again = desk.run("--resume", typed="")
    assert again.status == 3
    assert [each.ask_id for each in desk.shell.waiting()] == [ask.ask_id]
    assert again.err.count(f"### {STOP}") == 1
    assert "- [ ] H1 Retry loop never ends" in again.err


def test_gate_is_answered_from_another_terminal_and_the_first_wins(desk: Desk) -> None:
    """The session goes on at once; who comes later is told who was first."""
    process = desk.start(FILE)
    first = desk.shell.only_open()
    won = person_answers(desk.shell, first.ask_id, "Proceed")
    assert won.status == 0, won.err
    wait_for(lambda: [ask.prompt.title for ask in desk.shell.waiting()] == ["Chunk Plan"])
    lost = person_answers(desk.shell, first.ask_id, "Cancel")
    assert lost.status == 6
    assert "sam" in lost.err
    assert "Proceed" in lost.err
    ended = desk.shell.finish(process, b"pause\n")
    assert (ended.status, ended.out) == (3, "Paused. Go on with: assent session --resume\n")
    assert "Answered elsewhere: sam answered at " in ended.err


def test_killed_session_goes_on_at_the_same_chunk(desk: Desk) -> None:
    """Nothing that was decided is asked again, also what was decided after it was killed."""
    process = desk.start(FILE)
    for title, reply in [("Phase Gate", "1"), ("Chunk Plan", "1"), ("Chunk Loop", "Continue")]:
        ask = desk.shell.only_open()
        assert ask.prompt.title == title
        desk.shell.answer(ask.ask_id, reply, "sam")
        wait_for(lambda ask=ask: [each.ask_id for each in desk.shell.waiting()] not in ([], [ask.ask_id]))  # type: ignore[misc]
    ask = desk.shell.only_open()
    assert ask.prompt.body.startswith("Chunk 2 of 3, settings.")
    process.kill()
    process.wait(PATIENCE)
    assert [each.ask_id for each in desk.shell.waiting()] == [ask.ask_id]
    desk.shell.answer(ask.ask_id, "deselect L2", "sam")
    again = desk.run("--resume", typed="Continue\npause\n")
    assert again.status == 3
    assert "Marked for posting: H2." in again.err
    assert "Chunk 3 of 3, documents." in again.err
    assert [(held.finding_id, held.is_marked) for held in desk.session.held[-2:]] == [
        ("H2", True),
        ("L2", False),
    ]
    assert Path(desk.path("review-state.md")).exists()
