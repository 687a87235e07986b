"""The project's label for words of one's own: by the environment, by its file, or ours."""

from pathlib import Path

import pytest

import assent
from assent.client.label import find_label
from assent.protocol.error import BadRequestError
from tests.proves import proves

__all__: list[str] = []


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Give a folder inside of a project."""
    inside = tmp_path / "deep" / "inside"
    inside.mkdir(parents=True)
    (tmp_path / ".assent").mkdir()
    return inside


def write(project: Path, text: str) -> None:
    """Write the project's file."""
    (project.parents[1] / ".assent" / "questions.toml").write_text(
        text, encoding="utf-8", errors="surrogateescape"
    )


@proves("C12", "C13")
def test_label_is_that_of_the_environment_or_of_the_file_or_none(project: Path) -> None:
    """C12, C13: set by whoever runs the project, in any language, and nothing is required."""
    assert find_label({}, project) == ""
    write(project, 'other = "其他（可填写）"\n')
    assert find_label({}, project) == "其他（可填写）"
    assert find_label({"ASSENT_OTHER_LABEL": ""}, project) == "其他（可填写）"
    assert find_label({"ASSENT_OTHER_LABEL": "自由输入"}, project) == "自由输入"


@pytest.mark.parametrize(
    "text", ["other = ", "\udcff", "other = 3", 'others = "x"', 'other = "' + "x" * 70_000 + '"'], ids=len
)
def test_file_that_cannot_be_read_is_named(project: Path, text: str) -> None:
    """A slip in it is told, and not taken for no label."""
    write(project, text)
    with pytest.raises(BadRequestError, match=r"questions\.toml"):
        find_label({}, project)


def test_client_asks_with_the_projects_label_and_answers_without_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file with a slip stops whoever asks, and nobody who answers."""
    write(project, 'other = "其他（可填写）"\n')
    monkeypatch.chdir(project)
    with assent.connect() as client:
        ask = client.open("Which?", ["Red"], free=True).ask
        assert ask.prompt.fields[0].other == "其他（可填写）"
        write(project, "other = ")
        with pytest.raises(BadRequestError):
            client.open("Which?", ["Red"], free=True)
    with assent.connect(principal="human:ana") as ana:
        assert ana.answer(ask.ask_id, "C) my own").answer is not None
