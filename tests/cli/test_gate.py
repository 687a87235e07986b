"""`assent gate` through a pipe and through the hub: every option, every command, and nothing that was not typed."""

import os
import signal
import subprocess
from collections.abc import Callable

import pytest

from assent.protocol.gate import CONTEXTS, Context
from tests.cli.gates import CHOICES, SPELLINGS, spell, write_review
from tests.cli.shell import Result, Shell, wait_for
from tests.patience import PATIENCE
from tests.proves import proves

__all__: list[str] = []

Call = Callable[..., Result]
Piped = Callable[..., Result]

GATES = ("G28", "G29", "G30", "G31", "G32", "G33", "G34", "G35")
SYNTHESIS_BLOCK = """### \N{OCTAGONAL SIGN} REVIEW GATEWAY: Synthesis

All chunks are done.

Commands: `discard`

**Select an action:**
1. Post all marked
2. Post only Action Required
3. Select specific
4. Save locally

*Type a number or command to proceed.*
"""


@pytest.fixture
def piped(call: Call, shell: Shell) -> Piped:
    """Give `assent gate` without the cost of a process; what is typed comes from a file."""
    folder = shell.folder.parent

    def piped(context: str, typed: str | bytes, *arguments: str, summary: str = "Where we are.") -> Result:
        replies = folder / "replies"
        replies.write_bytes(typed if isinstance(typed, bytes) else typed.encode())
        before, given = os.dup(0), os.open(replies, os.O_RDONLY)
        os.dup2(given, 0)
        try:
            return call("gate", context, "--summary", summary, *arguments)
        finally:
            os.dup2(before, 0)
            os.close(before)
            os.close(given)

    return piped


# Options


def chosen(context: Context, number: int) -> tuple[str, str]:
    """Return what must be typed behind an option that asks for more, and what is printed in the end."""
    label = context.options[number - 1]
    return {
        "Set focus": ("TYPES\n", "Set focus types"),
        "Skip to chunk N": ("3\n", "Skip to chunk 3"),
        "Deep-dive": ("m1\n", "Deep-dive M1"),
        "Select specific": ("h1, L1\n1\n", "Post all marked"),
    }.get(label, ("", label))


@proves("G1", "G3", "G8", "G12", "G36", "G37", *GATES)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_option_of_every_gate_is_chosen_by_number_and_label(
    piped: Piped, shell: Shell, spelling: str
) -> None:
    """With a full stop or a bracket, in any case and spacing, or as the line is shown; and nothing else is printed."""
    review = write_review(shell.folder)
    for context, number in CHOICES:
        more, printed = chosen(context, number)
        ended = piped(
            context.name.upper(), f"{spell(context, number, spelling)}\n{more}", "--findings", review
        )
        assert (ended.status, ended.out) == (0, f"{printed}\n"), ended.err


@proves("G44", *GATES)
def test_every_option_of_every_gate_is_chosen_through_the_hub(call: Call) -> None:
    """Opened by one command, answered by another, and found by a third that comes again with the same key."""
    for context, number in CHOICES:
        gate = ("gate", context.name, "--summary", "Where we are.", "--key", f"{context.name} {number}")
        opened = call(*gate, "--no-wait")
        assert opened.status == 0
        assert call("answer", opened.out.strip(), f"{number})").status == 0
        ended = call(*gate)
        label = context.options[number - 1]
        if label == "Set focus":  # it asks which area, and nobody is here to reply
            assert (ended.status, ended.out) == (3, "")
            stands = call(*gate, "--no-wait").out.strip()
            assert stands != opened.out.strip()
            assert call("answer", stands, "Security").status == 0
            ended = call(*gate)
            assert (ended.status, ended.out) == (0, "Set focus security\n")
        else:
            assert (ended.status, ended.out) == (0, f"{label}\n")
        assert call(*gate, "--no-wait").status == 0


@proves("G9", "G10", "G11")
def test_block_is_printed_exactly(piped: Piped) -> None:
    """On standard error, with nothing between its last line and the prompt's sign."""
    ended = piped("synthesis", "4\n", summary="  All chunks are done.\n")
    assert ended.out == "Save locally\n"
    above, block, after = ended.err.partition(SYNTHESIS_BLOCK)
    assert block
    assert "REVIEW GATEWAY" not in above
    assert after == "> 4\n"


# Wrong input

