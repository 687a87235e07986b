"""`assent install`: connects an agent's host to the inbox by its own settings file, and takes that out again.

Rule 1: what will change is shown first, and a person says yes. Where an agent runs this, it is refused.
Rule 2: the file is replaced whole or not at all, and the one that was there before ours is kept beside it. A removal puts
        its very bytes back, where they say what is to be left.
Rule 3: a file that lies elsewhere than it seems to is not touched: links come with a repository.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import click

from assent.cli.exit import DONE, REFUSED, say
from assent.cli.group import PlacedCommand
from assent.cli.hook import DEFAULT_WAIT_SECONDS, check_patterns, watching
from assent.cli.place import Place
from assent.hosts.claude_code.glance import HOST
from assent.hosts.claude_code.settings import Settings, Wish
from assent.protocol.policy import parse_category

__all__ = ["BACKUP", "command"]

BACKUP = ".before-assent"
"""What the name of the file that was there before ends in."""


class _Change(NamedTuple):
    path: Path
    before: str | None
    after: str
    is_restored: bool = False
    """What comes after is the file that was kept."""
    is_kept: bool = True
    """What was before is to be kept: it has nothing of ours."""


@click.command("install", cls=PlacedCommand)
@click.argument("host", metavar="HOST", type=click.Choice([HOST]))
@click.option("--user", "is_user", is_flag=True, help="For all your projects. [default: for this project]")
@watching
@click.option("--mcp", "with_server", is_flag=True, help="Give the agent the tools of assent mcp, too.")
@click.option("--remove", is_flag=True, help="Take out what this has written, and nothing else.")
@click.option("--yes", is_flag=True, help="Write without asking first.")
@click.pass_obj
def command(  # noqa: PLR0913 - one argument for each option
    place: Place,
    /,
    host: str,
    patterns: tuple[str, ...],
    confirmed: tuple[str, ...],
    category: str,
    wait: timedelta | None,
    *,
    is_user: bool,
    with_server: bool,
    remove: bool,
    yes: bool,
) -> int:
    """Connect an agent's host to your inbox, or disconnect it.

    Shows what will change in the host's settings, and asks you before it writes. What the agent's host wants to know
    can then be answered anywhere: questions, requests for permission. A call that matches a PATTERN happens only after
    a person approved exactly that call, or, with --confirm, after somebody said yes in the host's own dialog or in the
    inbox; it stays so until --remove. No permission is ever loosened.

    \b
      assent install claude-code
      assent install claude-code --ask 'Bash(rm *)' --ask 'Bash(git push *)'
      assent install claude-code --remove

    Exit status: 0 it is as you wanted, 2 it cannot be, 4 refused: you said no, or an agent runs this.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    _check_person(place)
    if with_server and is_user:
        raise click.UsageError(
            "--mcp is for a project; for all of them there is: claude mcp add --scope user."
        )
    check_patterns((*patterns, *confirmed))
    _check_store(place)
    folder = _user_folder(place) if is_user else _project_folder()
    program = _program(is_user=is_user)
    seconds = DEFAULT_WAIT_SECONDS if wait is None else int(wait.total_seconds())
    if category:
        parse_category(category)
    wish = Wish(program, patterns, seconds, confirmed, place.store, place.project, category)
    changes = [_settings_change(folder, is_user, None if remove else wish)]
    if with_server or (remove and not is_user):
        changes.append(_server_change(folder, None if remove else wish))
    due = [change for change in changes if change.after != (change.before or "")]
    if not due:
        say(f"Nothing is to be changed in {changes[0].path}.")
        return DONE
    for change in due:
        _show(change)
    if not yes and not _is_wanted():
        say("Nothing was changed.")
        return REFUSED
    for change in due:
        _write(change, folder)
    if not remove and shutil.which(program) is None:
        say(f"{program} is not on the path here, and the host must find it there.")
    verb = "disconnected from" if remove else "connected to"
    say(f"{host} is {verb} your inbox. Start a new session of it: settings are read at its start.")
    return DONE


def _check_person(place: Place) -> None:
    from assent.client.identity import agent_mark
    from assent.protocol.error import ForbiddenError

    mark = agent_mark(place.environ)
    if mark is not None:
        raise ForbiddenError(
            f"{mark} is set, so an agent runs this command, and only a person says what a host asks."
        )


def _check_store(place: Place) -> None:
    """Refuse to write a secret into a file that others read."""
    from assent.client.place import is_database

    if place.store and is_database(place.store) and place.shown != place.store:
        raise click.UsageError(
            "An address with a password or settings is not written into the host's settings: set ASSENT_STORE."
        )


