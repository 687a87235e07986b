"""Write the logs of the stories anew: python -m tests.golden."""

import sys

from tests.golden.stage import set_stage
from tests.golden.test_golden import LOGS, STORIES

LOGS.mkdir(exist_ok=True)
for old in LOGS.iterdir():
    old.unlink()
for story in STORIES:
    with set_stage() as stage:
        story(stage)
        (LOGS / f"{story.__name__}.jsonl").write_text("\n".join([*stage.log(), ""]))
sys.stdout.write(f"{len(STORIES)} logs were written to {LOGS.name}/.\n")