WRONG = [
    ("", ""),
    (" \t ", " <U+0009> "),
    ("0", "0"),
    ("99", "99"),
    ("1 2", "1 2"),
    ("1..", "1.."),
    ("#1", "#1"),
    ("a", "a"),
    ("A)", "A)"),
    ("y", "y"),
    ("back", "back"),
    ("ok", "ok"),
    ("default", "default"),
    ("\u0661", "\u0661"),
    ("\uff11", "\uff11"),
    ("todo", "todo"),
    ("1\u200b", "1<U+200B>"),
    ("\x1b[A1", "<U+001B>[A1"),
    ("\x00", "<U+0000>"),
    ("pause & save now", "pause & save now"),
]


@proves("G16", "G17", "G18", "G19", "G20", "G21")
@pytest.mark.parametrize("context", CONTEXTS.values(), ids=lambda context: context.name)
def test_wrong_input_is_echoed_with_the_brief_list_and_chooses_nothing(
    piped: Piped, context: Context
) -> None:
    """Empty, out of range, a part of a label, another gate's command, hostile: for ever, and then a good one counts."""
    first, last = context.options[0], len(context.options)
    own = {command.partition("{")[0].strip(" :") for command in context.commands}
    foreign = [
        reply
        for reply in (
            "discard",
            "all",
            "none",
            "deselect H1",
            "toggle H1",
            "select specific H1",
            "deep-dive H1",
        )
        if reply.rpartition(" ")[0] not in own and reply not in own
    ]
    parts = [first[:-1], first[1:], f"{first} now", f"1. {first[:-1]}"]
    wrong = [*WRONG, *((reply, reply) for reply in [*foreign, *parts])]
    typed = "".join(f"{reply}\n" for reply, _ in wrong)
    ended = piped(context.name, f"{typed}{last}\n")
    assert (ended.status, ended.out) == (0, f"{context.options[-1]}\n")
    brief = "".join(f"{number}. {label}\n" for number, label in enumerate(context.options, 1))
    after = ended.err.partition("*Type a number or command to proceed.*\n")[2]
    turns = after.removeprefix("> ").split("\n> ")
    assert len(turns) == len(wrong) + 1
    for (_, shown), turn in zip(wrong, turns, strict=False):
        echo, _, rest = turn.partition("\n")[2].partition("\n")
        assert echo.startswith(f'I didn\'t recognize "{shown}".')
        assert f"{rest}\n" == brief


def test_bytes_that_are_no_text_choose_nothing(piped: Piped) -> None:
    """They are shown and not sent."""
    ended = piped("phase-gate", b"1\xff\n\xc3\x28\n4\n")
    assert ended.out == "Cancel\n"
    assert ended.err.count("is not UTF-8 text, so nothing was sent.") == 2


@proves("G16", "G40", "G43")
@pytest.mark.parametrize(
    ("context", "wrong", "hint"),
    [
        ("chunk-loop", "deselect H1, H9", "There is no H9 here."),
        ("chunk-loop", "deselect", "Name one or more of H1, M1, L1."),
        ("chunk-loop", "deep-dive H1 M1", "Name one of H1, M1, L1."),
        ("chunk-loop", "deselect H1;M1", "There is no H1;M1 here."),
        ("post-only", "toggle m1 x1 l1", "There is no x1 here."),
        ("post-only", "select specific h1 h1 h2", "There is no h2 here."),
        ("synthesis", "deep-dive L2", "There is no L2 here."),
        ("chunk-plan", "skip to chunk 4", "There is no 4 here."),
        ("chunk-plan", "skip to chunk 0", "There is no 0 here."),
        ("phase-gate", "set focus speed", "There is no speed here."),
        ("phase-gate", "todo:   ", 'Write the text behind "todo:".'),
    ],
)
def test_unknown_names_change_nothing_at_all(
    piped: Piped, shell: Shell, context: str, wrong: str, hint: str
) -> None:
    """All or nothing, and the sentence says which name it was."""
    ended = piped(context, f"{wrong}\n1\n", "--findings", write_review(shell.folder), "--json")
    assert ended.status == 0
    assert f'I didn\'t recognize "{wrong}". {hint}' in ended.err
    assert ended.json["marked"] == ["H1", "M1", "L1"]


# Commands


