"""The pages of the errors and of the exit statuses."""

from __future__ import annotations

from collections.abc import Iterator

from assent.cli.exit import (
    DONE,
    ENDED,
    FAILED,
    REFUSED,
    STILL_OPEN,
    TAKEN,
    UNFINISHED,
    UNTRUSTED,
    USAGE,
    status_of,
)
from assent.protocol import error
from assent.protocol.error import AssentError
from tools.source import first_sentence, table

__all__ = ["every_error", "render_errors", "render_exit_status"]

_MEANINGS = {
    DONE: "Done: answered, accepted, chosen, listed, steered; a loop that is complete; a session that was posted, saved, "
    "discarded or cancelled; a document review whose report is out, whatever its verdict. Also `--no-wait`, which prints the id, and an empty list",
    FAILED: "Anything else, with one plain sentence and never a stack trace. A loop whose command failed. A "
    "review that could not be posted",
    USAGE: "The command was used wrongly, or the reply was not recognised and the ask stays open",
    STILL_OPEN: "Still open: the wait lapsed, Ctrl-C, or the terminal went away. Nothing was decided. A loop, gate "
    "or session that was stopped or paused and can be gone on with. A document review that was left before its end",
    REFUSED: "A person declined, or you may not do this: an agent can neither answer nor steer. A run that cannot be "
    "steered that way: RESULT is a failure",
    ENDED: "The ask ended without an answer: withdrawn, expired or superseded. The run was cancelled",
    TAKEN: "Somebody else was first, or the key belongs to another question. Somebody else drives the run, or "
    "goes through the review",
    UNFINISHED: "A loop that came to its limit, or is stuck. A confirm that asks for changes first",
    UNTRUSTED: "The store came with the folder, or is a copy or a backup: nothing of it counts, and nothing was changed. "
    "A person looks at it and takes it over with `assent store adopt`",
}


def every_error(
    start: type[AssentError] = AssentError, depth: int = 0
) -> Iterator[tuple[int, type[AssentError]]]:
    """Yield the tree from the top, in the order of the file, each class with its depth."""
    yield depth, start
    for kind in vars(error).values():
        if isinstance(kind, type) and issubclass(kind, AssentError) and _parent(kind) is start:
            yield from every_error(kind, depth + 1)


def _parent(kind: type[AssentError]) -> type | None:
    """Return the class that `kind` stands under; those for the file's own use do not count."""
    if kind.__name__.startswith("_") or kind is AssentError:
        return None
    return next(cls for cls in kind.__mro__[1:] if not cls.__name__.startswith("_"))


def _made(kind: type[AssentError]) -> AssentError:
    return kind.__new__(kind)


def render_errors() -> str:
    """Return the page of the errors."""
    rows = [
        (
            f"{'&emsp;' * depth}`{kind.__name__}`",
            f"`{kind.code}`",
            first_sentence(kind),
            str(status_of(_made(kind))),
        )
        for depth, kind in every_error()
    ]
    return f"""\
# Errors

Every error has a code, which is what programs compare, and one sentence for people. In Python they are classes in
`assent.protocol.error`; those that a caller is likely to catch are also names of `assent`. On the command line the
sentence goes to standard error, and with `--json` standard output holds
`{{"error": {{"code": …, "message": …, "details": {{…}}}}}}`.

An inner row is also an error of the row that it stands under: `except assent.NoAnswer` catches the four ways in which
an ask ends without an answer. `StillOpen` is not one of them, since the ask has not ended.

{table(("class", "code", "what it says", "exit status"), rows)}
`ConflictError`, `KeyReusedError`, `NoAnswer` and `StillOpen` carry the ask as it is now, in `error.ask` and in the
JSON's `details.ask`: that is how the loser learns who was first, when and with what. `ApprovalDiffersError` carries every
difference in `error.differences`. Over HTTP each has a status of its own: see [the wire format](wire-format.md#errors).

The codes of a RESULT on `loop:control` are a set of their own: see
[topics and messages](topics.md#codes). In Python `not_found`, `invalid_state`, `bad_request` and `duplicate` of a RESULT
are raised as `NotFoundError`, `InvalidStateError`, `BadRequestError` and `ConflictError`.
"""


def render_exit_status() -> str:
    """Return the page of the exit statuses."""
    rows = []
    for status, meaning in _MEANINGS.items():
        codes = [f"`{kind.code}`" for _, kind in every_error() if status_of(_made(kind)) == status]
        rows.append((str(status), meaning, ", ".join(codes)))
    return f"""\
# Exit status

A script can tell silence from a decision without reading a word. 0 says that there is an answer, not that it is a yes:
the answer is on standard output. A command may end with a status whose codes are not its own: `assent pause` of a run that
is not there ends with {REFUSED}, as every RESULT that is a failure does.

{table(("status", "meaning", "error codes"), rows)}
`assent audit verify` and `assent doctor` end with {FAILED} when something is wrong. With `--json` the error is on standard
output, too; see [errors](errors.md).

```sh
if answer=$(assent ask "Deploy now?" -o Yes -o No --key deploy-42 --wait 30m); then
  echo "a person said: $answer"
else
  case $? in
    {STILL_OPEN}) echo "nobody has answered yet; the same command later finds the same ask" ;;
    {REFUSED}) echo "a person declined to answer" ;;
    {ENDED}) echo "withdrawn, expired or superseded" ;;
    *) echo "something is wrong" ;;
  esac
fi
```

A loop tells how it ended:

```sh
assent loop --run-id nightly --max 20 --prompt-file PROMPT.md -- claude -p
case $? in
  {DONE}) echo "complete" ;;
  {STILL_OPEN}) echo "stopped; the same line goes on with it" ;;
  {ENDED}) echo "somebody cancelled it" ;;
  {TAKEN}) echo "it is being driven already" ;;
  {UNFINISHED}) echo "out of iterations, or stuck" ;;
  *) echo "the agent failed" ;;
esac
```
"""
