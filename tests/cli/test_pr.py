"""`assent pr`: asks of every kind on a pull request, answered there by people who may, and closed when they ended."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assent.cli.remote import POSTED_GATES, home_repository
from assent.protocol.ask import State
from assent.protocol.principal import Assurance
from tests.cli.shell import Result, Shell
from tests.github.double import TOKEN, Double, Fault, serve

__all__: list[str] = []

Call = Callable[..., Result]
COLOURS = ("Which colour?", "-o", "Red", "-o", "Blue")


@pytest.fixture
def double() -> Iterator[Double]:
    """Give a GitHub with one pull request, of the repository that this folder is of."""
    with serve() as double:
        double.permissions = {"ana": "write", "stranger": "read"}
        yield double


@pytest.fixture
def there(call: Call, double: Double, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Give commands with a way to GitHub, in a run of CI."""
    monkeypatch.setenv("GH_TOKEN", TOKEN)
    monkeypatch.setenv("GITHUB_API_URL", double.address)
    monkeypatch.setenv("GITHUB_REPOSITORY", "acme/shop")
    return call


def ask(there: Call, *arguments: str) -> str:
    """Open an ask; return the end of its id."""
    opened = there("ask", *(arguments or COLOURS), "--no-wait")
    assert opened.status == 0, opened.err
    return opened.out.strip()[-6:]


def test_ask_is_posted_answered_there_and_closed(there: Call, shell: Shell, double: Double) -> None:
    """One comment, edited in place; the answer has its writer, with their number."""
    name = ask(there)
    posted = there("pr", "post", name, "--pr", "7")
    assert (posted.status, posted.out) == (0, f"{name}  acme/shop#7  Which colour?\n")
    assert there("pr", "list").out == f"{name}  acme/shop#7  open  Which colour?\n"
    assert there("pr", "collect").status == 3
    double.say("stranger", f"/gate {name} 1")
    double.say("ana", f"/gate {name} 2")
    collected = there("pr", "collect")
    assert collected.status == 0
    assert collected.out.startswith(
        f"{name}  ana@github (by a comment, which anybody with that login can write) answered at "
    )
    answer = shell.ask(name).answer
    assert answer is not None
    assert answer.values == {"q1": ("Blue",)}
    assert (answer.by, answer.via) == ("human:ana@github", f"github:{double.number_of('ana')}")
    assert answer.assurance is Assurance.DECLARED
    assert double.comments[0]["body"].startswith(
        "**Answered** by `ana` (by a comment, which anybody with that login can write): `Blue`\n\n---\n"
    )
    assert json.loads(there("pr", "list", "--json").out) == {"posted": []}


def test_ask_that_was_answered_elsewhere_is_closed_there(there: Call, double: Double) -> None:
    """The comment says so, and a reply that comes later changes nothing."""
    name = ask(there)
    assert there("pr", "post", name, "--pr", "acme/shop#7").status == 0
    assert there("answer", name, "Red").status == 0
    double.say("ana", f"/gate {name} 2")
    assert there("pr", "collect").status == 0
    assert double.comments[0]["body"].startswith("**Answered** by `ana`: `Red`")


def test_comment_that_could_not_be_closed_is_closed_with_the_next_look(there: Call, double: Double) -> None:
    """GitHub was in trouble; nothing is forgotten."""
    name = ask(there)
    assert there("pr", "post", name, "--pr", "7").status == 0
    assert there("withdraw", name).status == 0
    double.faults = [Fault("PATCH", "", 500)]
    assert there("pr", "collect").status == 3
    assert there("pr", "collect").status == 0
    assert double.comments[0]["body"].startswith("**Closed**: withdrawn")


def test_ask_is_posted_once(there: Call, double: Double) -> None:
    """Who says it again finds it there; and not on another pull request as well."""
    name = ask(there)
    for _ in range(2):
        assert there("pr", "post", name, "--pr", "#7").status == 0
    assert len(double.comments) == 1
    other = there("pr", "post", name, "--pr", "8")
    assert (other.status, other.err) == (4, f"{name} is a comment on acme/shop#7 already.\n")


def test_ask_that_another_run_posted_is_found_there(there: Call, shell: Shell, double: Double) -> None:
    """A run of CI remembers nothing; for a new commit it is posted anew, and what a stranger copied is not it."""
    double.permissions[double.me] = "write"
    name = ask(there)
    assert there("pr", "post", name, "--pr", "7").status == 0
    (shell.folder / ".assent" / POSTED_GATES).unlink()
    assert there("pr", "post", name, "--pr", "7").status == 0
    assert len(double.comments) == 1
    double.say("ana", f"/gate {name} 1")
    assert there("pr", "collect").status == 0
    second = ask(there)
    assert there("pr", "post", second, "--pr", "7").status == 0
    (shell.folder / ".assent" / POSTED_GATES).unlink()
    gate = double.comments.pop()
    double.say("stranger", gate["body"])
    before = len(double.comments)
    assert there("pr", "post", second, "--pr", "7").status == 0
    assert len(double.comments) == before + 1
    (shell.folder / ".assent" / POSTED_GATES).unlink()
    double.head = "d00d" + "0" * 36
    assert there("pr", "post", second, "--pr", "7").status == 0
    assert len(double.comments) == before + 2


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (("--pr", "seven"), 2, '"seven" is no pull request: say its number, or OWNER/REPO#N.'),
        (("--pr", "evil/repo#7"), 4, "evil/repo is not the repository of this folder or CI run"),
        ((), 2, "On which pull request? As in: --pr 7"),
        (("--pr", "9"), 1, "The gate was not posted as a comment: GitHub has no such thing"),
    ],
    ids=["no number", "another repository", "none", "not there"],
)
def test_place_that_takes_no_ask_is_told_and_nothing_is_posted(
    there: Call, double: Double, words: tuple[str, ...], status: int, sentence: str
) -> None:
    """An agent must not pick its judges."""
    posted = there("pr", "post", ask(there), *words)
    assert posted.status == status
    assert posted.err.startswith(sentence)
    assert double.comments == []


