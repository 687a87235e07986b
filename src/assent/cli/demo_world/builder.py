"""The agent `builder`: a loop in a loop that works through a list of issues, and says aloud what it does.

It asks nothing. It is there to be watched, paused, cancelled and given a better model.
"""

from __future__ import annotations

from itertools import count

import assent
from assent.cli.demo_world.stage import Stage

__all__ = ["play"]

_ISSUES = {
    "SHOP-311": "guest checkout loses the voucher",
    "SHOP-318": "the receipt shows the wrong time zone",
    "SHOP-325": "two taps on Pay send two orders",
    "SHOP-327": "the address form forgets the house number",
}
_STEPS = (
    "reading {file}",
    "  found {found} places that touch it",
    "editing {file}",
    "  +{added} -{removed}",
    "running 148 tests",
    "  {passed} passed, {failed} failed",
)
_LINE_SECONDS = 1.2
_ATTEMPTS = 3


def play(stage: Stage) -> None:
    """Work through the list, again and again; whoever cancels it has some quiet first."""
    for number in count(1):
        title = (
            "Work off the checkout issues" if number == 1 else f"Work off the checkout issues, round {number}"
        )
        try:
            _work(stage, title)
        except assent.RunEndedError:
            stage.pause()
        stage.pause()


def _work(stage: Stage, title: str) -> None:
    models = ("haiku", "sonnet", "opus")
    with stage.client.run(
        mode="grind", title=title, max=len(_ISSUES), model="haiku", models=models, filter="label:checkout"
    ) as run:
        for turn, (issue, what) in zip(run, _ISSUES.items(), strict=False):
            run.tell(f"\n== {turn.number} of {turn.max}: {issue} {what}\n")
            with run.nested(mode="issue", issue_id=issue, max=_ATTEMPTS, model=turn.model) as attempts:
                for attempt in attempts:
                    failed = 0 if attempt.number == _ATTEMPTS or turn.model == "opus" else 3 - attempt.number
                    _try(stage, run, f"attempt {attempt.number}, {attempt.model}", failed)
                    if not failed:
                        run.tell(f"{issue} is done.\n")
                        attempts.finish()


def _try(stage: Stage, run: assent.DrivenRun, head: str, failed: int) -> None:
    """Say what an attempt does, line by line; whoever cancels the run stops it in the middle."""
    run.tell(f"-- {head}\n")
    figures = {
        "file": "src/checkout/voucher.py",
        "found": 4 + failed,
        "added": 11 + failed,
        "removed": 3,
        "passed": 148 - failed,
        "failed": failed,
    }
    for step in _STEPS:
        stage.rest(_LINE_SECONDS)
        run.check()
        run.tell(step.format(**figures) + "\n")
