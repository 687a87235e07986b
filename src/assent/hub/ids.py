"""The only file that mints ids.

Ids begin with the time, so that index pages are appended to and not scattered, and end in chance. People type the
end: any unambiguous end of an id will do.
"""

from __future__ import annotations

import hmac
import os
import random
import secrets
import time
from base64 import b64encode

from assent.protocol.ask import AskId
from assent.protocol.notification import PREFIXES, NotificationId, NotificationKind
from assent.protocol.principal import Principal
from assent.protocol.receipt import ReceiptId
from assent.protocol.run import Mode, RunId
from assent.protocol.task import TaskId
from assent.protocol.token import SECRET_BYTES, SECRET_PREFIX, TokenId

__all__ = [
    "CommandIds",
    "driver_name",
    "is_ask_id",
    "is_repeatable",
    "new_ask_id",
    "new_boot_id",
    "new_command_id",
    "new_frame_id",
    "new_request_id",
    "new_run_id",
    "new_session_name",
    "new_sign_in_code",
    "new_signing_secret",
    "new_store_mark",
    "new_token_id",
    "new_token_secret",
    "opening_command_id",
]

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Without i, l, o, u: nobody mistakes one for another."""
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
"""Ten bits at a time."""
_PAIR = len(_PAIRS) - 1
_CODE_BYTES = 24
_MARK_BYTES = 16
_SIGNING_BYTES = 32
_ASK_ID_LENGTH = len("ask_") + 10 + 8
_UUID_MARKS, _UUID_4 = 0xF000_C << 60, 0x4000_8 << 60
"""Where a UUID says its version and variant, and what version 4 says there."""

# Our own, as a program may seed the module's. Not the system's for each id: that gives the interpreter away, and a
# hundred threads would each wait to get it back.
_chance = random.Random()  # noqa: S311 - an id is no secret
os.register_at_fork(after_in_child=_chance.seed)


def _mint() -> str:
    moment = time.time_ns() // 1_000_000
    chance = _chance.getrandbits(40)
    return (
        _PAIRS[moment >> 40 & _PAIR]
        + _PAIRS[moment >> 30 & _PAIR]
        + _PAIRS[moment >> 20 & _PAIR]
        + _PAIRS[moment >> 10 & _PAIR]
        + _PAIRS[moment & _PAIR]
        + _PAIRS[chance >> 30]
        + _PAIRS[chance >> 20 & _PAIR]
        + _PAIRS[chance >> 10 & _PAIR]
        + _PAIRS[chance & _PAIR]
    )


def is_ask_id(text: str) -> bool:
    """Say whether `text` is a whole ask id and not the end of one."""
    return len(text) == _ASK_ID_LENGTH and text.startswith("ask_") and text.isascii()


def new_ask_id() -> AskId:
    """Return a new ask's id."""
    return AskId(f"ask_{_mint()}")


def new_command_id() -> str:
    """Return a new command's id."""
    return f"cmd_{_mint()}"


def is_repeatable(command_id: str) -> bool:
    """Say whether a command may come again under this id: not under one of ours, whose sender sends it once."""
    return not command_id.startswith("cmd_")


def opening_command_id(ask_id: AskId) -> str:
    """Return the id of the command that opens an ask; the ask's own id is chance enough."""
    return f"cmd_{ask_id.removeprefix('ask_')}"


def new_request_id() -> str:
    """Return the id of a REQUEST: a UUID v4 (I15)."""
    chance = _chance.getrandbits(128) & ~_UUID_MARKS | _UUID_4
    text = f"{chance:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def new_boot_id() -> str:
    """Return what a process calls its own clock: none before it, and none beside it, has the same name."""
    return secrets.token_hex(8)


def new_store_mark() -> bytes:
    """Return what a store's file is known by: nobody who has not seen it can have it."""
    return secrets.token_bytes(_MARK_BYTES)


def new_token_id() -> TokenId:
    """Return a new token's id."""
    return TokenId(f"tok_{_mint()}")


def new_token_secret() -> str:
    """Return a new token's secret: chance of the system's, and nothing else."""
    return SECRET_PREFIX + secrets.token_hex(SECRET_BYTES)


def new_signing_secret() -> str:
    """Return the secret with which a webhook is signed, as Standard Webhooks writes it."""
    return f"whsec_{b64encode(secrets.token_bytes(_SIGNING_BYTES)).decode()}"


def new_session_name() -> str:
    """Return what a session is called: as much chance as a token's secret has, and in another form."""
    return secrets.token_hex(SECRET_BYTES)


def new_sign_in_code() -> str:
    """Return the code of a one-time link, minted as a secret is: 192 bits of chance."""
    return secrets.token_hex(_CODE_BYTES)


class CommandIds:
    """Mints the ids of what one command makes. A retry mints the same ones, and so finds what was made.

    The store's secret is in them: whoever chooses the command's id cannot try out which one gives the end of an id that
    people would take for another.
    """

    def __init__(self, project: str, principal: Principal, command_id: str, secret: bytes) -> None:
        # A command id that its sender chose may be somebody else's, too; the ids of asks are unique in a store.
        seed = f"{project}\n{principal}\n{command_id}".encode()
        self._chance = random.Random(hmac.digest(secret, seed, "sha256"))  # noqa: S311 - an id is no secret

    def new_ask_id(self) -> AskId:
        """Return a new ask's id."""
        return AskId(f"ask_{self._mint()}")

    def new_notification_id(self, kind: NotificationKind) -> NotificationId:
        """Return a new notification's id: its kind's prefix and 8 hexadecimal digits (Q-U2)."""
        return NotificationId(f"{PREFIXES[kind]}{self._chance.getrandbits(32):08x}")

    def new_question_id(self) -> str:
        """Return the id of a question that its agent gave none."""
        return f"q-{self._chance.getrandbits(32):08x}"

    def new_receipt_id(self) -> ReceiptId:
        """Return a new receipt's id."""
        return ReceiptId(f"rcp_{self._mint()}")

    def new_task_id(self) -> TaskId:
        """Return a new task's id."""
        return TaskId(f"task-{self._mint()}")

    def new_token_id(self) -> TokenId:
        """Return a new token's id."""
        return TokenId(f"tok_{self._mint()}")

    def _mint(self) -> str:
        return "".join(_PAIRS[self._chance.getrandbits(10)] for _ in range(9))


_last_second = 0


def new_run_id(mode: Mode) -> RunId:
    """Return a new run's id: mode, epoch seconds and process id (I-U5)."""
    global _last_second  # noqa: PLW0603 - two runs of one process and second would share an id
    _last_second = max(_last_second + 1, int(time.time()))
    return RunId(f"{mode}-{_last_second}-{os.getpid()}")


def new_frame_id(mode: Mode, issue_id: str | None) -> str:
    """Return the id of a frame inside a run (I-U5)."""
    return "-".join(filter(None, (mode.value, issue_id, str(int(time.time())))))


def driver_name() -> str:
    """Return who drives a run from here: the machine and the process."""
    return f"{os.uname().nodename}:{os.getpid()}"
