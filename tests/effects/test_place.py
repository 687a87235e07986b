"""Effects reach ordinary files under their root and nothing else, whatever the path says."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from assent.effects.place import MAX_FILE_BYTES, Place, read_file
from assent.protocol.error import EffectError, PathRefusedError
from tests.chance import examples

__all__: list[str] = []


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a root with a document, beside a secret that is not its own."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("secret")
    root = tmp_path / "root"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "plan.md").write_text("plan")
    return root


def read(root: Path, path: str) -> bytes | None:
    """Read a file through a place."""
    with Place(root).folder(path) as (folder, name):
        return read_file(folder, name)


def test_file_under_the_root_is_read(root: Path) -> None:
    """The ordinary case."""
    assert read(root, "docs/plan.md") == b"plan"
    assert read(root, "docs/none.md") is None


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "/",
        "..",
        "../secret/key",
        "docs/../../secret/key",
        "docs/../docs/plan.md",
        "//etc/passwd",
        "/etc/passwd",
        "docs/plan.md\0.txt",
        ".git/hooks/post-checkout",
        "docs/.GIT/config",
        ".assent/assent.db",
    ],
)
def test_path_that_is_not_downward_is_refused(root: Path, path: str) -> None:
    """No path up, none from elsewhere, and none into folders that are not for documents."""
    with pytest.raises(PathRefusedError):
        read(root, path)


def test_absolute_path_is_refused_even_inside_the_root(root: Path) -> None:
    """A flow's steps do not know where on this machine the root lies."""
    with pytest.raises(PathRefusedError):
        read(root, str(root / "docs" / "plan.md"))


@pytest.mark.parametrize("target", ["../secret/key", "../secret", "/etc/passwd", "../root-2/x"])
def test_link_out_of_the_root_is_refused(root: Path, target: str) -> None:
    """Also to a neighbour whose name begins like the root's."""
    (root.parent / "root-2").mkdir()
    (root.parent / "root-2" / "x").write_text("x")
    (root / "link").symlink_to(target)
    for path in ("link", "link/key"):
        with pytest.raises(PathRefusedError):
            read(root, path)


def test_link_that_stays_inside_is_followed(root: Path) -> None:
    """People keep a README as a link into a folder of documents."""
    (root / "README.md").symlink_to("docs/plan.md")
    (root / "papers").symlink_to("docs")
    assert read(root, "README.md") == b"plan"
    assert read(root, "papers/plan.md") == b"plan"


def test_link_to_itself_is_refused(root: Path) -> None:
    """A loop ends nowhere."""
    (root / "loop").symlink_to("loop")
    with pytest.raises(PathRefusedError):
        read(root, "loop")


@pytest.mark.parametrize("swapped", ["docs", "docs/plan.md"], ids=["folder", "file"])
def test_link_put_in_the_way_after_the_check_is_refused(root: Path, swapped: str) -> None:
    """Whoever can write in the root may swap a folder for a link at any moment; the walk follows none."""

    class Raced(Place):
        def _parts(self, path: str) -> tuple[str, ...]:
            parts = super()._parts(path)
            (root / swapped).rename(root / "away")
            (root / swapped).symlink_to("../secret" if swapped == "docs" else "../../secret/key")
            return parts

    (root.parent / "secret" / "plan.md").write_text("secret")
    with pytest.raises(PathRefusedError), Raced(root).folder("docs/plan.md") as (folder, name):
        read_file(folder, name)


def test_pipe_folder_and_device_are_refused_without_waiting(root: Path) -> None:
    """A pipe's other end may never come."""
    os.mkfifo(root / "pipe")
    for path in ("pipe", "docs"):
        with pytest.raises(PathRefusedError):
            read(root, path)


def test_missing_folder_and_too_large_file_fail_with_a_sentence(root: Path) -> None:
    """Not refused, but not possible either."""
    with (root / "large").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    for path in ("none/plan.md", "large", "x" * 300):
        with pytest.raises(EffectError, match=r"\.$") as failed:
            read(root, path)
        assert not isinstance(failed.value, PathRefusedError)


@contextmanager
def opened_files() -> Iterator[list[Path]]:
    """Note what every open file of this process is, at the moment it is read."""
    seen: list[Path] = []
    original = os.fstat

    def noting(descriptor: int) -> os.stat_result:
        seen.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        return original(descriptor)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fstat", noting)
        yield seen


@examples(150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    path=st.lists(
        st.sampled_from(
            ["docs", "plan.md", "..", ".", "", "in", "out", "key", "~", "\\..", "%2e%2e", "．．"]
        ),
        max_size=5,
    ).map("/".join)
    | st.text(max_size=12)
)
@example("out/key")
@example("in/plan.md")
def test_no_path_opens_a_file_outside_the_root(root: Path, path: str) -> None:
    """Whatever is typed, either it is refused or what was opened lies under the root."""
    for link, target in (("in", "docs"), ("out", "../secret")):
        if not (root / link).is_symlink():
            (root / link).symlink_to(target)
    with opened_files() as seen, suppress(EffectError):
        read(root, path)
    assert all(name.is_relative_to(root) for name in seen)


def test_place_that_checks_nothing_is_seen_to_open_files_outside(root: Path) -> None:
    """Twin of the test above: its way of looking is not blind."""

    class Naive(Place):
        def _parts(self, path: str) -> tuple[str, ...]:
            return tuple(path.split("/"))

    with opened_files() as seen, Naive(root).folder("../secret/key") as (folder, name):
        assert read_file(folder, name) == b"secret"
    assert not any(name.is_relative_to(root) for name in seen)