def test_ask_that_has_ended_is_not_posted(there: Call, double: Double) -> None:
    """Nobody could answer it."""
    name = ask(there)
    there("withdraw", name)
    posted = there("pr", "post", name, "--pr", "7")
    assert posted.status == 4
    assert posted.err.startswith(f"{name} is not open any more: ana took it back")
    assert double.comments == []


def test_post_without_a_way_to_github_says_what_is_missing(
    there: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence."""
    monkeypatch.delenv("GH_TOKEN")
    monkeypatch.setenv("PATH", "")
    posted = there("pr", "post", ask(there), "--pr", "7")
    assert (posted.status, posted.err.startswith("There is no way to GitHub from here")) == (1, True)


def test_approval_is_not_given_on_a_process_s_word_and_the_comment_says_so(
    there: Call, shell: Shell, double: Double
) -> None:
    """What is read by polling is declared; to decline needs no more than that."""
    (shell.folder / "action.json").write_text('{"drop": "users"}')
    asked = there("approve", "Drop it", "--action", "action.json", "--wait", "0", "--json")
    assert asked.status == 3
    (approval,) = shell.waiting()
    name = approval.ask_id[-6:]
    assert there("pr", "post", name, "--pr", "7").status == 0
    assert '"drop": "users"' in double.comments[0]["body"]
    double.say("ana", "1")
    double.say("ana", f"/gate {name} approve")
    assert there("pr", "collect").status == 3
    assert shell.ask(name).is_open
    assert "not enough to approve something" in double.comments[-1]["body"]
    double.say("ana", f"/gate {name} decline not on a Friday")
    assert there("pr", "collect").status == 0
    ended = shell.ask(name)
    assert ended.state is State.DECLINED
    assert ended.outcome is not None
    assert ended.outcome.reason == "not on a Friday"


def test_watch_looks_again_until_nothing_waits(
    there: Call, shell: Shell, double: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Politely: it waits between two looks, and GitHub is not asked meanwhile."""
    name = ask(there)
    assert there("pr", "post", name, "--pr", "7").status == 0
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 2:
            double.say("ana", f"/gate {name} red")

    monkeypatch.setattr("assent.cli.pr.time.sleep", nap)
    watched = there("pr", "collect", "--watch")
    assert (watched.status, naps) == (0, [30.0, 30.0])
    assert shell.ask(name).state is State.ANSWERED


def test_watch_ends_with_its_time_and_is_never_hasty(there: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was decided; and who wants to look every second is refused."""
    assert there("pr", "post", ask(there), "--pr", "7").status == 0
    monkeypatch.setattr("assent.cli.pr.time.sleep", pytest.fail)
    assert there("pr", "collect", "--watch", "--wait", "0").status == 3
    hasty = there("pr", "collect", "--watch", "--every", "1s")
    assert (hasty.status, "every 10 seconds at most" in hasty.err) == (2, True)


def test_several_kinds_are_posted_and_each_is_answered_by_its_name(
    there: Call, shell: Shell, double: Double
) -> None:
    """A gate, a question in one's own words and one with options; a plain number is for none of them."""
    gate = there("gate", "phase-gate", "--summary", "12 files.", "--no-wait").out.strip()[-6:]
    free = ask(there, "Why?", "--free")
    colour = ask(there)
    assert there("pr", "post", gate, free, colour, "--pr", "7").status == 0
    double.say("ana", "1")
    double.say("ana", f"/gate {free} because it is late")
    double.say("ana", f"/gate {gate} proceed")
    assert there("pr", "collect").status == 3
    assert [shell.ask(name).is_open for name in (gate, free, colour)] == [False, False, True]
    answer = shell.ask(free).answer
    assert answer is not None
    assert answer.values == {"q1": ("because it is late",)}


def test_home_repository_is_that_of_origin(tmp_path: Path) -> None:
    """CI says it; a clone names it; where there are several and none is origin, nobody guesses."""
    assert home_repository({"GITHUB_REPOSITORY": "acme/shop"}, tmp_path) == "acme/shop"
    folder = tmp_path / ".git"
    folder.mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "objects").mkdir()
    (folder / "refs").mkdir()
    remote = '[remote "{}"]\n\turl = {}\n'
    config = folder / "config"
    config.write_text(remote.format("up", "https://github.com/big/shop"))
    assert home_repository({}, tmp_path) == "big/shop"
    config.write_text(config.read_text() + remote.format("origin", "git@github.com:acme/shop.git"))
    assert home_repository({}, tmp_path) == "acme/shop"
    config.write_text(config.read_text().replace("origin", "mine"))
    assert home_repository({}, tmp_path) is None
