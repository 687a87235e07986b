"""Two of `assent session` in one folder: only one goes on from an answer."""

from tests.cli.sessions import Desk
from tests.cli.shell import Shell
from tests.proves import proves

__all__: list[str] = []


@proves("G12")
def test_second_session_in_the_same_folder_is_told_to_answer_the_first(shell: Shell) -> None:
    """Else both would go on from one answer, and the review would be posted twice."""
    desk = Desk(shell)
    with desk.terminal("findings.json") as first:
        first.until("proceed.*")
        second = desk.run("--resume", typed=None)
        assert second.status == 6
        assert second.err.startswith("A session goes on here already (Process ")
        first.type("pause\n")
        assert first.end().status == 3
    third = desk.run("--resume")
    assert third.status == 3
    assert "Resuming acme/shop#7" in third.err
