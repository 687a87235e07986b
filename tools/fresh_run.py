"""Tries `make run` as a newcomer would, for `tools/fresh.sh`: follows the printed link, and then stops the server.

Rule 1: only the standard library, for this runs before anything is installed.
Rule 2: every wait has an end, and the server is stopped by its process id, however this ends.
"""

import hashlib
import hmac
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

__all__ = ["main"]

ROOT = Path(__file__).resolve().parent.parent
KINDS = {"question", "gate", "confirm", "approval", "finding", "open_question"}
LINK = re.compile(r"(https?://\S+)/sign-in#(\S+)")
INSTALL_SECONDS = 900.0
ASK_SECONDS = 30.0
STOP_SECONDS = 20.0


class RunError(Exception):
    """What a newcomer would have met, in one sentence."""


def main() -> int:
    """Do it, and say in one line how it went."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the server is stopped then, too
    with tempfile.TemporaryDirectory(prefix="fresh-run-") as folder:
        made = subprocess.Popen(
            ["make", "--no-print-directory", "run"],
            cwd=ROOT,
            env={**os.environ, "TMPDIR": folder},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            url, code = read_link(made)
            took = meet_agents(url, code)
            stop(made)
            check_nothing_left(Path(folder))
        except (RunError, OSError) as error:
            print(f"fresh: make run: {error}", file=sys.stderr)
            return 1
        finally:
            if made.poll() is None:
                made.terminate()
                made.wait(STOP_SECONDS)
    print(f"fresh: asks of all {len(KINDS)} kinds {took:.1f} s after the first page; nothing is left behind")
    return 0


def read_link(made: "subprocess.Popen[bytes]") -> tuple[str, str]:
    """Return the address and the code that are printed; what is printed is shown, too."""
    assert made.stdout is not None
    said, until = "", time.monotonic() + INSTALL_SECONDS
    while "Ctrl-C stops it." not in said:
        if not select.select([made.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
            raise RunError("it printed no link in time")
        more = os.read(made.stdout.fileno(), 65_536).decode(errors="replace")
        if not more:
            raise RunError(f"it ended by itself with status {made.wait(STOP_SECONDS)}")
        print(more, end="", flush=True)
        said += more
    found = LINK.search(said)
    if found is None:
        raise RunError("it printed no link")
    return found[1], found[2]


def meet_agents(url: str, code: str) -> float:
    """Open the page, sign in, and wait until every kind of ask is there; return how long that took."""
    browser = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def call(path: str, body: "dict[str, str] | None" = None, **headers: str) -> Any:
        sent = None if body is None else json.dumps(body).encode()
        own = {"Origin": url, "Content-Type": "application/json", **headers}
        with browser.open(urllib.request.Request(url + path, sent, own), timeout=ASK_SECONDS) as reply:
            return reply.read()

    call("/")
    began = time.monotonic()
    signed = json.loads(call("/sign-in", {"code": code}))
    asked = {"session": signed["session"], "nonce": 64 * "0", "origin": url}
    boot = json.loads(call("/proof", asked))["boot"]
    for number in range(1, 10_000):
        counted = [boot, 32 * "0", str(number)]
        digest = hashlib.sha256(b"").hexdigest()
        told = "\n".join(["assent request", "GET", "/asks", digest, url, *counted])
        mac = hmac.new(bytes.fromhex(signed["key"]), told.encode(), "sha256").hexdigest()
        shown = ".".join([signed["session"], *counted, digest, mac])
        asks = json.loads(call("/asks", None, **{"Assent-Session": shown}))["asks"]
        if {ask["kind"] for ask in asks} == KINDS:
            return time.monotonic() - began
        if time.monotonic() > began + ASK_SECONDS:
            break
        time.sleep(0.1)
    raise RunError("its agents did not ask in time")


def stop(made: "subprocess.Popen[bytes]") -> None:
    """End it as a person would, and wait until it is gone."""
    made.send_signal(signal.SIGTERM)  # make hands it on to the server
    try:
        made.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        raise RunError("it does not stop") from None


def check_nothing_left(folder: Path) -> None:
    """Refuse a process or a file that is still there; a server that lost its make may take a moment to end."""
    until = time.monotonic() + STOP_SECONDS
    while left := [*processes_here(), *map(str, folder.glob("assent-demo-*"))]:
        if time.monotonic() > until:
            raise RunError(f"it left this behind: {'; '.join(left)}")
        time.sleep(0.1)


def processes_here() -> list[str]:
    """List the processes of the package in this folder."""
    if Path("/proc/self/cmdline").exists():  # a small machine has no ps
        told = [read_arguments(path) for path in Path("/proc").glob("[0-9]*/cmdline")]
    else:
        listed = subprocess.run(["ps", "-A", "-o", "args="], capture_output=True, text=True, check=True)
        told = listed.stdout.splitlines()
    return [line for line in told if str(ROOT / ".venv" / "bin") in line]


def read_arguments(path: Path) -> str:
    """Return what a process was started with; nothing of one that has just ended."""
    try:
        return path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


if __name__ == "__main__":
    sys.exit(main())
