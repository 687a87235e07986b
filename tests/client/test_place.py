"""Which store and which project: as said, by the environment, or from where we are."""

import subprocess
from pathlib import Path

import pytest

import assent
from assent.client.place import find_project, find_root, find_store
from assent.protocol.error import BadRequestError
from tests.patience import PATIENCE

__all__: list[str] = []


def git(folder: Path, *arguments: str) -> None:
    """Run git, which has no configuration here."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, timeout=PATIENCE
    )


@pytest.mark.parametrize("mark", [".assent", ".git"])
def test_root_is_the_nearest_marked_folder_upward(tmp_path: Path, mark: str) -> None:
    """From anywhere inside a project the same store is meant."""
    inside = tmp_path / "project" / "deep" / "inside"
    inside.mkdir(parents=True)
    (tmp_path / "project" / mark).mkdir()
    assert find_root(inside) == tmp_path / "project"
    (inside.parent / ".assent").mkdir()
    assert find_root(inside) == inside.parent


def test_root_without_a_mark_is_the_folder_itself(tmp_path: Path) -> None:
    """Nothing upward is taken by chance."""
    assert find_root(tmp_path) == tmp_path


def test_root_of_a_worktree_is_the_main_worktree(tmp_path: Path) -> None:
    """All worktrees share one store; a submodule is a project of its own."""
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "x")
    git(main, "worktree", "add", "-q", str(tmp_path / "side"))
    (tmp_path / "side" / "deep").mkdir()
    assert find_root(tmp_path / "side" / "deep") == main
    module = main / "module"
    module.mkdir()
    (module / ".git").write_text("gitdir: ../.git/modules/module\n")
    assert find_root(module) == module
    (module / ".git").write_bytes(b"\xff\x00nonsense")
    assert find_root(module) == module


def test_store_is_as_said_then_as_set_then_the_roots(tmp_path: Path) -> None:
    """In this order."""
    environ = {"ASSENT_STORE": "sqlite:////from/environ.db"}
    assert find_store("sqlite:////said.db", environ, tmp_path) == Path("/said.db")
    assert find_store(None, environ, tmp_path) == Path("/from/environ.db")
    assert find_store(None, {"ASSENT_STORE": ""}, tmp_path) == tmp_path / ".assent" / "assent.db"
    assert find_store("sqlite:///relative.db", {}, tmp_path) == Path("relative.db")
    assert find_store("sqlite:///~/x.db", {}, tmp_path) == Path.home() / "x.db"
    assert find_store("plain/path.db", {}, tmp_path) == Path("plain/path.db")


@pytest.mark.parametrize("url", ["postgresql://host/db", "http://host", "mysql://", "sqlite://x.db"])
def test_store_of_an_unknown_form_is_refused(url: str) -> None:
    """With a sentence that says what to write."""
    with pytest.raises(BadRequestError, match="sqlite:///"):
        find_store(url, {}, Path())


def test_project_is_as_said_then_as_set_then_the_roots_name(tmp_path: Path) -> None:
    """Projects need no creation."""
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    environ = {"ASSENT_PROJECT": "set"}
    assert find_project("said", environ, tmp_path) == "said"
    assert find_project(None, environ, tmp_path) == "set"
    assert find_project(None, {}, tmp_path / "shop") == "shop"
    assert find_project(None, {}, Path("/")) == "default"


@pytest.mark.parametrize("name", ["a/b", " a", "a ", "a\nb", "a\u200bb", "\x1b[2J", "a" * 201, "a\udcff"])
def test_project_that_could_be_mistaken_is_refused(name: str) -> None:
    """No slashes, nothing invisible, nothing endless."""
    with pytest.raises(BadRequestError):
        find_project(name, {}, Path())


def test_connecting_from_inside_a_project_finds_its_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`assent.connect()` alone: the folder says which store and which project."""
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "src").mkdir()
    monkeypatch.chdir(tmp_path / "shop" / "src")
    with assent.connect() as client:
        assert client.project == "shop"
        client.open("Which?", ["red fox", "blue fox"])
    assert (tmp_path / "shop" / ".assent" / "assent.db").is_file()
    with assent.connect(tmp_path / "shop" / ".assent" / "assent.db", project="shop") as again:
        assert again.count() == 1