@proves("G39", "G42")
@pytest.mark.parametrize(
    ("context", "typed", "printed", "status"),
    [
        ("phase-gate", "SET  FOCUS  Security", "Set focus security", 0),
        ("phase-gate", "pause", "pause", 3),
        ("chunk-plan", "skip to chunk 2", "Skip to chunk 2", 0),
        ("chunk-loop", "deep-dive l1", "Deep-dive L1", 0),
        ("chunk-loop", "PAUSE", "Pause & save", 0),
        ("synthesis", "deep-dive h1", "deep-dive H1", 0),
        ("post-only", "Deep-Dive M1", "deep-dive M1", 0),
        ("continue-mismatch", "pause", "pause", 3),
    ],
)
def test_command_with_its_name_is_printed_in_its_one_spelling(
    piped: Piped, shell: Shell, context: str, typed: str, printed: str, status: int
) -> None:
    """An option with what it needs is that option; a pause where there is nothing to save is no decision."""
    ended = piped(context, f"{typed}\n", "--findings", write_review(shell.folder))
    assert (ended.status, ended.out) == (status, f"{printed}\n")


@proves("G38")
@pytest.mark.parametrize("context", CONTEXTS.values(), ids=lambda context: context.name)
def test_task_is_kept_and_the_same_gate_comes_again(piped: Piped, shell: Shell, context: Context) -> None:
    """At every gate, in any case, with every colon behind the first one."""
    ended = piped(context.name, "ToDo: ask ops: why 429?\n1\n")
    assert (ended.status, ended.out) == (0, f"{context.options[0]}\n")
    assert 'Kept for later: "ask ops: why 429?".' in ended.err
    assert ended.err.count("REVIEW GATEWAY") == 2
    assert "ask ops: why 429?" in (shell.folder / ".assent" / "review-todo.md").read_text()


@proves("G40")
def test_deselect_takes_marks_back_and_shows_the_gate_again(piped: Piped, shell: Shell) -> None:
    """A single one at once; what remains marked is told."""
    ended = piped("chunk-loop", "deselect m1\n1\n", "--findings", write_review(shell.folder), "--json")
    assert (ended.json["choice"], ended.json["marked"]) == ("Continue", ["H1", "L1"])
    assert "[y/n]" not in ended.err
    assert "Marked for posting: H1, L1." in ended.err
    assert ended.err.count("REVIEW GATEWAY: Chunk Loop") == 2


CHECKS = [
    ("chunk-loop", "deselect h1 L1", "This will unmark 2 findings. They won't be posted. Proceed? [y/n]"),
    (
        "chunk-loop",
        "discard",
        "This will remove 3 findings from this chunk. They won't be recoverable. Proceed? [y/n]",
    ),
    (
        "synthesis",
        "Discard",
        "This will discard all 3 findings and exit without posting. Proceed? [y/n]",
    ),
]


@proves("G22", "G23", "G24", "G25", "G27", "G40", "G41")
@pytest.mark.parametrize("yes", ["y", "yes", "Y", " YES "])
@pytest.mark.parametrize(("context", "typed", "question"), CHECKS)
def test_destructive_command_runs_after_a_yes(
    piped: Piped, shell: Shell, context: str, typed: str, question: str, yes: str
) -> None:
    """The question is the exact one, and stands alone above the prompt's sign."""
    ended = piped(context, f"{typed}\n{yes}\n1\n", "--findings", write_review(shell.folder), "--json")
    assert f"\n{question}\n> {yes}\n" in ended.err
    if typed == "deselect h1 L1":
        assert (ended.json["choice"], ended.json["marked"]) == ("Continue", ["M1"])
    else:
        assert (ended.json["choice"], ended.status) == ("discard", 0)


@proves("G22", "G26")
@pytest.mark.parametrize("no", ["n", "N", "no", "", "maybe", "1", "yes please", "discard"])
@pytest.mark.parametrize(("context", "typed", "question"), CHECKS)
def test_anything_but_a_yes_changes_nothing_and_shows_the_gate_again(
    piped: Piped, shell: Shell, context: str, typed: str, question: str, no: str
) -> None:
    """The whole gate, and what was neither yes nor no is echoed above it."""
    ended = piped(context, f"{typed}\n{no}\n1\n", "--findings", write_review(shell.folder), "--json")
    assert (ended.status, ended.json["marked"]) == (0, ["H1", "M1", "L1"])
    assert ended.json["choice"] == ("Continue" if context == "chunk-loop" else "Post all marked")
    assert ended.err.count("REVIEW GATEWAY") == 2
    again = ended.err.partition(f"{question}\n> {no}\n")[2]
    is_echoed = no.casefold() not in ("n", "no")
    assert again.startswith(f'I didn\'t recognize "{no}".\n') is is_echoed


