"""The errors, as one small tree. Each has the code that stands on the wire; its docstring is the sentence shown.

AssentError
├── BadRequestError        bad_request      what was sent cannot be read
│   ├── BadJsonError       bad_json
│   ├── BadPromptError     bad_prompt
│   ├── MisdirectedError   misdirected      it was meant for a server of another name
│   └── TooLargeError      too_large
├── UnrecognisedError      unrecognised     a reply that matches nothing; the ask stays open
├── AnswerRefusedError     answer_refused   an answer that the asker's own type does not take; the ask has ended
├── NotFoundError          not_found
├── UnauthorisedError      unauthorised     no credential, or one that is not, or no longer, good
├── ForbiddenError         forbidden
│   ├── AssuranceError     assurance        it is not sure enough that a person sent it; the ask stays open
│   ├── ReplayedError      replayed         a page's request that was here before; it is not done again
│   └── UnprovenError      unproven         a page's request for another start of the server; nothing was done
├── ConfirmFirstError      confirm_first    what cannot be undone is asked once more; nothing was changed
├── ApprovalDiffersError   approval_differs another action than the approved one; carries what differs
├── TooManyError           too_many         too many requests in too short a time
├── TooManyOpenError       too_many_open    as many asks wait as one asker may have
├── ConflictError          conflict         somebody else was first; carries the winner
├── KeyReusedError         key_reused
├── CommandReusedError     command_reused
├── FlowDivergedError      flow_diverged
├── FlowTakenError         flow_taken
├── InvalidStateError      invalid_state    a run cannot be steered that way now
├── RunTakenError          run_taken
├── RunEndedError          run_ended
├── ControlExpiredError    control_expired  nobody acknowledged a command in time; it will not be executed
├── GateOpenError          gate_open        nothing may be said or done before the gate is answered
├── EffectError            effect_failed    what a flow wanted done was not done; the world is as it was
│   ├── GitHubError        github
│   ├── PathRefusedError   path_refused
│   └── WorldChangedError  world_changed
├── NoAnswer               (the outcome)    an ask that ended without an answer: not a fault
│   ├── Declined           declined
│   │   └── RejectedBefore rejected_before  a person said no to the same action lately; nobody was asked again
│   ├── Withdrawn          withdrawn
│   ├── Expired            expired
│   └── Superseded         superseded
├── StillOpen              still_open       the wait lapsed; the ask did not
└── StoreError             store            the store cannot be used just now
    ├── StoreBusyError     store_busy
    ├── StoreFullError     store_full
    ├── StoreReadOnlyError store_read_only
    ├── StoreRefusedError  store_refused
    ├── StoreUntrustedError store_untrusted this user has neither made nor adopted it
    │   └── StoreCopyError store_copy       it is a copy or a backup of a store
    ├── StoreDamagedError  store_damaged
    ├── StoreTooNewError   store_too_new
    ├── StoreUnknownError  store_unknown
    └── UnreachableError   unreachable      no server answers there
        └── StoreAwayError store_away       no database answers there, and nothing was saved
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from assent.protocol.ask import Ask
    from assent.protocol.difference import Difference
    from assent.protocol.notification import Notification

__all__ = [
    "AnswerRefusedError",
    "ApprovalDiffersError",
    "AssentError",
    "AssuranceError",
    "BadJsonError",
    "BadPromptError",
    "BadRequestError",
    "CommandReusedError",
    "ConfirmFirstError",
    "ConflictError",
    "ControlExpiredError",
    "Declined",
    "EffectError",
    "Expired",
    "FlowDivergedError",
    "FlowTakenError",
    "ForbiddenError",
    "GateOpenError",
    "GitHubError",
    "InvalidStateError",
    "KeyReusedError",
    "MisdirectedError",
    "NoAnswer",
    "NotFoundError",
    "PathRefusedError",
    "RejectedBefore",
    "ReplayedError",
    "RunEndedError",
    "RunTakenError",
    "StillOpen",
    "StoreAwayError",
    "StoreBusyError",
    "StoreCopyError",
    "StoreDamagedError",
    "StoreError",
    "StoreFullError",
    "StoreReadOnlyError",
    "StoreRefusedError",
    "StoreTooNewError",
    "StoreUnknownError",
    "StoreUntrustedError",
    "Superseded",
    "TooLargeError",
    "TooManyError",
    "TooManyOpenError",
    "UnauthorisedError",
    "UnprovenError",
    "UnreachableError",
    "UnrecognisedError",
    "Withdrawn",
    "WorldChangedError",
]


class AssentError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str | None = None) -> None:
        self.message = message or (type(self).__doc__ or "").strip().split("\n")[0]
        super().__init__(self.message)


class BadRequestError(AssentError):
    """The request cannot be understood."""

    code = "bad_request"


class BadJsonError(BadRequestError):
    """The text is not JSON that Assent accepts."""

    code = "bad_json"


class BadPromptError(BadRequestError):
    """The prompt cannot be shown or answered as it is."""

    code = "bad_prompt"


class MisdirectedError(BadRequestError):
    """The request is meant for another server: this one does not have that name."""

    code = "misdirected"


class TooLargeError(BadRequestError):
    """The request is larger than the limit."""

    code = "too_large"


class UnrecognisedError(AssentError):
    """The reply was not recognised; the ask stays open."""

    code = "unrecognised"


class NotFoundError(AssentError):
    """There is no such thing here."""

    code = "not_found"


class UnauthorisedError(AssentError):
    """A token is needed, and the one that came, if any, is not good here."""

    code = "unauthorised"


class TooManyError(AssentError):
    """Too many requests in too short a time; try again a little later."""

    code = "too_many"

    def __init__(self, message: str | None = None, *, seconds: float = 0.0) -> None:
        super().__init__(message)
        self.seconds = seconds
        """After how many seconds it is worth a try; 0 where that is not known."""


class TooManyOpenError(AssentError):
    """You have as many asks open as you may; nothing was asked."""

    code = "too_many_open"


class ForbiddenError(AssentError):
    """This principal may not do that."""

    code = "forbidden"


class AssuranceError(ForbiddenError):
    """It is not sure enough that a person sent this answer; the ask stays open."""

    code = "assurance"


class ReplayedError(ForbiddenError):
    """This request was here before, or is too old; it was not done again."""

    code = "replayed"


class UnprovenError(ForbiddenError):
    """The page signed this for another start of the server: it has to ask for a new proof. Nothing was done."""

    code = "unproven"


class ConfirmFirstError(AssentError):
    """This answer chooses what cannot be undone: confirm it. Nothing was changed."""

    code = "confirm_first"


class ApprovalDiffersError(AssentError):
    """This is not the action that was approved."""

    code = "approval_differs"

    def __init__(self, message: str | None = None, *, differences: tuple[Difference, ...] = ()) -> None:
        super().__init__(message)
        self.differences = differences
        """The first few places at which it is another one."""


class _AskError(AssentError):
    """An error that carries the ask as it is now."""

    def __init__(self, message: str | None = None, *, ask: Ask | None = None) -> None:
        super().__init__(message)
        self.ask = ask


class AnswerRefusedError(_AskError):
    """The asker's own type does not take the answer. The ask has ended: ask again, and say why."""

    code = "answer_refused"


