"""The agent `canary`: moves traffic to a new release step by step, in a loop that asks within its own run."""

from __future__ import annotations

from itertools import count
from typing import Any

import assent
from assent.cli.demo_world.stage import Stage

__all__ = ["play"]

_STEPS = (1, 2, 5, 10, 20, 35, 50, 75, 100)
_ASKING_STEP = 3
_LOOK_SECONDS = 1.5
_LOOKS = 3
_GO, _SLOWLY, _BACK = "Go on", "Go on, but half as fast", "Roll back"


def play(stage: Stage) -> None:
    """Roll out one release after the other."""
    for release in count(215):
        try:
            _roll_out(stage, f"2026.{release}")
        except assent.RunEndedError:
            stage.pause()
        stage.pause()


def _roll_out(stage: Stage, release: str) -> None:
    looks = _LOOKS
    with stage.client.run(
        title=f"Roll out {release} to the edge", max=len(_STEPS), model="sonnet", models=("sonnet", "opus")
    ) as run:
        for turn in run:
            share = _STEPS[turn.number - 1]
            run.tell(f"{share} % of requests go to {release}\n")
            for look in range(looks):
                stage.rest(_LOOK_SECONDS)
                run.check()
                slow = 212 + 9 * turn.number + 3 * look
                run.tell(f"  p99 {slow} ms, errors 0.0{turn.number + look} %\n")
            if turn.number != _ASKING_STEP:
                continue
            answer = _ask(stage, run, release, share)
            run.tell(f"told: {answer or 'nothing, so back to what was there'}\n")
            if answer in (None, _BACK):
                run.finish("STUCK")
            looks = 2 * _LOOKS if answer == _SLOWLY else _LOOKS


def _ask(stage: Stage, run: assent.DrivenRun, release: str, share: int) -> Any:
    return stage.ask(
        f"{release} is a little slower. Go on with the rollout?",
        [_GO, _SLOWLY, _BACK],
        body=f"At {share} % of requests the slowest one in a hundred takes `239 ms` instead of `212 ms`. Errors are"
        " as before.\n\nI wait at this share until you say. Rolling back takes about ten seconds.",
        run_id=run.run_id,
    )
