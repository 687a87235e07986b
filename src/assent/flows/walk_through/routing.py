"""Which way it is to be: one by one, all as recommended, all deferred, or only told (W2-W14)."""

from __future__ import annotations

from assent.flows.step import Flow
from assent.flows.walk_through.loop import walk_findings
from assent.flows.walk_through.menu import APPEND, LFG, ONE_BY_ONE, routing_prompt
from assent.flows.walk_through.preview import carry_out, make_plan, preview
from assent.flows.walk_through.walk import Walk, choose
from assent.protocol.ask import Kind
from assent.protocol.decision import Way
from assent.protocol.finding import Action
from assent.protocol.words import count

__all__ = ["go_one_way"]


def go_one_way(walk: Walk) -> Flow[Way]:
    """Ask for the way, and go it; a cancelled preview leads back to the question."""
    total = count(len(walk.findings), "finding")
    while True:
        prompt = routing_prompt(len(walk.findings), walk.unavailable, walk.path)
        chosen = yield from choose(prompt, Kind.QUESTION)
        if chosen == ONE_BY_ONE:
            return (yield from walk_findings(walk))
        if chosen == LFG:
            plan, title, way = make_plan(walk), f"Plan for {total}:", Way.LFG
        elif chosen == APPEND:
            plan = make_plan(walk, Action.DEFER)
            title, way = f"{total} as Open Questions entries:", Way.APPEND
        else:
            return Way.REPORT_ONLY
        if (yield from preview(walk, plan, title)):
            yield from carry_out(walk, plan)
            return way
