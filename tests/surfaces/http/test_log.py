"""What of the log goes out to whom."""

import json

import httpx2

from assent.surfaces.http.record import MAX_LOG_BYTES
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer

__all__: list[str] = []

_LARGE = 400_000


def test_log_tells_nobody_of_tokens_who_may_not_list_them() -> None:
    """A token's event names its scope, which may be other projects, and the digest of its secret."""
    with throwaway() as store, ThrowawayServer(store) as server:
        store.agent().open("Which?")
        told = {}
        for role in ("agent", "observer", "operator", "human"):
            secret = server.token(role, role, projects=(store.project, "elsewhere"))
            reply = httpx2.get(
                f"{server.url}/projects/{store.project}/log",
                headers={"authorization": f"Bearer {secret}"},
                trust_env=False,
            )
            events = json.loads(reply.content)["events"]
            told[role] = [event["data"] is None for event in events if event["type"].startswith("token.")]
            assert any(event["data"] for event in events if event["type"] == "ask.opened")
        assert (set(told["agent"]), set(told["observer"])) == ({True}, {True})
        assert (set(told["operator"]), set(told["human"])) == ({False}, {False})


def test_tokens_tell_nobody_of_projects_that_are_not_theirs() -> None:
    """A token that was made here may reach elsewhere: that it does is no secret, and where to is."""
    with throwaway() as store, ThrowawayServer(store) as server:
        server.token("agent", "deploy", projects=(store.project, "merger"))
        told = {}
        for name, projects in {
            "here": (store.project,),
            "there": (store.project, "merger"),
            "all": ("*",),
        }.items():
            secret = server.token("human", name, projects=projects)
            replies = [
                httpx2.get(
                    f"{server.url}/projects/{store.project}/{path}",
                    headers={"authorization": f"Bearer {secret}"},
                    trust_env=False,
                ).text
                for path in ("tokens", "log")
            ]
            assert "deploy" in replies[0]
            told[name] = ["merger" in reply for reply in replies]
        assert told == {"here": [False, False], "there": [True, True], "all": [True, True]}


def test_log_of_large_events_is_told_in_parts() -> None:
    """However much is asked for; and whoever comes again behind the last one has all of it."""
    with throwaway() as store, ThrowawayServer(store) as server:
        agent, count = store.agent(), 3 * MAX_LOG_BYTES // _LARGE
        for number in range(count):
            agent.open(f"Question {number}?", body="x" * _LARGE)
        client = server.agent()
        last, parts = 0, []
        while page := client.log(last):
            last, size = page[-1].sequence, sum(len(record.body or b"") for record in page)
            assert size <= MAX_LOG_BYTES + 2 * _LARGE
            parts.append([record.sequence for record in page])
        told = [number for part in parts for number in part]
        assert told == list(range(1, last + 1))
        assert len(parts) >= count * _LARGE // (MAX_LOG_BYTES + 2 * _LARGE)
        assert len(parts) > 1