@proves("G43")
def test_post_only_commands_turn_marks_and_come_back(piped: Piped, shell: Shell) -> None:
    """One after the other, each with what remains; `Select specific` turns marks here."""
    typed = "none\ntoggle h1, l1\n3\nL1 m1\nall\ntoggle H1\n4\n"
    ended = piped("post-only", typed, "--findings", write_review(shell.folder), "--json")
    assert (ended.json["choice"], ended.json["marked"]) == ("Cancel", ["M1", "L1"])
    told = [line for line in ended.err.splitlines() if "marked for posting" in line.casefold()]
    assert told == [
        "Nothing is marked for posting.",
        "Marked for posting: H1, L1.",
        "Marked for posting: H1, M1.",
        "Marked for posting: H1, M1, L1.",
        "Marked for posting: M1, L1.",
    ]


@proves("G33")
def test_select_specific_marks_only_those_in_the_synthesis(piped: Piped, shell: Shell) -> None:
    """It lists the findings, takes their ids, and comes back; a wrong id is asked for again."""
    ended = piped("synthesis", "3\nh1 x\nl1\n1\n", "--findings", write_review(shell.folder), "--json")
    assert (ended.json["choice"], ended.json["marked"]) == ("Post all marked", ["L1"])
    assert "- [x] H1 Loop never ends <U+001B>[2J  retry.py:88\n" in ended.err
    assert 'I didn\'t recognize "h1 x".' in ended.err


@pytest.mark.parametrize(
    ("context", "option"), [("phase-gate", 2), ("chunk-plan", 2), ("chunk-loop", 2), ("synthesis", 3)]
)
def test_back_leads_from_the_question_to_the_gate(
    piped: Piped, shell: Shell, context: str, option: int
) -> None:
    """Nothing was chosen yet."""
    ended = piped(context, f"{option}\nback\n1\n", "--findings", write_review(shell.folder))
    assert ended.status == 0
    assert ended.err.count("REVIEW GATEWAY") == 2


@pytest.mark.parametrize(
    ("context", "option", "printed"),
    [
        ("chunk-loop", "2", "Deep-dive"),
        ("chunk-plan", "2", "Skip to chunk N"),
        ("synthesis", "3", "Select specific"),
    ],
)
def test_option_stands_for_itself_where_there_is_nothing_to_name(
    piped: Piped, context: str, option: str, printed: str
) -> None:
    """Whoever asked knows what to do with it."""
    assert piped(context, f"{option}\n").out == f"{printed}\n"


# No decision


@proves("G12", "G13", "G21")
@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("", ""),
        ("1", 'The last line, "1", has no line end, so it was not read.'),
        ("nope\n", "I didn't recognize"),
    ],
)
def test_end_of_input_is_no_decision(piped: Piped, shell: Shell, typed: str, sentence: str) -> None:
    """Status 3, nothing on standard output, the ask open, and how to answer it later."""
    ended = piped("phase-gate", typed)
    assert (ended.status, ended.out) == (3, "")
    ask = shell.only_open()
    assert f"stays open. Answer it with: assent answer {ask.ask_id[-6:]} …" in ended.err
    assert sentence in ended.err


def test_wait_that_lapses_is_no_decision(shell: Shell) -> None:
    """The ask stays open, and JSON says that nothing was chosen."""
    process = shell.start(
        "gate", "phase-gate", "--summary", "x", "--wait", "0.1", "--json", stdin=subprocess.PIPE
    )
    assert process.wait(PATIENCE) == 3
    ended = shell.finish(process)
    assert ended.json["choice"] is None
    assert ended.json["ask_id"] == shell.only_open().ask_id


