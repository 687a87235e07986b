"""CrewAI: a flow that waits for feedback. Kill it while it waits, start it again, and answer: it goes on.

python examples/crewai_feedback.py            and in another terminal: assent inbox, assent answer ID "fine"
"""

from pathlib import Path
from typing import Any

from crewai.flow.flow import Flow, listen, start
from crewai.flow.human_feedback import human_feedback

import assent
from assent.hosts.crewai import PersonProvider

__all__: list[str] = []

client = assent.connect()
people = PersonProvider(client, thread="letter-7")


class Letter(Flow):  # type: ignore[type-arg,misc]
    """Writes a letter, shows it, and sends it with what was said about it."""

    @start()
    @human_feedback(message="May this go out?", provider=people)
    def draft(self) -> str:
        """Return what the person is shown."""
        return "Dear customer, your order 7 is refunded."

    @listen(draft)
    def send(self, result: Any) -> str:
        """Do it; `result.feedback` is what the person said."""
        with Path("refunds.txt").open("a") as file:
            file.write("7\n")
        return f"sent, with the remark: {result.feedback}"


if __name__ == "__main__":
    print(Letter().kickoff())
    client.close()
