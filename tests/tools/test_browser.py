"""A browser is found, or fetched, or its absence is told in one sentence."""

import os
import platform
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tools import browser, node
from tools.browser import BrowserError, find, main
from tools.browser_pipe import can_draw
from tools.node import find_node
from tools.npm_pack import Package

__all__: list[str] = []

GIVEN = os.environ.get("ASSENT_BROWSER", "")  # now: for the tests themselves the variable is gone


@pytest.fixture(scope="module", name="real")
def _real() -> str:
    found = GIVEN or browser.look()
    assert found, "No Chromium is here: `make test` fetches one."
    return found


class Machine:
    """A path with nothing on it but what a test puts there."""

    def __init__(self, folder: Path, real: str) -> None:
        self.bin, self.real = folder / "bin", real
        self.bin.mkdir()

    def put(self, name: str, script: str) -> Path:
        """Put a program on the path."""
        program = self.bin / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return program

    def put_browser(self, name: str) -> Path:
        """Put a browser that works on the path."""
        return self.put(name, self.starting)

    @property
    def starting(self) -> str:
        """The line that starts the browser."""
        return f'PATH=/usr/bin:/bin exec "{self.real}" "$@"'


@pytest.fixture(name="machine")
def _machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real: str) -> Machine:
    machine = Machine(tmp_path, real)
    monkeypatch.setenv("PATH", str(machine.bin))
    monkeypatch.setattr(browser, "HOME", tmp_path / "browser")
    return machine


def test_browser_that_is_named_is_taken(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before all that is on the path."""
    machine.put_browser("chromium")
    named = machine.put_browser("mine")
    monkeypatch.setenv("ASSENT_BROWSER", str(named))
    assert find() == str(named)


@pytest.mark.usefixtures("machine")
def test_person_who_wants_none_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is fetched."""
    monkeypatch.setenv("ASSENT_BROWSER", "none")
    monkeypatch.setattr(browser, "fetch", lambda: "fetched")
    assert find() == "none"


@pytest.mark.usefixtures("machine")
def test_name_of_no_browser_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever named one does not want another."""
    monkeypatch.setenv("ASSENT_BROWSER", "/bin/true")
    assert main() == 1
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert "ASSENT_BROWSER names /bin/true" in told.err


def test_browser_on_the_path_that_does_not_run_is_passed_over(machine: Machine) -> None:
    """A stub that tells people to install something is none."""
    machine.put("chromium-headless-shell", "echo install it first >&2; exit 1")
    working = machine.put_browser("google-chrome")
    assert find() == str(working)


def test_program_that_says_nothing_is_no_browser(machine: Machine) -> None:
    """It is given its time, and ended."""
    silent = machine.put("chromium", "PATH=/usr/bin:/bin; echo $$ >&2; exec sleep 600")
    assert not can_draw(silent, 0.5)


def test_browser_without_fonts_is_passed_over(machine: Machine, tmp_path: Path) -> None:
    """To it every text is hidden; it starts, and is of no use."""
    empty = tmp_path / "fonts.conf"
    empty.write_text('<?xml version="1.0"?><fontconfig></fontconfig>')
    machine.put("chromium", f'FONTCONFIG_FILE="{empty}" {machine.starting}')
    working = machine.put_browser("google-chrome")
    assert find() == str(working)


def test_root_installs_one(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what a bare machine lacks for it: a font."""
    told = machine.bin / "told"
    inner = machine.starting.replace('"', '\\"').replace("$", "\\$")
    machine.put("env", 'shift; exec "$@"')
    machine.put(
        "apt-get",
        f'echo "$@" >> "{told}"\n'
        f'case "$*" in *install*) printf "#!/bin/sh\\n%s\\n" "{inner}" > "{machine.bin}/chromium-headless-shell"\n'
        f'PATH=/usr/bin:/bin chmod 755 "{machine.bin}/chromium-headless-shell";; esac',
    )
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert find() == str(machine.bin / "chromium-headless-shell")
    update, install = told.read_text().splitlines()
    assert update.endswith(" update")
    assert install.endswith(" --no-install-recommends chromium-headless-shell fonts-dejavu-core")


def test_nobody_is_asked_for_a_password(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without rights apt-get is not started, and one sentence tells all that was tried and what to do."""
    monkeypatch.setattr(node, "wheel_folder", lambda: None)
    machine.put("apt-get", f'echo "$@" > "{machine.bin}/told"')
    machine.put("sudo", "exit 1")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(BrowserError) as refused:
        find()
    assert not (machine.bin / "told").exists()
    told = str(refused.value)
    assert "a sudo that asks for no password" in told
    assert "node" in told
    assert "Install one, name one with ASSENT_BROWSER=PATH, or do without with ASSENT_BROWSER=none" in told


def test_apt_that_fails_is_told_with_its_last_words(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the next way is tried."""
    monkeypatch.setattr(node, "wheel_folder", lambda: None)
    machine.put("env", 'shift; exec "$@"')
    machine.put("apt-get", "echo E: Unable to locate package; exit 100")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(BrowserError, match=r"status 100 \(E: Unable to locate package\); .*node"):
        find()


def test_package_of_npm_is_unpacked_once(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Into a folder of its own, whole or not at all; the next who looks finds it there."""
    archive = pack(tmp_path, f"#!/bin/sh\n{machine.starting}\n")
    fetches = []

    @contextmanager
    def fetched(package: Package) -> Iterator[tarfile.TarFile]:
        fetches.append(package.spec)
        with tarfile.open(archive) as opened:
            yield opened

    monkeypatch.setattr(browser, "fetched", fetched)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    for tool in ("dirname", "readlink"):
        machine.put(tool, f'exec /usr/bin/{tool} "$@"')
    assert [find(), find()] == [str(browser.fetched_path())] * 2
    assert fetches == [browser.CHROMIUM.spec]
    assert {entry.name for entry in browser.HOME.iterdir()} == {"lock", browser.fetched_path().parent.name}


def pack(folder: Path, program: str) -> Path:
    """Make a package as the one that npm has, with a program of ours in the place of the browser."""
    inside = folder / "inside"
    inside.mkdir()
    (inside / "chromium").write_text(program)
    for name in ("al2023.tar", "fonts.tar", "swiftshader.tar"):
        tarfile.open(inside / name, "w").close()
    script = """
    const fs = require("fs"), { brotliCompressSync } = require("zlib");
    for (const path of process.argv.slice(1)) fs.writeFileSync(path + ".br", brotliCompressSync(fs.readFileSync(path)));
    """
    subprocess.run([find_node(), "-e", script, *map(str, inside.iterdir())], timeout=PATIENCE, check=True)
    archive = folder / "chromium.tgz"
    with tarfile.open(archive, "w:gz") as made:
        for packed in inside.glob("*.br"):
            made.add(packed, f"package/bin/{packed.name}")
    return archive


def test_second_who_looks_waits_for_the_first(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """And takes what that one fetched."""
    is_waiting = threading.Event()
    monkeypatch.setattr(browser, "say", lambda _: is_waiting.set())
    monkeypatch.setattr(browser, "fetch", lambda: "fetched a second time")
    found: list[str] = []
    second = threading.Thread(target=lambda: found.append(find()), daemon=True)
    with browser.alone():
        second.start()
        assert is_waiting.wait(PATIENCE)
        put = machine.put_browser("chromium")
    second.join(PATIENCE)
    assert found == [str(put)]