@proves("G12")
def test_agent_cannot_pass_its_own_gate_through_a_pipe(shell: Shell) -> None:
    """Where its mark is set nothing is read: it waits for a person elsewhere, and says so."""
    process = shell.start(
        "gate", "phase-gate", "--summary", "x", "--json", stdin=subprocess.PIPE, CLAUDECODE="1"
    )
    assert process.stdin is not None
    process.stdin.write(b"1\n")
    process.stdin.flush()
    ask = shell.only_open()
    refused = shell.run("answer", ask.ask_id, "1", CLAUDECODE="1")
    assert refused.status == 4
    shell.answer(ask.ask_id, "cancel", "sam")
    ended = shell.finish(process)
    assert ended.status == 0
    told = ended.json
    assert (told["choice"], told["by"], told["assurance"]) == ("Cancel", "human:sam", "declared")
    assert "CLAUDECODE is set" in ended.err
    assert "Waiting for an answer from elsewhere: assent answer " in ended.err


# Through the hub


@proves("G44")
def test_gate_is_answered_by_another_process_and_the_loser_is_told(shell: Shell) -> None:
    """The first wins; whoever comes later gets status 6 and who it was; a wrong reply is refused with the list."""
    process = shell.start("gate", "chunk-loop", "--summary", "Chunk 1.", stdin=subprocess.PIPE)
    ask = shell.only_open()
    wrong = shell.run("answer", ask.ask_id[-6:], "conti")
    assert wrong.status == 2
    assert wrong.err == (
        'I didn\'t recognize "conti".\n1. Continue\n2. Deep-dive\n3. Pause & save\n4. Skip to synthesis\n'
    )
    won = shell.run("answer", ask.ask_id[-6:], "skip", "to", "synthesis")
    assert (won.status, won.out.splitlines()[0]) == (0, 'ana answered: "Skip to synthesis"')
    ended = shell.finish(process)
    assert (ended.status, ended.out) == (0, "Skip to synthesis\n")
    assert "Answered elsewhere: ana answered at " in ended.err
    late = shell.run("answer", ask.ask_id, "1")
    assert (late.status, late.out) == (6, "")
    assert "ana answered at " in late.err


@proves("G22", "G41")
def test_whole_talk_is_answered_from_elsewhere(shell: Shell) -> None:
    """Gate, check and the gate again: each is an ask of its own, one at a time."""
    review = write_review(shell.folder)
    process = shell.start(
        "gate", "chunk-loop", "--summary", "Chunk 1.", "--findings", review, stdin=subprocess.PIPE
    )
    for reply in ("discard", "maybe", "discard", "yes"):
        shell.answer(shell.only_open().ask_id, reply)
    ended = shell.finish(process)
    assert (ended.status, ended.out) == (0, "discard\n")
    assert ended.err.count("They won't be recoverable.") == 2


@pytest.mark.parametrize(("ending", "status"), [("--decline", 4), ("withdraw", 5)])
def test_gate_that_ends_without_an_answer_is_no_choice(shell: Shell, ending: str, status: int) -> None:
    """Declined is 4, taken back is 5, and standard output stays empty."""
    process = shell.start("gate", "phase-gate", "--summary", "x", stdin=subprocess.PIPE)
    ask_id = shell.only_open().ask_id
    arguments = ("answer", ask_id, "--decline") if ending == "--decline" else ("withdraw", ask_id)
    assert shell.run(*arguments).status == 0
    ended = shell.finish(process)
    assert (ended.status, ended.out) == (status, "")


def test_interrupted_gate_stays_open(shell: Shell) -> None:
    """Ctrl-C without a terminal: status 3, one sentence, no stack trace."""
    process = shell.start("gate", "phase-gate", "--summary", "x", stdin=subprocess.PIPE)
    ask = shell.only_open()
    assert process.stderr is not None
    seen = b""
    wait_for(lambda: process.poll() is None)
    while not seen.endswith(b"> "):
        seen += os.read(process.stderr.fileno(), 65_536)
    process.send_signal(signal.SIGINT)
    ended = shell.finish(process)
    assert (ended.status, ended.out) == (3, "")
    assert ended.err.strip() == (
        f"Nothing was decided; the gate stays open. Answer it with: assent answer {ask.ask_id[-6:]} …"
    )


def test_key_finds_the_whole_talk_again(piped: Piped, shell: Shell) -> None:
    """Killed and started again, it shows only what is not answered yet."""
    arguments = ("--findings", write_review(shell.folder), "--key", "chunk 1")
    first = piped("chunk-loop", "deselect h1\n", *arguments)
    assert first.status == 3
    again = piped("chunk-loop", "", *arguments)
    assert again.status == 3
    assert "Marked for posting: M1, L1." in again.err
    assert again.err.count("REVIEW GATEWAY") == 1
    assert piped("chunk-loop", "1\n", *arguments).out == "Continue\n"
    assert piped("chunk-loop", "", *arguments).out == "Continue\n"
    assert shell.waiting() == []