class ConflictError(_AskError):
    """Somebody else was first."""

    code = "conflict"

    def __init__(
        self, message: str | None = None, *, ask: Ask | None = None, notification: Notification | None = None
    ) -> None:
        super().__init__(message, ask=ask)
        self.notification = notification
        """What it is about, as it is now, where that is no ask."""


class KeyReusedError(_AskError):
    """This key already belongs to an ask with another prompt."""

    code = "key_reused"


class CommandReusedError(AssentError):
    """This command id was already used for something else."""

    code = "command_reused"


class FlowDivergedError(AssentError):
    """The flow asks for something else than its journal holds at this step."""

    code = "flow_diverged"


class FlowTakenError(AssentError):
    """Another process drives this flow."""

    code = "flow_taken"

    def __init__(self, message: str | None = None, *, driver: str = "Another process") -> None:
        super().__init__(message or f"{driver} drives this flow.")
        self.driver = driver
        """Who that is, as it can begin a sentence."""


class InvalidStateError(AssentError):
    """The run cannot be steered that way now."""

    code = "invalid_state"


class RunTakenError(AssentError):
    """Another process drives this run."""

    code = "run_taken"


class RunEndedError(AssentError):
    """The run has ended."""

    code = "run_ended"


class ControlExpiredError(AssentError):
    """Nobody acknowledged the command in time; it will not be executed."""

    code = "control_expired"


