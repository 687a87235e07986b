"""`assent completion`: the script that teaches a shell our commands, options and open asks."""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class

from assent.cli.exit import DONE
from assent.cli.group import PlacedCommand, root

__all__ = ["command"]


@click.command("completion", cls=PlacedCommand)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> int:
    """Print the completion script for your shell. It completes commands, options and the ids of open asks.

    \b
      bash:  echo 'eval "$(assent completion bash)"' >> ~/.bashrc
      zsh:   echo 'eval "$(assent completion zsh)"' >> ~/.zshrc
      fish:  assent completion fish > ~/.config/fish/completions/assent.fish
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"There is no completion for {shell}.")
    # Not the subclass's own source(): it starts a bash only to look at its version.
    click.echo(ShellComplete.source(kind(root, {}, "assent", "_ASSENT_COMPLETE")))
    return DONE
