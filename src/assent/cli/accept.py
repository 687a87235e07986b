"""A person accepts the commands of a repository's file at the terminal, or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from assent.client.accept import Acceptance
from assent.client.client import Client
from assent.client.door import run_call
from assent.protocol.ask import Ask
from assent.protocol.error import EffectError, StillOpen
from assent.surfaces.card import short_id
from assent.surfaces.race import answer_here
from assent.surfaces.terminal import TerminalSurface

__all__ = ["accepting"]


def accepting(
    asker: Client,
    typist: Client | None,
    terminal: TerminalSurface,
    file: str,
    digest: str,
    commands: Mapping[str, Sequence[str]],
    environ: Mapping[str, str],
) -> Callable[[], None]:
    """Return what to call before one of the `commands` of `file` is run.

    It raises:
        EffectError: no person has accepted it.
    """
    acceptance = Acceptance(asker.calls, file, digest, commands, environ)

    def check() -> None:
        if acceptance.is_given:
            return
        ask = run_call(acceptance.ask())
        if ask.is_open:
            ask = _ask(typist, terminal, ask, file)
        if not acceptance.settle(ask):
            raise EffectError(f"The command in {file} was not accepted, so it was not run.")

    return check


def _ask(typist: Client | None, terminal: TerminalSurface, ask: Ask, file: str) -> Ask:
    how = f"accept it with: assent answer {short_id(ask.ask_id)} Accept"
    if typist is None or terminal.is_piped:  # approvals are typed at a terminal, or given elsewhere
        raise EffectError(f"A person has to accept the command in {file} first; {how}.")
    try:
        return answer_here(terminal, typist, ask)
    except (EOFError, StillOpen):
        raise EffectError(f"The command in {file} was not accepted yet; {how}.") from None
