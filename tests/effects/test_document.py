"""Documents are replaced whole or not at all, and never over somebody else's change."""

import errno
import os
from pathlib import Path

import pytest

from assent.effects.document import DocumentWriter, document_performers
from assent.effects.performer import Intention, World, find_performer, intend, settle
from assent.effects.place import MAX_FILE_BYTES, Place
from assent.flows.document import Document, ReadDocument, WriteDocument
from assent.flows.step import Done, Effect, Failed
from assent.protocol.canonical import convert, digest
from assent.protocol.error import AssentError, BadRequestError

__all__: list[str] = []

OLD, NEW = b"# Plan\r\n\xff old\n", b"# Plan\r\n\xff new\n"
"""Not UTF-8 on purpose: what a flow does not mean to change stays."""


@pytest.fixture
def document(tmp_path: Path) -> Path:
    """Give a document with a mode of its own."""
    path = tmp_path / "plan.md"
    path.write_bytes(OLD)
    path.chmod(0o640)
    return path


def do(root: Path, effect: Effect) -> Done | Failed:
    """Have an effect done as a driver does it."""
    performer = find_performer(document_performers(root), effect)
    intention = intend(performer, effect)
    return intention if isinstance(intention, Failed) else settle(performer, intention)


def writing(before: bytes | None = OLD) -> WriteDocument:
    """Return the effect that makes the document new."""
    return WriteDocument("plan.md", None if before is None else digest(before), NEW)


def failure(root: Path, effect: Effect) -> str:
    """Return the code with which an effect fails, which must leave nothing behind."""
    before = {path.name: path.read_bytes() for path in root.iterdir() if path.is_file()}
    came = do(root, effect)
    assert isinstance(came, Failed)
    assert {path.name: path.read_bytes() for path in root.iterdir() if path.is_file()} == before
    return came.code


def test_document_is_read_with_its_digest(document: Path) -> None:
    """What a flow computes from is what it names when it writes."""
    came = do(document.parent, ReadDocument("plan.md"))
    assert isinstance(came, Done)
    assert convert(came.result, Document) == Document(OLD, digest(OLD))


def test_missing_document_is_read_as_none(tmp_path: Path) -> None:
    """That there is no file is a finding, too."""
    came = do(tmp_path, ReadDocument("none.md"))
    assert isinstance(came, Done)
    assert convert(came.result, Document) == Document(b"", None)


def test_document_is_replaced_and_keeps_its_mode(document: Path) -> None:
    """And nothing else lies in the folder afterwards."""
    assert do(document.parent, writing()) == Done()
    assert document.read_bytes() == NEW
    assert document.stat().st_mode & 0o7777 == 0o640
    assert list(document.parent.iterdir()) == [document]


def test_new_document_is_made_where_none_was(tmp_path: Path) -> None:
    """`before` says that there must be none."""
    assert do(tmp_path, writing(None)) == Done()
    assert (tmp_path / "plan.md").read_bytes() == NEW


@pytest.mark.parametrize("before", [b"something else", None], ids=["other content", "no file"])
def test_document_that_is_not_as_said_is_left_alone(document: Path, before: bytes | None) -> None:
    """Somebody saved it since the flow read it."""
    assert failure(document.parent, writing(before)) == "world_changed"


def test_document_that_vanished_is_not_made_again(document: Path) -> None:
    """Somebody took it away on purpose."""
    document.unlink()
    assert failure(document.parent, writing()) == "world_changed"


