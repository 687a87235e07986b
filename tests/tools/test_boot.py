"""uv is found on any Python: with pip, with the pip that venv carries, with an index and the standard library, or not at all."""

import base64
import hashlib
import json
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.missing import MISSING, RecordProperty
from tests.patience import PATIENCE
from tools import boot
from tools.page import ROOT

__all__: list[str] = []

FIND = """
import json, sys, sysconfig
from pathlib import Path
sys.modules["ensurepip"] = None
sysconfig.get_config_vars()["WHEEL_PKG_DIR"] = None
from tests.missing import MISSING, RecordProperty
from tools import boot
boot.BOOT, boot.LOCK, boot.WHEELS = Path(sys.argv[1]), Path(sys.argv[2]), tuple(map(Path, sys.argv[3:]))
try:
    print(json.dumps(boot.find_uv()))
except boot.BootError as error:
    print(json.dumps({"error": str(error)}))
"""
PIP = """
import json, os, pathlib, sys
if "--version" not in sys.argv:
    uv = pathlib.Path(sys.argv[sys.argv.index("--target") + 1]) / "bin" / "uv"
    uv.parent.mkdir(parents=True)
    uv.write_text(json.dumps([sys.argv[1:], os.environ["PIP_USER"]]))
"""


class BarePython:
    """A real Python without pip, which is told that it carries none either, and a machine that has no uv."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run(
            [sys.executable, "-m", "venv", "--without-pip", folder / "python"], timeout=PATIENCE, check=True
        )
        (self.modules,) = (folder / "python" / "lib").glob("python3*/site-packages")
        self.boot, self.lock = folder / ".boot", folder / "boot.txt"
        self.lock.write_text(f"uv==1.0 \\\n    --hash=sha256:{'0' * 64}\n")

    def find(self, *wheels: Path, **environ: str) -> str | dict[str, str]:
        """Look for uv; return its path, or the sentence that says why there is none."""
        done = subprocess.run(
            [self.folder / "python" / "bin" / "python", "-c", FIND, self.boot, self.lock, *wheels],
            cwd=ROOT,
            env={
                "PATH": str(self.folder / "bin"),
                "HOME": str(self.folder),
                "PIP_CONFIG_FILE": os.devnull,
                "UV_NO_CONFIG": "1",
                **environ,
            },
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found: str | dict[str, str] = json.loads(done.stdout)
        return found

    @property
    def leftovers(self) -> list[str]:
        """What stands beside .boot and was fetched in part."""
        return [path.name for path in self.folder.glob(".boot-*")]

    def put_pip(self, folder: Path) -> None:
        """Put a stand-in for pip into a folder; it notes what it was asked for."""
        (folder / "pip").mkdir(parents=True)
        (folder / "pip" / "__main__.py").write_text(PIP)
        (folder / "pip" / "__init__.py").write_text("")

    def put_wheel(self, folder: Path, content: str = "echo uv") -> Path:
        """Write a wheel of uv, and the lock that names it."""
        folder.mkdir(exist_ok=True)
        path = folder / "uv-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            program = zipfile.ZipInfo("uv-1.0.data/scripts/uv")
            program.external_attr = 0o100755 << 16
            wheel.writestr(program, f"#!/bin/sh\n{content}\n")
            wheel.writestr("uv-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: uv\nVersion: 1.0\n")
            wheel.writestr(
                "uv-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n"
            )
            wheel.writestr("uv-1.0.dist-info/RECORD", "uv-1.0.data/scripts/uv,,\n")
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        self.lock.write_text(f"# A lock.\nuv==1.0 \\\n    --hash=sha256:{found}\n")
        return path

    def says(self) -> str:
        """Return what the uv that was fetched says."""
        told = subprocess.run(
            [self.boot / "bin" / "uv"], capture_output=True, text=True, timeout=PATIENCE, check=True
        )
        return told.stdout.strip()


@pytest.fixture(name="bare")
def _bare(tmp_path: Path) -> BarePython:
    return BarePython(tmp_path)


def test_uv_on_the_path_is_taken(bare: BarePython) -> None:
    """Nothing is fetched then."""
    uv = bare.folder / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text("#!/bin/sh\n")
    uv.chmod(0o755)
    assert bare.find() == str(uv)
    assert not bare.boot.exists()


def test_pip_of_this_python_fetches_it_once(bare: BarePython) -> None:
    """With its hash, into a folder of the project, whatever a person set for their own installs."""
    bare.put_pip(bare.modules)
    uv = bare.boot / "bin" / "uv"
    assert bare.find(PIP_USER="1") == str(uv)
    words, user = json.loads(uv.read_text())
    assert {"install", "--require-hashes", str(bare.lock)} <= set(words)
    assert user == "0"
    uv.write_text("as it was")
    assert bare.find() == str(uv)
    assert uv.read_text() == "as it was"


def test_wheel_of_pip_that_the_system_carries_is_as_good(bare: BarePython) -> None:
    """Debian's venv package has one, and its Python alone cannot import it."""
    wheels = bare.folder / "wheels"
    bare.put_pip(wheels)
    (wheels / "pip").rename(wheels / "inside")
    with zipfile.ZipFile(wheels / "pip-1.0-py3-none-any.whl", "w") as wheel:
        for path in (wheels / "inside").iterdir():
            wheel.write(path, f"pip/{path.name}")
    assert bare.find(wheels) == str(bare.boot / "bin" / "uv")