def _user_folder(place: Place) -> Path:
    given = place.environ.get("CLAUDE_CONFIG_DIR")
    return Path(given) if given else Path.home() / ".claude"


def _project_folder() -> Path:
    from assent.client.place import find_working_tree

    return find_working_tree(Path.cwd())


def _program(*, is_user: bool) -> str:
    """Return how the hook is started: by its name, so that a project's settings fit every machine."""
    if shutil.which("assent"):
        return "assent"
    here = Path(sys.argv[0]).resolve()
    if is_user and here.name == "assent" and os.access(here, os.X_OK):
        return str(here)
    return "assent"


def _settings_change(folder: Path, is_user: bool, wish: Wish | None) -> _Change:
    from assent.hosts.claude_code.settings import are_left, connect, disconnect

    path = folder / "settings.json" if is_user else folder / ".claude" / "settings.json"

    def change(settings: Settings) -> Settings:
        if wish is not None and settings.get("disableAllHooks"):
            say(f"disableAllHooks is set in {path}: Claude Code starts no hook until it is taken out.")
        if wish is None and are_left(settings):
            say(f"A hook in {path} starts assent together with something else: it is left as it is.")
        return disconnect(settings, str(path)) if wish is None else connect(settings, wish, str(path))

    return _change(path, folder, change, lambda settings: disconnect(settings, str(path)))


def _server_change(folder: Path, wish: Wish | None) -> _Change:
    from assent.hosts.claude_code.settings import connect_server, disconnect_server

    path = folder / ".mcp.json"

    def change(settings: Settings) -> Settings:
        return disconnect_server(settings) if wish is None else connect_server(settings, wish, str(path))

    return _change(path, folder, change, disconnect_server)


def _change(
    path: Path,
    folder: Path,
    change: Callable[[Settings], Settings],
    disconnect: Callable[[Settings], Settings],
) -> _Change:
    """Return what becomes of a file; `disconnect` takes out what is ours."""
    from assent.hosts.claude_code.settings import parse_settings, render_settings
    from assent.protocol.error import AssentError

    before = _read(path, folder)
    settings = parse_settings(before or "", str(path))
    changed, without = change(settings), disconnect(settings)
    is_kept = without == settings
    if changed == settings:
        return _Change(path, before, before or "")
    if changed == without:
        with suppress(AssentError, OSError):
            kept = _read(_backup_of(path), folder)
            if kept is not None and parse_settings(kept, str(path)) == changed:
                return _Change(path, before, kept, is_restored=True, is_kept=False)
    return _Change(path, before, render_settings(changed, before or ""), is_kept=is_kept)


def _read(path: Path, folder: Path) -> str | None:
    """Return the text of a file, None where there is none."""
    from assent.protocol.error import BadRequestError, PathRefusedError

    if not path.resolve().is_relative_to(folder.resolve()):
        raise PathRefusedError(f"{path} leads out of {folder}, so it was left as it is.")
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise BadRequestError(f"{path} is no text in UTF-8, so it was left as it is.") from None


def _backup_of(path: Path) -> Path:
    whole = path.resolve()
    return whole.with_name(whole.name + BACKUP)


def _show(change: _Change) -> None:
    from difflib import unified_diff

    from assent.protocol.display import display

    before = (change.before or "").splitlines()
    name = str(change.path)
    for line in unified_diff(before, change.after.splitlines(), name, name, lineterm=""):
        click.echo(display(line, lines=False))


def _is_wanted() -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise click.UsageError("Nobody can be asked here. Look at what would change, and say --yes.")
    return click.confirm("Write this?", default=False, err=True)


def _write(change: _Change, folder: Path) -> None:
    from assent.protocol.error import ConflictError

    if _read(change.path, folder) != change.before:
        raise ConflictError(f"{change.path} was changed by somebody else in the meantime: run this again.")
    target = change.path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    kept = _backup_of(change.path)
    if change.before is not None and change.is_kept:
        _replace(kept, change.before, like=target)
    if change.after:
        _replace(target, change.after, like=target)
    else:
        target.unlink()
    if change.is_restored:
        kept.unlink(missing_ok=True)


def _replace(path: Path, text: str, *, like: Path) -> None:
    """Put a file in the place of another one, in one step."""
    made, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(made, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        mode = like.stat().st_mode & 0o777 if like.exists() else 0o644
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
