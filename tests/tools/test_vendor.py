"""The files of others that are kept here are what their pins give, to the byte."""

import hashlib
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tools import vendor
from tools.npm_pack import Package, PackageError
from tools.vendor import KEPT, Part, differing, main, plain_module

__all__: list[str] = []


def test_kept_files_are_what_is_recorded() -> None:
    """What the page is sent is what its authors published, and no edit of ours."""
    assert differing(vendor.ROOT) == []
    assert main(["--check"]) == 0


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: Path(kept.place).name)
def test_edit_by_hand_is_noticed(tmp_path: Path, kept: vendor.Kept) -> None:
    """Twin of the test above: one byte more, or no file."""
    for each in KEPT:
        (tmp_path / each.place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(vendor.ROOT / each.place, tmp_path / each.place)
    assert differing(tmp_path) == []
    with (tmp_path / kept.place).open("ab") as file:
        file.write(b"\n")
    assert differing(tmp_path) == [kept.place]
    (tmp_path / kept.place).unlink()
    assert differing(tmp_path) == [kept.place]


def test_check_says_what_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is for a script to act on, so it ends with a status."""
    monkeypatch.setattr(vendor, "ROOT", tmp_path)
    assert main(["--check"]) == 1


def test_module_loses_its_source_map_and_nothing_else() -> None:
    """The comment alone goes, for a whole module may stand on its line."""
    source = b'import{a}from"other";export{a};//# sourceMappingURL=x.js.map'
    assert plain_module(source, {"other": "./other.js"}) == b'import{a}from"./other.js";export{a};\n'
    assert plain_module(b"export{a};\n//# sourceMappingURL=x.js.map\n", {}) == b"export{a};\n"


@pytest.mark.parametrize("source", [b'import{a}from"other"', b"import 'other'", b'await import("other")'])
def test_module_with_a_bare_import_is_refused(source: bytes) -> None:
    """No browser finds it without an import map, which the page's policy does not allow."""
    with pytest.raises(PackageError, match="bare name"):
        plain_module(source, {})


def test_licences_of_what_is_sent_lie_beside_it() -> None:
    """Both licences ask for their text to go along; that of axe is in its head."""
    told = (vendor.ROOT / KEPT[3].place).read_text()
    assert "preact 10.29.8" in told
    assert "htm 3.1.1" in told
    assert "The MIT License" in told
    assert "Apache License" in told
    assert "Mozilla Public" in (vendor.ROOT / KEPT[4].place).read_text()[:600]


def test_package_that_gives_another_file_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it is compared before the first file is written."""
    package = Package("a", "1", "sha512-none")
    source = b"export const a = 1;\n"
    archive = tmp_path / "a.tgz"
    (tmp_path / "a.js").write_bytes(source)
    with tarfile.open(archive, "w:gz") as made:
        made.add(tmp_path / "a.js", "package/a.js")

    @contextmanager
    def fetched(_: Package) -> Iterator[tarfile.TarFile]:
        with tarfile.open(archive) as opened:
            yield opened

    good = vendor.Kept("kept/a.js", (Part(package, "a.js"),), hashlib.sha256(source).hexdigest(), {})
    bad = vendor.Kept("kept/b.js", (Part(package, "a.js"),), 64 * "0", {})
    monkeypatch.setattr(vendor, "fetched", fetched)
    monkeypatch.setattr(vendor, "ROOT", tmp_path)
    monkeypatch.setattr(vendor, "KEPT", (good, bad))
    assert main([]) == 1
    assert not (tmp_path / "kept").exists()
    monkeypatch.setattr(vendor, "KEPT", (good,))
    assert main([]) == 0
    assert (tmp_path / "kept" / "a.js").read_bytes() == source