def test_real_pip_that_venv_carries_installs_what_is_locked(
    bare: BarePython, record_property: RecordProperty
) -> None:
    """And refuses what is not. A Python may carry none, as Debian's does without its venv package."""
    wheels = [Path(extra["PYTHONPATH"]).parent for extra in boot.pips() if extra]
    if not wheels:
        record_property(
            MISSING, "the wheel of pip that venv installs, so its way to uv was tried with a stand-in"
        )
        return
    links = bare.put_wheel(bare.folder / "links").parent
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(links)}
    assert bare.find(wheels[0], **offline) == str(bare.boot / "bin" / "uv")
    assert bare.says() == "uv"
    (bare.boot / "bin" / "uv").unlink()
    lock = bare.lock.read_text()
    bare.put_wheel(links, "echo another")
    bare.lock.write_text(lock)
    told = bare.find(wheels[0], **offline)
    assert told == {"error": "pip could not fetch uv (status 1); its own words are above."}
    assert (bare.boot.exists(), bare.leftovers) == (False, [])


def test_python_without_pip_or_index_is_told_what_to_install(bare: BarePython) -> None:
    """One sentence, with the package of each system."""
    told = bare.find()
    assert isinstance(told, dict)
    for word in (
        "apt-get install python3-venv",
        "dnf install python3-pip",
        "brew install uv",
        "PIP_INDEX_URL",
    ):
        assert word in told["error"]
    assert told["error"].count(". ") == 0


@pytest.mark.parametrize("name", ["PIP_FIND_LINKS", "UV_FIND_LINKS"])
def test_folder_that_is_named_is_enough_without_pip(bare: BarePython, name: str) -> None:
    """The standard library takes the wheel from it, and the program out of the wheel."""
    links = bare.put_wheel(bare.folder / "links").parent
    assert bare.find(**{name: str(links)}) == str(bare.boot / "bin" / "uv")
    assert bare.says() == "uv"


def test_wheel_that_is_not_the_locked_one_is_refused_without_pip(bare: BarePython) -> None:
    """Whoever handed it over; nothing of it stays."""
    links = bare.put_wheel(bare.folder / "links").parent
    lock = bare.lock.read_text()
    bare.put_wheel(links, "echo another")
    bare.lock.write_text(lock)
    told = bare.find(PIP_FIND_LINKS=str(links))
    assert isinstance(told, dict)
    assert "uv-1.0-py3-none-any.whl" in told["error"]
    assert "is not the file that is locked" in told["error"]
    assert (bare.boot.exists(), bare.leftovers) == (False, [])


class Index(BaseHTTPRequestHandler):
    """A simple index with one package; it wants a name and a password, and keeps its files on another host."""

    wheel: Path
    asked: list[tuple[str, str, str | None]]
    elsewhere: str

    def do_GET(self) -> None:
        """Answer with the page of the package, a redirect, or the file."""
        given = self.headers.get("Authorization")
        host = str(self.headers.get("Host"))
        self.asked.append((host.partition(":")[0], self.path, given))
        if self.path == "/simple/uv/":
            self.send_response(200 if given else 401)
            self.end_headers()
            if given:
                name = self.wheel.name
                links = [
                    '<a href="../../other/uv-0.9-py3-none-any.whl#sha256=0">uv-0.9</a>',
                    '<a href="../../other/uv-1.0-py3-none-win_amd64.whl">uv</a>',
                    f'<a href="http://{host}/files/{name}#sha256=0">{name}</a>',
                ]
                self.wfile.write(b"<!DOCTYPE html><br>" + "".join(links).encode())
        elif self.path.startswith("/files/"):
            self.send_response(302)
            self.send_header("Location", f"{self.elsewhere}/kept/{self.wheel.name}")
            self.end_headers()
        else:
            is_kept = self.path.startswith("/kept/")
            self.send_response(200 if is_kept else 404)
            self.end_headers()
            self.wfile.write(self.wheel.read_bytes() if is_kept else b"")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def an_index(wheel: Path) -> Iterator[tuple[str, list[tuple[str, str, str | None]]]]:
    """Give the address of an index without its scheme, and the list of what it was asked."""
    asked: list[tuple[str, str, str | None]] = []
    handler = type("ThisIndex", (Index,), {"wheel": wheel, "asked": asked})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        port = server.server_address[1]
        handler.elsewhere = f"http://localhost:{port}"  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{port}/simple", asked
        finally:
            server.shutdown()
            thread.join(PATIENCE)


def test_index_that_is_named_is_enough_without_pip(bare: BarePython) -> None:
    """Its page is read, the one file that fits is fetched, and the password goes to its own host alone."""
    wheel = bare.put_wheel(bare.folder / "links")
    with an_index(wheel) as (place, asked):
        found = bare.find(PIP_INDEX_URL=f"http://ana:p%40ss@{place}/")
    assert found == str(bare.boot / "bin" / "uv")
    allowed = "Basic " + base64.b64encode(b"ana:p@ss").decode()
    assert asked == [
        ("127.0.0.1", "/simple/uv/", allowed),
        ("127.0.0.1", f"/files/{wheel.name}", allowed),
        ("localhost", f"/kept/{wheel.name}", None),
    ]


def test_index_that_refuses_is_told_without_the_password(bare: BarePython) -> None:
    """What is printed ends up in logs."""
    wheel = bare.put_wheel(bare.folder / "links")
    with an_index(wheel) as (place, _):
        told = bare.find(UV_DEFAULT_INDEX=f"http://{place}")
        missing = bare.find(UV_DEFAULT_INDEX=f"http://ana:secret@{place}/none")
    assert isinstance(told, dict)
    assert f"uv 1.0 cannot be had: http://{place}/uv/ cannot be read (Unauthorized)." == told["error"]
    assert missing == {"error": f"uv 1.0 cannot be had: http://{place}/none/uv/ cannot be read (Not Found)."}
