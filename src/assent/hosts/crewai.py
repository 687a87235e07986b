"""CrewAI: the feedback that a flow waits for, and the questions that it asks, answered by a person on any surface.

    from assent.hosts.crewai import PersonProvider

    people = PersonProvider(assent.connect())

    class Report(Flow):
        input_provider = people                                          # for self.ask(…)

        @human_feedback(message="Good enough?", provider=people)         # for what the method returns
        def draft(self): …

CrewAI takes any object with these two methods, so nothing of it is imported here.

Rule 1: an empty reply is CrewAI's default outcome, and None its "not there": neither is ever returned. What ends without
        an answer is raised, and the flow stops there; in a way that CrewAI lets through, which for `ask` few are.
Rule 2: the key of an ask is the flow's id, the method and what is shown. A flow that is started again under its id and
        comes to the same point finds its ask; the same thing asked once more in one process is a new ask.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol, Self

from assent.client.calls import Calls, value_of
from assent.client.client import Client
from assent.client.door import Call, run_call
from assent.hosts.framework import host_key
from assent.protocol.canonical import digest
from assent.protocol.host_question import HostOption, HostQuestion, host_prompt, host_replies
from assent.protocol.prompt import Prompt, check_prompt

__all__ = ["FeedbackRequest", "PersonProvider", "UnansweredError"]


class FeedbackRequest(Protocol):
    """What CrewAI hands over with a request for feedback, as far as it matters here."""

    flow_id: str
    method_name: str
    method_output: Any
    message: str
    emit: list[str] | None


class UnansweredError(BaseException):
    """A flow's question has no answer. No `Exception`: CrewAI makes None of every one of those, and goes on."""


class PersonProvider:
    """Asks a person for feedback and input, for as many flows as one likes."""

    def __init__(self, client: Client, *, thread: str | None = None, wait: float | None = None) -> None:
        """Take the client, a name for the run in place of the flow's id, and the seconds that an ask may take."""
        self._calls: Calls = client.calls
        self._thread = thread
        self._wait = wait
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: object) -> Self:
        """Return the same one: CrewAI copies what stands in a flow's class for every flow, and the client is shared."""
        return self

    def request_feedback(self, context: FeedbackRequest, flow: object) -> str:  # noqa: ARG002 - CrewAI's signature
        """Show what a method returned; return an outcome's name as it stands in `emit`, or words.

        Raises:
            NoAnswer: declined, withdrawn or expired.
            StillOpen: the time is over; the ask stays open, and the flow finds it when it comes here again.
        """
        outcomes = tuple(HostOption(outcome) for outcome in context.emit or ())
        asked = HostQuestion("", context.message, outcomes)
        prompt = host_prompt([asked], body=_spell(context.method_output))
        return run_call(self._ask((asked,), prompt, context.flow_id, context.method_name))

    def request_input(
        self,
        message: str,
        flow: object,
        metadata: dict[str, Any] | None = None,  # noqa: ARG002 - CrewAI's signature
    ) -> str:
        """Ask a flow's own question; return the words.

        Raises:
            UnansweredError: there is no answer, or none yet; its cause is what `request_feedback` raises then.
        """
        asked = HostQuestion("", message)
        flow_id = str(getattr(flow, "flow_id", ""))
        try:
            return run_call(self._ask((asked,), host_prompt([asked]), flow_id, "ask"))
        except Exception as error:
            raise UnansweredError(str(error)) from error

    def _ask(self, asked: Sequence[HostQuestion], prompt: Prompt, flow_id: str, method: str) -> Call[str]:
        shown = host_key("crewai", self._thread or flow_id, method, digest(check_prompt(prompt)))
        with self._lock:
            self._seen[shown] += 1
            key = f"{shown}:{self._seen[shown]}"
        ask = yield from self._calls.open(prompt, key=key)
        ended = (yield from self._calls.wait(ask.ask_id, self._wait)) if ask.is_open else ask
        value_of(ended)  # raises where there is no answer
        return "\n".join(host_replies(asked, ended)[0].texts)


def _spell(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(value)
