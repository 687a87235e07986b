"""The table of replies over HTTP, from a pull request and from Slack; and a surface with a rule of its own, to see that
the table notices.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

import httpx2
import pytest

from assent.client.client import Client
from assent.protocol.ask import Ask
from assent.protocol.principal import Role
from assent.surfaces.comment_text import Addressed, read_reply
from assent.testing import FakeClock, throwaway
from assent.testing.server import ThrowawayServer
from tests.github.double import serve
from tests.samples import NOON
from tests.surfaces.http import test_github, test_slack
from tests.surfaces.notify.office import Office
from tests.surfaces.notify.slack_double import slack_double
from tests.surfaces.replies import TABLE, Case, Verdict, code_of, hold, judge, open_ask, spell

__all__: list[str] = []


def test_reply_over_http_means_what_it_means_everywhere() -> None:
    """A text, or the values of a program that has its own choices."""
    with throwaway(project="shop") as store, ThrowawayServer(store) as site:
        agent: Client = store.agent()
        headers = {"authorization": f"Bearer {site.token(Role.HUMAN, 'ana')}"}

        def give(case: Case) -> Verdict:
            ask_id = open_ask(agent, case).ask_id
            names = {*case.choose, *case.own}
            values = {
                name: [*case.choose.get(name, ()), *([case.own[name]] if name in case.own else [])]
                for name in names
            }
            said = {"values": values} if case.text is None else {"text": case.text}
            body = said | {"confirmed": case.confirmed, "reason": case.reason}
            told = line.post(f"/projects/shop/asks/{ask_id}/answer", json=body, headers=headers)
            code = told.json()["error"]["code"] if told.is_error else ""
            return judge(agent.show(ask_id), code)

        with httpx2.Client(base_url=site.url, trust_env=False) as line:
            hold("http", give)


@contextmanager
def a_pull_request() -> Iterator[Callable[[Case], Verdict]]:
    """Give a pull request on which ana answers by comments that GitHub delivers."""
    clock = FakeClock()
    with throwaway(project="shop", clock=clock) as store, serve() as double:
        scene = test_github.Scene(store, double, clock)

        def say(who: str, text: str) -> None:
            double.permissions[who] = "write"
            payload = scene.payload(double.say(who, text))
            clock.advance(datetime.fromisoformat(payload["comment"]["created_at"]) - clock.at)
            assert scene.deliver(payload).json()["status"] in ("decided", "waiting")

        def give(case: Case) -> Verdict:
            double.comments.clear()
            ask = open_ask(scene.agent, case)
            who = scene.post(ask).nonce  # somebody else each time: nobody writes so many comments
            name = ask.ask_id[-6:]
            say(who, f"/gate {name} {f'reject {case.reason}' if case.reason else spell(case)}")
            if case.confirmed and scene.agent.show(ask.ask_id).is_open:
                say(who, f"/gate {name} yes")
            ended = scene.agent.show(ask.ask_id)
            code = code_of(double.comments[-1]["body"]) if ended.is_open else ""
            if ended.is_open:
                scene.agent.withdraw(ask.ask_id, "The next one.")
            return judge(ended, code)

        yield give


def test_reply_in_a_comment_means_what_it_means_everywhere() -> None:
    """Addressed to its gate; what cannot be undone is confirmed in a second comment."""
    with a_pull_request() as give:
        hold("comment", give)


def test_table_notices_a_surface_with_a_rule_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of comments that takes the label with which a sentence begins for the answer is found out."""

    def read_loosely(ask: Ask, body: str, *, is_only: bool) -> Addressed | None:
        reply = read_reply(ask, body, is_only=is_only)
        labels = [option.label for field in ask.prompt.fields for option in field.options]
        begun = [label for label in labels if reply and reply.text.startswith(label)]
        return Addressed(begun[0], is_named=True) if begun else reply

    monkeypatch.setattr("assent.surfaces.comment.read_reply", read_loosely)
    cases = tuple(case for case in TABLE.cases if case.ask in ("database", "approval"))
    with a_pull_request() as give, pytest.raises(AssertionError) as noticed:
        hold("comment", give, cases)
    for case in ("SQLite.", "SQLite: it is small", "Approve.", "Approve: looks fine"):
        assert f'"{case}": Verdict(values=' in str(noticed.value)


def test_press_in_slack_means_what_it_means_everywhere() -> None:
    """By the buttons of its message, before which Slack asks once more where it must."""
    clock = FakeClock(NOON)
    with throwaway(project="shop", clock=clock) as store, slack_double() as slack:
        scene = test_slack.Scene(Office(store, clock), slack)

        def give(case: Case) -> Verdict:
            slack.messages.clear()
            scene.told.clear()
            ask = open_ask(scene.office.agent, case)
            scene.office.send()
            (field,), (chosen,) = ask.prompt.fields, *case.choose.values()
            (label,) = [option.label for option in field.options if option.key in chosen]
            value = json.loads(slack.buttons()[label]["value"])
            if not case.confirmed:
                value.pop("is_confirmed", None)
            scene.deliver(scene.payload(json.dumps(value)))
            return judge(
                scene.office.person.show(ask.ask_id), code_of(scene.told[-1][1]) if scene.told else ""
            )

        hold("slack", give)


def test_every_case_is_run_somewhere_and_every_excuse_is_one() -> None:
    """At least two surfaces have to agree, and no surface is excused that there is not."""
    for case in TABLE.cases:
        excused = TABLE.excused(case)
        assert excused.keys() < TABLE.surfaces.keys(), case.name
        assert len(TABLE.surfaces) - len(excused) >= 2, case.name
        assert bool(case.values) != bool(case.code), case.name
