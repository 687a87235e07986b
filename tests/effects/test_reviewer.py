"""Having real commands review: what they are told, what they may say, and all the ways in which they give no report."""

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from assent.client.identity import person
from assent.effects.performer import Intention, Performers, find_performer, intend, settle
from assent.effects.reviewer import reviewer_performers
from assent.flows.confirm import RunReviewer
from assent.flows.step import Done, Failed
from assent.protocol.canonical import Json
from assent.protocol.error import BadRequestError, EffectError, ForbiddenError
from assent.protocol.plan import Moment
from assent.protocol.report import MAX_REPORT_BYTES, REPORT_FORMAT, Report, parse_report, render_report
from assent.protocol.reviewer_file import Reviewer, parse_reviewers
from tests.effects.processes import DEADLINE, STARTS_ANOTHER, Alive, wait_until_empty
from tests.proves import proves

__all__: list[str] = []

EXAMPLES = Path(__file__).parents[2] / "examples"
REPORT = Report(("It leaks.",), ("Names.",), "Not yet.")
FOUND: Json = {"blocking": ["It leaks."], "non_blocking": ["Names."], "summary": "Not yet."}
PRINTS = "import sys; sys.stdin.read(); print(sys.argv[1])"

Review = Callable[..., Done | Failed]


def accept(_: Reviewer) -> None:
    """Accept whatever is run."""


def asked(folder: Path, **changes: str) -> RunReviewer:
    """Return what a flow asks of the reviewer `ace`."""
    track = folder / "tracks" / "add-login"
    track.mkdir(parents=True, exist_ok=True)
    effect = RunReviewer(
        "ace",
        Moment.BEFORE,
        "task",
        "T1.2",
        "Log in",
        "Adds a form.",
        "tracks/add-login/plan.xml",
        str(folder),
        str(track),
    )
    return replace(effect, **changes)


def perform(performers: Performers, effect: RunReviewer) -> Done | Failed:
    """Do what a driver does."""
    performer = find_performer(performers, effect)
    intention = intend(performer, effect)
    return intention if isinstance(intention, Failed) else settle(performer, intention)


@pytest.fixture
def review(tmp_path: Path) -> Review:
    """Run a small program as the reviewer `ace`."""

    def run(source: str, *words: str, seconds: float = DEADLINE, **changes: str) -> Done | Failed:
        ace = Reviewer("ace", (sys.executable, "-c", source, *words), {"MODEL": "small"}, seconds)
        return perform(reviewer_performers({"ace": ace}, os.environ, accept), asked(tmp_path, **changes))

    return run


def why(came: Done | Failed) -> str:
    """Return why there is no report."""
    assert isinstance(came, Failed), came
    assert came.code == EffectError.code
    return came.message


@proves("C38", "C39", "C41")
@pytest.mark.parametrize("moment", Moment)
def test_named_reviewer_is_told_where_to_look_and_what_at(
    review: Review, tmp_path: Path, moment: Moment
) -> None:
    """As JSON on standard input, in the workspace, with the moment that says whether it is about intent or work."""
    source = (
        "import json, os, pathlib, sys;"
        "told = [json.load(sys.stdin), os.getcwd(), sys.argv[1:], dict(os.environ)];"
        "pathlib.Path('told').write_text(json.dumps(told));"
        "print(json.dumps({'blocking': [], 'non_blocking': [], 'summary': 'Fine.'}))"
    )
    came = review(source, "$(x)", moment=moment)
    assert came == Done({"blocking": [], "non_blocking": [], "summary": "Fine."})
    request, folder, words, environ = json.loads((tmp_path / "told").read_text())
    assert request == {
        "workspace_dir": str(tmp_path),
        "track_dir": str(tmp_path / "tracks" / "add-login"),
        "plan": "tracks/add-login/plan.xml",
        "moment": moment.value,
        "owner": {"kind": "task", "id": "T1.2", "name": "Log in"},
        "summary": "Adds a form.",
        "format": REPORT_FORMAT,
    }
    assert (Path(folder), words) == (tmp_path.resolve(), ["$(x)"])
    assert (environ["MODEL"], environ["PATH"]) == ("small", os.environ["PATH"])


def test_reviewer_can_answer_nothing(tmp_path: Path) -> None:
    """It runs under an agent's name, so it is no person for us, whatever its surroundings say."""
    source = (
        "import json, os, pathlib; pathlib.Path('told').write_text(json.dumps(dict(os.environ)));"
        "print(json.dumps({'blocking': [], 'non_blocking': [], 'summary': 'Fine.'}))"
    )
    ace = Reviewer("ace", (sys.executable, "-c", source), {"ASSENT_PRINCIPAL": "human:eve"})
    environ = {"ASSENT_PRINCIPAL": "human:ana", "PATH": os.environ["PATH"]}
    came = perform(reviewer_performers({"ace": ace}, environ, accept), asked(tmp_path))
    assert isinstance(came, Done)
    told = json.loads((tmp_path / "told").read_text())
    assert told["ASSENT_PRINCIPAL"] == "agent:ace"
    with pytest.raises(ForbiddenError):
        person(told)


