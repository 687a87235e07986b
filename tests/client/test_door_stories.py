"""Stories through the public client that no other door tells: both reviews of a reviewer, and every code of a RESULT."""

import json
import os
from pathlib import Path

import assent
from assent.effects.reviewer import reviewer_performers
from assent.flows.confirm import How
from assent.protocol.canonical import Json
from assent.protocol.reviewer_file import Reviewer
from assent.testing import throwaway
from tests.flows.plan_page import ai, fill
from tests.proves import proves

__all__: list[str] = []

CODES = {"not_found", "invalid_state", "duplicate", "bad_request"}


@proves("C36", "C37", "C38", "C39", "C41")
def test_reviewer_looks_before_and_after_and_a_second_run_asks_it_nothing(tmp_path: Path) -> None:
    """By the name in the plan, with absolute folders; each moment has its own review, and is kept."""
    (tmp_path / ".git").mkdir()
    plan = tmp_path / "plan.xml"
    plan.write_bytes(fill((ai("P1", "both"), ai("T1.1", "after"))))
    asked = tmp_path / "asked.jsonl"
    report = json.dumps({"blocking": [], "non_blocking": ["A name."], "summary": "Good."})
    script = f"cat >> {asked}; echo >> {asked}; echo '{report}'"
    performers = reviewer_performers(
        {"critic": Reviewer("critic", ("sh", "-c", script))}, os.environ, lambda _: None
    )
    with throwaway() as store:
        agent = store.agent("coder")
        for owner, moment in (("P1", "before"), ("T1.1", "after"), ("P1", "after")) * 2:
            verdict = assent.confirm_plan(agent, plan, owner, moment, "S", performers=performers, wait=0)
            assert verdict.how is How.CONFIRMED
    told = [json.loads(line) for line in asked.read_text().splitlines() if line]
    assert [(each["owner"]["id"], each["moment"]) for each in told] == [
        ("P1", "before"),
        ("T1.1", "after"),
        ("P1", "after"),
    ]
    assert {each["workspace_dir"] for each in told} == {str(tmp_path)}


@proves("I25", "I38", "I39", "I40", "I41", "I42")
def test_result_has_one_of_two_statuses_and_a_failure_one_of_four_codes() -> None:
    """Whatever is posted to the topic: right, twice, to nobody, at the wrong time, and nonsense."""
    with throwaway() as store, store.agent("coder").run(mode="loop", max=3, model="haiku") as run:
        person = store.person("ana")

        def post(request_id: str, command: str, run_id: str = run.run_id, **payload: str) -> None:
            body: Json = {
                "schema": 0,
                "type": "REQUEST",
                "request_id": request_id,
                "command": command,
                "target": {"run_id": run_id},
                "timestamp": "2024-12-28T10:00:00Z",
                "payload": {**payload},
            }
            person.post("loop:control", body)

        post("r1", "resume")
        post("r2", "pause")
        post("r2", "cancel")
        post("r3", "pause", "nobody")
        post("r4", "dance")
        post("r5", "escalate")
        post("r6", "resume")
        bodies = [json.loads(bytes(message.body)) for message in person.read("loop:control")]
    results = [body["payload"] for body in bodies if body["type"] == "RESULT"]
    assert [payload["status"] for payload in results].count("success") == 2
    assert {payload["status"] for payload in results} == {"success", "failure"}
    assert {payload["code"] for payload in results if payload["status"] == "failure"} == CODES
    assert not any("code" in payload for payload in results if payload["status"] == "success")
