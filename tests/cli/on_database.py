"""A shell whose store is a database, named by ASSENT_STORE with a password that nobody may ever see."""

from pathlib import Path

from tests.cli.shell import Result, Shell

__all__ = ["SECRET", "DatabaseShell", "with_secret"]

SECRET = "hunter2-p4ss"


def with_secret(url: str) -> str:
    """Return the address with a password in it."""
    return url.replace("postgres@", f"postgres:{SECRET}@")


class DatabaseShell(Shell):
    """Starts `assent` on a database; whatever it says is looked through for the password."""

    def __init__(self, folder: Path, url: str) -> None:
        super().__init__(folder)
        self.url = with_secret(url)

    def environ(self, **changes: str | None) -> dict[str, str]:
        """Return the environment, with the database as the store."""
        return super().environ(**{"ASSENT_STORE": self.url, **changes})

    def run(self, *arguments: str, typed: str | None = None, **changes: str | None) -> Result:
        """Run `assent` without a terminal."""
        ended = super().run(*arguments, typed=typed, **changes)
        assert SECRET not in ended.out + ended.err
        assert "Traceback" not in ended.err
        return ended