@proves("C40")
@pytest.mark.parametrize(
    "text",
    [
        json.dumps(FOUND),
        f"```json\n{json.dumps(FOUND)}\n```",
        render_report(REPORT),
        "**1. Must fix**\n- It leaks.\n**2. Should fix**\n- Names.\n**3. Summary**\nNot yet.",
    ],
)
def test_readable_report_is_the_result(review: Review, text: str) -> None:
    """The same value, whichever way it was written; what it says on standard error is no part of it."""
    came = review(PRINTS + "; print('thinking', file=sys.stderr)", text)
    assert came == Done(FOUND)


@proves("C45")
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", " said nothing."),
        ("import sys; print('thinking', file=sys.stderr)", " said nothing."),
        ("print(' ')", "The report is empty."),
        ("print('LGTM')", "The report does not begin with the blocking issues."),
        ("print('1. Blocking issues: None')", "The report has not all of its three parts."),
        (
            "print('1. Blocking issues:\\n2. Non-blocking issues: None\\n3. Summary: Fine.')",
            "A part of the report is empty: it should say None.",
        ),
        ("print('{')", "."),
        (r"import sys; sys.stdout.buffer.write(b'\xff')", "The report is not UTF-8 text."),
        ("import sys; sys.exit(3)", " ended with status 3."),
        ("import os; os.kill(os.getpid(), 9)", " ended with status -9."),
        ("1 / 0", " ended with status 1: ZeroDivisionError: division by zero."),
        (
            "import sys; print('no\\x1b[2J model.\\n'); sys.exit(1)",
            " ended with status 1: no<U+001B>[2J model.",
        ),
    ],
)
def test_reviewer_that_gives_no_report_is_a_failure_in_one_sentence(
    review: Review, source: str, message: str
) -> None:
    """It failed, said nothing, or nothing that can be read (C-X5): a flow blocks and asks a person."""
    said = why(review(source))
    assert said.endswith(message)
    assert "\n" not in said


@proves("C45")
def test_report_of_a_command_that_failed_is_none(review: Review) -> None:
    """However good it looks."""
    source = PRINTS + "; sys.exit(1)"
    assert " ended with status 1: " in why(review(source, json.dumps(FOUND)))


@proves("C45")
def test_reviewer_that_takes_too_long_is_ended_with_all_that_it_started(
    review: Review, tmp_path: Path, left_behind: Alive
) -> None:
    """The whole group, at once."""
    assert why(review(STARTS_ANOTHER, seconds=3)) == f'"{sys.executable}" took longer than 3 s.'
    assert len(list(tmp_path.glob("pid-*"))) == 2
    wait_until_empty(left_behind)


def test_reviewer_that_says_too_much_gives_no_report(review: Review) -> None:
    """A report that was cut is not the reviewer's."""
    blank = f"print({json.dumps(json.dumps(FOUND))} + ' ' * {MAX_REPORT_BYTES})"
    assert why(review(blank)).endswith(f" bytes; a report has at most {MAX_REPORT_BYTES:,}.")


def test_reviewer_that_complains_without_end_is_heard_all_the_same(review: Review) -> None:
    """Its standard error is read, and let go: of a failure the last line is told."""
    floods = "import sys; [sys.stderr.write('x' * 65536 + '\\n') for _ in range(200)];"
    assert review(floods + "print(sys.argv[1])", json.dumps(FOUND)) == Done(FOUND)
    assert why(review(floods + "sys.exit('out of money')")).endswith(" ended with status 1: out of money.")


def test_unknown_reviewer_and_missing_program_give_no_report(tmp_path: Path) -> None:
    """Told by name."""
    assert (
        why(perform(reviewer_performers({}, os.environ, accept), asked(tmp_path)))
        == 'There is no reviewer "ace" in this project.'
    )
    ace = Reviewer("ace", ("./no-such-program",))
    assert (
        why(perform(reviewer_performers({"ace": ace}, os.environ, accept), asked(tmp_path)))
        == '"./no-such-program" cannot be run: No such file or directory.'
    )


def test_reviewer_that_nobody_accepted_is_not_run(tmp_path: Path) -> None:
    """The command stands in a repository's file, and a person has the last word about it."""
    seen: list[Reviewer] = []

    def refuse(reviewer: Reviewer) -> None:
        seen.append(reviewer)
        raise EffectError("Not accepted.")

    ace = Reviewer("ace", (sys.executable, "-c", "import pathlib; pathlib.Path('ran').touch()"))
    came = perform(reviewer_performers({"ace": ace}, os.environ, refuse), asked(tmp_path))
    assert (why(came), seen) == ("Not accepted.", [ace])
    assert not (tmp_path / "ran").exists()