def test_change_at_the_last_moment_is_not_overwritten(
    document: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person saves while the new content is being written to disk."""
    flush = os.fsync

    def slow(descriptor: int) -> None:
        flush(descriptor)
        document.write_bytes(b"a person's change")

    monkeypatch.setattr(os, "fsync", slow)
    came = do(document.parent, writing())
    assert isinstance(came, Failed)
    assert (came.code, document.read_bytes()) == ("world_changed", b"a person's change")
    assert list(document.parent.iterdir()) == [document]


@pytest.mark.parametrize("call", ["fsync", "replace", "fchmod"])
def test_full_disk_leaves_the_document_and_no_scratch_file(
    document: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """One plain sentence, and everything as it was."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, full)
    assert failure(document.parent, writing()) == "effect_failed"


def test_folder_that_cannot_be_flushed_is_no_result_at_all(
    document: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The move is made but may not outlive a power cut: that is neither Done nor Failed, so the driver stops."""
    replace, flush = os.replace, os.fsync

    def moved(source: str, target: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        replace(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        monkeypatch.setattr(os, "fsync", broken)

    def broken(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "replace", moved)
    with pytest.raises(AssentError, match="does not say") as stopped:
        do(document.parent, writing())
    assert stopped.value.code == "error"
    monkeypatch.setattr(os, "fsync", flush)
    assert do(document.parent, writing()) == Done()


@pytest.mark.parametrize("mode", [0o444, 0o400, 0o555])
def test_document_without_any_write_bit_is_not_replaced(document: Path, mode: int) -> None:
    """A move over it would get around its mode; also for root, who may write everything."""
    document.chmod(mode)
    came = do(document.parent, writing())
    assert came == Failed("effect_failed", '"plan.md" is read-only.')
    assert (document.read_bytes(), document.stat().st_mode & 0o7777) == (OLD, mode)
    assert list(document.parent.iterdir()) == [document]


def test_document_that_this_user_may_not_write_is_not_replaced(
    document: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system has the last word, whatever bits there are."""
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    assert do(document.parent, writing()) == Failed("effect_failed", '"plan.md" is read-only.')
    assert document.read_bytes() == OLD


def test_document_that_became_read_only_after_it_was_intended_is_not_replaced(document: Path) -> None:
    """A flow may be resumed a day later."""
    writer = DocumentWriter(Place(document.parent))
    kept = writer.intend(writing())
    document.chmod(0o444)
    assert settle(writer, kept) == Failed("effect_failed", '"plan.md" is read-only.')
    assert document.read_bytes() == OLD


def test_read_only_document_that_was_written_already_is_done(document: Path) -> None:
    """Somebody who made it read-only between the crash and now takes nothing back."""
    writer = DocumentWriter(Place(document.parent))
    kept = writer.intend(writing())
    writer.perform(kept)
    document.chmod(0o444)
    assert settle(writer, kept) == Done()


def test_link_inside_the_root_stays_a_link(document: Path) -> None:
    """What it points to is replaced."""
    (document.parent / "README.md").symlink_to("plan.md")
    assert do(document.parent, WriteDocument("README.md", digest(OLD), NEW)) == Done()
    assert (document.parent / "README.md").is_symlink()
    assert document.read_bytes() == NEW


def test_hard_link_outside_the_root_keeps_its_content(
    document: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The document is moved over and not written through."""
    other = tmp_path_factory.mktemp("other") / "same"
    other.hardlink_to(document)
    assert do(document.parent, writing()) == Done()
    assert other.read_bytes() == OLD


@pytest.mark.parametrize(
    ("path", "code"),
    [("../plan.md", "path_refused"), ("none/plan.md", "effect_failed"), (".", "path_refused")],
)
def test_path_that_cannot_be_written_fails_before_anything_is_intended(
    document: Path, path: str, code: str
) -> None:
    """A refused effect leaves no intention behind."""
    effect = WriteDocument(path, None, NEW)
    came = intend(DocumentWriter(Place(document.parent)), effect)
    assert isinstance(came, Failed)
    assert came.code == code == failure(document.parent, effect)


def test_too_large_document_is_refused(tmp_path: Path) -> None:
    """The journal would have to keep all of it."""
    assert failure(tmp_path, WriteDocument("x", None, bytes(MAX_FILE_BYTES + 1))) == "effect_failed"


def test_look_tells_before_after_and_other_apart(document: Path) -> None:
    """The three things that a crash can leave."""
    writer = DocumentWriter(Place(document.parent))
    intention = writer.intend(writing())
    assert writer.look(intention) is World.BEFORE
    document.write_bytes(NEW)
    assert writer.look(intention) is World.AFTER
    document.write_bytes(b"else")
    assert writer.look(intention) is World.OTHER
    document.unlink()
    assert writer.look(intention) is World.OTHER


def test_scratch_file_of_a_crash_is_used_up_by_whoever_resumes(document: Path) -> None:
    """The intention names it, so nothing is left lying about."""
    writer = DocumentWriter(Place(document.parent))
    intention = writer.intend(writing())
    (document.parent / intention.scratch).write_bytes(NEW[:3])
    assert settle(writer, intention) == Done()
    assert list(document.parent.iterdir()) == [document]


@pytest.mark.parametrize("scratch", ["", "../x", "plan.md", "/etc/x"])
def test_scratch_name_that_was_not_made_here_is_refused(document: Path, scratch: str) -> None:
    """A journal that was tampered with names no file to be removed."""
    came = settle(DocumentWriter(Place(document.parent)), Intention("plan.md", digest(OLD), NEW, scratch))
    assert isinstance(came, Failed)
    assert (came.code, document.read_bytes()) == ("path_refused", OLD)


def test_effect_without_a_performer_is_refused() -> None:
    """What a flow may touch is what it was given, and nothing is skipped in silence."""
    with pytest.raises(BadRequestError, match="Nobody here performs WriteDocument"):
        find_performer({}, WriteDocument("plan.md", None, NEW))
