"""What of the log goes out to whom."""

import json

import httpx2

from assent.testing import throwaway
from assent.testing.server import ThrowawayServer

__all__: list[str] = []


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