@proves("C38")
@pytest.mark.parametrize("name", ["workspace_dir", "track_dir"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("", "A reviewer needs {name}: the absolute path of a folder."),
        (" ", "A reviewer needs {name}: the absolute path of a folder."),
        (".", '{name} is an absolute path, not ".".'),
        ("~/work", '{name} is an absolute path, not "~/work".'),
        ("/no/such/folder", '{name}: there is no folder "/no/such/folder".'),
        ("/\0", '{name}: there is no folder "/<U+0000>".'),
        ("/" + "x" * 300, '{name}: there is no folder "/' + "x" * 198 + '…".'),
        (sys.executable, f'{{name}}: there is no folder "{sys.executable}".'),
    ],
)
def test_folder_that_a_reviewer_could_not_find_is_the_callers_mistake(
    tmp_path: Path, name: str, given: str, message: str
) -> None:
    """Refused before anybody is asked or anything is run, also when a flow is resumed; not a failed review (C-X13)."""

    def never(_: Reviewer) -> None:
        pytest.fail("Nothing may be run.")

    ace = Reviewer("ace", (sys.executable, "-c", "import pathlib; pathlib.Path('ran').touch()"))
    performers = reviewer_performers({"ace": ace}, os.environ, never)
    effect = asked(tmp_path, **{name: given})
    performer = find_performer(performers, effect)
    kept = intend(performer, asked(tmp_path))
    assert isinstance(kept, Intention)
    before = json.loads(kept.content)
    resumed = Intention(kept.path, content=json.dumps({**before, name: given}).encode())
    for act in (lambda: intend(performer, effect), lambda: settle(performer, resumed)):
        with pytest.raises(BadRequestError) as caught:
            act()
        assert caught.value.message == message.format(name=name)
    assert not (tmp_path / "ran").exists()


# The shipped example

FAKE_AGENT = """\
#!{python}
import json, os, pathlib, sys
told = {{"words": sys.argv[1:], "prompt": sys.stdin.read(), "environ": dict(os.environ)}}
pathlib.Path("told").write_text(json.dumps(told))
print(os.environ["ANSWER"])
sys.exit(int(os.environ.get("STATUS", "0")))
"""


def run_example(folder: Path, **variables: str) -> tuple[Done | Failed, dict[str, Json]]:
    """Run the shipped reviewer with an agent that notes what it is told; return the result and the note."""
    programs, own = folder / "bin", folder / ".assent"
    programs.mkdir()
    own.mkdir()
    fake = programs / "claude"
    fake.write_text(FAKE_AGENT.format(python=sys.executable))
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    (own / "review_with_agent.py").write_bytes((EXAMPLES / "review_with_agent.py").read_bytes())
    reviewers = parse_reviewers((EXAMPLES / "reviewers.toml").read_bytes(), "reviewers.toml")
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    environ = {**os.environ, "PATH": path, "CLAUDECODE": "1", **variables}
    effect = asked(folder, agent="architect", moment=Moment.AFTER, summary="{Done}\n--print")
    came = perform(reviewer_performers(reviewers, environ, accept), effect)
    return came, json.loads((folder / "told").read_text())


@proves("C38", "C39", "C41")
def test_shipped_example_has_an_agent_review_with_tools_that_only_read(tmp_path: Path) -> None:
    """Headless, in the workspace, with the track and the format in its prompt; its report is the result."""
    came, told = run_example(tmp_path, ANSWER=f"```json\n{json.dumps(FOUND)}\n```")
    assert came == Done(FOUND)
    track = str(tmp_path / "tracks" / "add-login")
    assert told["words"] == [
        "--print",
        "--allowedTools",
        "Read,Grep,Glob",
        "--disallowedTools",
        "Bash,Edit,Write,NotebookEdit,WebFetch,WebSearch,Task",
        "--add-dir",
        track,
        "--output-format",
        "text",
    ]
    prompt, environ = told["prompt"], told["environ"]
    assert isinstance(prompt, str)
    assert isinstance(environ, dict)
    assert f"workspace_dir: {tmp_path}\ntrack_dir: {track}\nplan: tracks/add-login/plan.xml\n" in prompt
    assert "task T1.2: Log in\nmoment: after\n" in prompt
    assert "Review the completed work" in prompt
    assert "-----\n{Done}\n--print\n-----" in prompt
    assert prompt.endswith(f"{REPORT_FORMAT}\n")
    assert environ["ASSENT_PRINCIPAL"] == "agent:architect"
    assert "CLAUDECODE" not in environ


@proves("C45")
def test_shipped_example_fails_with_its_agent(tmp_path: Path) -> None:
    """A report that the agent printed before it failed does not count."""
    came, _ = run_example(tmp_path, ANSWER=render_report(REPORT), STATUS="5")
    assert parse_report(render_report(REPORT).encode()) == REPORT
    assert '"python3" ended with status 5' in why(came)