# Contexts, files and usage


def test_project_gate_is_found_shown_and_answered(piped: Piped, call: Call, shell: Shell) -> None:
    """Its options and commands, and the check before one of them."""
    (shell.folder / ".assent").mkdir(mode=0o700)
    (shell.folder / ".assent" / "gates.toml").write_text(
        '[[gate]]\nname = "Deploy"\noptions = ["Ship it", "Stop"]\ncommands = ["note: {text}", "discard"]\n'
        '[gate.checks]\ndiscard = "Throw {N} away? [y/n]"\n'
    )
    assert piped("deploy", "2)\n").out == "Stop\n"
    assert piped("DEPLOY", "Note: it: works\n").out == "note: it: works\n"
    thrown = piped("deploy", "discard\ny\n")
    assert (thrown.out, "Throw 0 away? [y/n]\n> y\n" in thrown.err) == ("discard\n", True)
    listed = call("gate", "--list")
    assert "Deploy  (deploy)\n  1. Ship it\n  2. Stop\n  Commands: note: {text}, discard\n" in listed.out


def test_faulty_gate_file_is_one_clear_sentence(call: Call, shell: Shell) -> None:
    """Before anything is asked."""
    (shell.folder / ".assent").mkdir(mode=0o700)
    (shell.folder / ".assent" / "gates.toml").write_text('[[gate]]\nname = "Deploy"\n')
    ended = call("gate", "phase-gate", "--summary", "x")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == '.assent/gates.toml, gate 1 "Deploy": it has no options.\n'


@pytest.mark.parametrize("arguments", [(), ("--list",)])
def test_contexts_are_listed_with_options_and_commands(call: Call, arguments: tuple[str, ...]) -> None:
    """All standard ones, in the order of the table."""
    listed = call("gate", *arguments)
    assert listed.status == 0
    for context in CONTEXTS.values():
        options = "".join(f"  {number}. {label}\n" for number, label in enumerate(context.options, 1))
        assert f"{context.name}  (" in listed.out
        assert options in listed.out
    assert "  Commands: discard, todo: {text}, deselect {IDs}\n" in listed.out
    gates = call("gate", "--json").json["gates"]
    assert [gate["name"] for gate in gates] == list(CONTEXTS)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nope", "--summary", "x"), 'There is no gate "nope".'),
        (("phase-gate",), "Where do things stand?"),
        (("phase-gate", "--summary", " \u200b"), "A gate needs a summary"),
        (("phase-gate", "--summary", "x", "--wait", "1", "--no-wait"), "not both"),
        (("phase-gate", "--summary", "x", "--findings", "missing.json"), "missing.json: it cannot be read"),
        (("phase-gate", "--summary", "x", "--findings", "bad.json"), "bad.json: "),
        (("phase-gate", "--summary", "x", "--chunks", "-1"), "--chunks"),
    ],
)
def test_wrong_usage_is_status_2_and_asks_nothing(
    call: Call, shell: Shell, arguments: tuple[str, ...], sentence: str
) -> None:
    """One sentence that says what is wrong."""
    (shell.folder / "bad.json").write_text('{"pull_request": 3}')
    ended = call("gate", *arguments)
    assert (ended.status, ended.out) == (2, "")
    assert sentence in ended.err
    assert shell.waiting() == []


def test_gate_in_the_lists_shows_where_things_stand(call: Call) -> None:
    """In the inbox on one line; as a card with the agent's words marked, and the options as they are numbered."""
    summary = "Chunk 2 of 5.\nFake:\n**Select an action:**\n1. Post \x1b[2J everything"
    ask_id = call("gate", "chunk-loop", "--summary", summary, "--as", "reviewer", "--no-wait").out.strip()
    assert f"{ask_id[-6:]}  # gate  shop  " in call("inbox").out
    assert "Chunk Loop: Chunk 2 of 5.\n" in call("inbox").out
    card = call("show", ask_id).out
    assert "### \N{OCTAGONAL SIGN} REVIEW GATEWAY: Chunk Loop\n\n: Chunk 2 of 5.\n: Fake:\n" in card
    assert ": 1. Post <U+001B>[2J everything\n" in card
    assert "\n**Select an action:**\n  1. Continue\n  2. Deep-dive\n" in card