class GateOpenError(AssentError):
    """A gate is open: nothing may be said or done before a person has answered it."""

    code = "gate_open"


class EffectError(AssentError):
    """It could not be done, and nothing was changed."""

    code = "effect_failed"


class GitHubError(EffectError):
    """GitHub did not do what it was asked to do."""

    code = "github"

    def __init__(self, message: str | None = None, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        """The status that GitHub answered with; None where there was no answer."""


class PathRefusedError(EffectError):
    """This path does not lead to an ordinary file in the folder."""

    code = "path_refused"


class WorldChangedError(EffectError):
    """Somebody changed it in the meantime; it was left as it is."""

    code = "world_changed"


class NoAnswer(_AskError):  # noqa: N818 - a person's no is not an error; the public name has no suffix
    """The ask ended without an answer."""

    code = "no_answer"


class Declined(NoAnswer):
    """A person said no to being asked this."""

    code = "declined"

    @property
    def reason(self) -> str:
        """The words that the person gave with it; empty where there were none."""
        return "" if self.ask is None else self.ask.words


class RejectedBefore(Declined):
    """A person said no to the same action a short while ago; nobody was asked again."""

    code = "rejected_before"


class Withdrawn(NoAnswer):
    """The ask was taken back before anybody answered."""

    code = "withdrawn"


class Expired(NoAnswer):
    """Nobody answered before the deadline."""

    code = "expired"


class Superseded(NoAnswer):
    """A newer ask took this one's place."""

    code = "superseded"


class StillOpen(_AskError):  # noqa: N818 - waiting longer is not an error either
    """Nobody has answered yet; the ask stays open."""

    code = "still_open"


class StoreError(AssentError):
    """The store cannot be used just now."""

    code = "store"


class StoreBusyError(StoreError):
    """Another process holds the store for too long."""

    code = "store_busy"


class StoreFullError(StoreError):
    """The disk is full; nothing was changed. Free some space and try again."""

    code = "store_full"


class StoreReadOnlyError(StoreError):
    """The store cannot be written; nothing was changed."""

    code = "store_read_only"


class StoreRefusedError(StoreError):
    """This file or folder is not safe to use as a store."""

    code = "store_refused"


class StoreUntrustedError(StoreError):
    """You have neither made nor adopted this store, so nothing of it counts."""

    code = "store_untrusted"


class StoreCopyError(StoreUntrustedError):
    """This is a copy of a store, and nobody waits for what is answered there."""

    code = "store_copy"


class StoreDamagedError(StoreError):
    """The store's file is damaged."""

    code = "store_damaged"


class StoreTooNewError(StoreError):
    """The store was written by a newer Assent; upgrade this one to open it."""

    code = "store_too_new"


class StoreUnknownError(StoreError):
    """The database went away while this was being saved, and it is not known whether it was. Look before you repeat it."""

    code = "store_unknown"


class UnreachableError(StoreError):
    """No server answers there."""

    code = "unreachable"
    is_silent = False
    """Somebody is there, and says nothing."""


class StoreAwayError(UnreachableError):
    """The database does not answer; nothing was saved."""

    code = "store_away"
