"""Help for people, and a start that loads almost nothing."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from assent import __version__
from assent.cli.table import COMMANDS
from tests.cli.shell import Result
from tests.patience import PATIENCE

__all__: list[str] = []

Call = Callable[..., Result]


def test_help_lists_every_command(call: Call) -> None:
    """By what people want to do."""
    shown = call("--help")
    assert (shown.status, shown.err) == (0, "")
    for name, entry in COMMANDS.items():
        assert f"  {name} " in shown.out
        assert entry.summary in " ".join(shown.out.split())


@pytest.mark.parametrize("name", [*COMMANDS])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_of_a_command_has_an_example(call: Call, name: str, flag: str) -> None:
    """A person copies the example before reading the options."""
    shown = call(name, flag)
    assert (shown.status, shown.err) == (0, "")
    assert (
        f"    assent {name}" in shown.out
        or f"assent {name} " in shown.out.partition("Options:")[0].partition("\n")[2]
    )
    assert "--store URL" in shown.out


def test_version_is_printed(call: Call) -> None:
    """The one that this person really has."""
    assert call("--version").out == f"assent {__version__}\n"


def test_unknown_command_ends_with_2_and_a_guess(call: Call) -> None:
    """A slip of the finger."""
    refused = call("inbx")
    assert (refused.status, refused.out) == (2, "")
    assert 'There is no command "inbx". Did you mean inbox?' in refused.err


def test_help_loads_click_and_the_table_only() -> None:
    """So it is there at once: no store, no codec, no room but this one and the errors."""
    code = (
        "import sys; from assent.cli.exit import run; run(['--help']); "
        "print([name for name in sys.modules if name.startswith(('assent', 'msgspec', 'apsw', 'asyncio'))], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    loaded = {name.strip(" '") for name in done.stderr.strip("[]\n").split(",")}
    assert loaded == {
        "assent",
        "assent.cli",
        "assent.cli.exit",
        "assent.cli.group",
        "assent.cli.place",
        "assent.cli.table",
        "assent.protocol",
        "assent.protocol.error",
    }
