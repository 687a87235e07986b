"""What a process of tests inherits from whoever started it, made as a person's own shell has it.

Programs that tests start inherit it in turn: a shell's background is deaf to Ctrl-C, `nohup` to the end of a terminal, and
a service may have closed the standard streams, whose numbers the next files would get.
"""

import os
import signal
from typing import Any

__all__ = ["make_usual"]

_STANDARD = (0, 1, 2)
# SIGPIPE is ignored by every Python, which undoes it for the programs that it starts.
_USUAL: dict[signal.Signals, Any] = {
    signal.SIGHUP: signal.SIG_DFL,
    signal.SIGINT: signal.default_int_handler,
    signal.SIGQUIT: signal.SIG_DFL,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGTSTP: signal.SIG_DFL,
    signal.SIGTTIN: signal.SIG_DFL,
    signal.SIGTTOU: signal.SIG_DFL,
    signal.SIGCHLD: signal.SIG_DFL,
    signal.SIGALRM: signal.SIG_DFL,
    signal.SIGUSR1: signal.SIG_DFL,
    signal.SIGUSR2: signal.SIG_DFL,
}


def make_usual() -> None:
    """Heed every signal again, let none wait, and open the standard streams that are closed."""
    for number, usual in _USUAL.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for descriptor in _STANDARD:
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free number: this one
