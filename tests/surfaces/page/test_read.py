"""What agents write elsewhere than in an open ask is read as they wrote it: runs, logs, tasks, ends and reviews."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from assent.protocol.approval import approval_prompt
from assent.protocol.ask import Ask, Kind
from assent.protocol.display import display, display_exact
from assent.protocol.error import StillOpen
from assent.protocol.prompt import Field, Option, Prompt
from assent.testing.server import ThrowawayServer
from tests.cli.reviews import document_of, merged, merged_set
from tests.surfaces.page.payloads import PACKED_READ
from tests.surfaces.page.reading import line_of, lines_of, marked, read, unfold, words_of

__all__: list[str] = []

Seen = dict[str, tuple[object, object]]
"""Of each field what should be read, and what is."""
BIG = 9007199254740993
_FEW, _SOME = 200, 1_900
"""So many characters have the names of a run, and titles."""
_SHORT = 240
"""So many are told of an event in its line."""


class BrokenError(Exception):
    """Ends a run, in an agent's words."""


def check(seen: Seen, count: int) -> None:
    """Compare what is read with what should be."""
    for field, (wanted, found) in seen.items():
        assert found == wanted, field
    assert len(seen) == count


def go(page: Page, place: str, shown: str) -> None:
    """Go to a place of the page that is loaded, and open all that is folded there."""
    page.evaluate("(place) => { location.hash = `#/${place}`; }", place)
    expect(page.locator(shown).first).to_be_visible()
    unfold(page)


def go_to(page: Page, ask_id: str, shown: str, project: str = "shop") -> None:
    """Go to an ask, open or ended."""
    go(page, f"inbox/{project}/{ask_id}", f".ask:has(.facts .mono:text-is('{ask_id}')) {shown}")


def told(text: str) -> str:
    """Return words about an event as its line tells them: it says where they are cut."""
    return line_of(text if len(text) <= _SHORT else f"{text[:_SHORT]}…")


def first_of(text: str) -> str:
    """Return the first line of a text, with a sign where there are more."""
    first, end, _ = text.partition("\n")
    return first + "…" * bool(end)


# Runs


def named(text: str) -> str:
    """Return a text as a model may be called."""
    return "".join(filter(str.isprintable, text))[: _FEW - 5]


def drive(site: ThrowawayServer, text: str, run_id: str) -> None:
    """Drive a run with a text in every part of it, until it breaks."""
    few = text[:_FEW]
    parts: dict[str, Any] = dict.fromkeys(("title", "filter", "issue_id"), few)
    parts |= dict.fromkeys(("prompt_file", "worktree_path", "branch", "base_ref"), text)
    with (
        suppress(BrokenError),
        site.agent().run(run_id=run_id, max=3, model=named(text), **parts) as run,
    ):
        next(run)
        run.tell(text)
        site.person().control(run_id, "escalate", model=f"{named(text)} more", reason=text[:_SOME])
        raise BrokenError(text[:400])


def read_run(page: Page, site: ThrowawayServer, text: str, run_id: str) -> Seen:
    """Look at a run that broke, and at its story."""
    drive(site, text, run_id)
    few, where, why = line_of(text[:_FEW]), line_of(text), line_of(text[:_SOME])
    model, broke = f"{line_of(named(text))} more", f"BrokenError: {text[:400]}"
    facts = f"{model}, escalated · because {why} · filter {few}"
    facts += f" · branch {where} · from {where} · worktree {where} · prompt {where}"
    go(page, f"runs/shop/{run_id}", f"[data-run={run_id}] pre.tail")
    seen: Seen = {
        "title": ([few], read(page, ".run-head h2")),
        "title in the list": ([few], read(page, f".run[data-run={run_id}] .run-name")),
        "end": ([f"It broke off at iteration 1 of 3: {line_of(broke)}"], read(page, ".run-words")),
        "issue": ([few], read(page, ".frame-top > span:not(.num)")),
        "model, reason, filter, places": ([facts], read(page, ".frame > small:not(.mono)")),
        "command": (
            [f"escalate to {model} because {why}, by ana"],
            read(page, ".wire li:first-child > span"),
        ),
        "output": ([lines_of(text)], read(page, "pre.tail")),
    }
    go(page, f"history/run/shop/{run_id}", ".moment")
    return seen | {
        "title of the story": ([few], read(page, "h2.story")),
        "end of the story": ([told(f"aborted: ERROR: {broke}")], read(page, ".moment-words")[-1:]),
    }


def read_models(page: Page, site: ThrowawayServer) -> Seen:
    """Look at what a run can be escalated to."""
    models = tuple(map(named, PACKED_READ))
    with suppress(KeyboardInterrupt), site.agent().run(run_id="choosy", max=3, models=models) as run:
        next(run)
        raise KeyboardInterrupt  # it stays open, so that it can be steered
    go(page, "runs/shop/choosy", "[data-run=choosy] .steer.is-armed")
    page.get_by_role("button", name="Escalate").click()
    drawn = page.locator(".steer select option")
    labels = drawn.evaluate_all(
        "(found) => found.slice(1).map((each) => each.label.replaceAll('\\u00a0', ' '))"
    )
    return {"models": ([display(each, lines=False) for each in models], labels)}


def test_what_is_read_of_runs_is_what_was_written(page: Page, site: ThrowawayServer) -> None:
    """In every part of a run and of its story; of models what a browser draws in a list of choices."""
    page.goto("/")
    for number, text in enumerate(PACKED_READ):
        check(read_run(page, site, text, f"run-{number}"), 9)
    check(read_models(page, site), 1)


# Asks that have ended, tasks, and the log


def read_answered(page: Page, site: ThrowawayServer, text: str) -> Seen:
    """Look at a question that was answered with an option and with the same words."""
    some = text[:_SOME]
    options = (Option("k", some, description=text), Option("second", "Second"))
    fields = (Field("q1", text, options), Field("q2", text, free=True))
    ask_id = site.agent().open(Prompt(some, text, fields)).ask_id
    site.person().answer(ask_id, {"q1": "k", "q2": text})
    go_to(page, ask_id, ".asked-field")
    line, lines = line_of(some), lines_of(text)
    chosen, own = read(page, ".asked-field li[data-chosen] > span")
    return {
        "title": ([line], read(page, "#t-ask")),
        "body": ([words_of(text)], [words_of(each) for each in read(page, ".said .prose")]),
        "answer": ([f"Q1: {lines_of(some)} · Q2: {lines}"], read(page, ".fate .big b")),
        "questions": ([lines, lines], read(page, ".asked-field > p > b")),
        "option": (line, chosen[: len(line)]),
        "what an option means": ([line_of(text)], read(page, ".asked .choice-note")),
        "own words": (lines, own),
    }


def read_withdrawn(page: Page, site: ThrowawayServer, text: str) -> Seen:
    """Look at an approval that its asker took back."""
    agent = site.agent()
    action: dict[str, Any] = {"command": text, "big": BIG}
    prompt = approval_prompt(text[:_SOME], action, risk=text)
    ask_id = agent.open(prompt, kind=Kind.APPROVAL).ask_id
    agent.withdraw(ask_id, text)
    go_to(page, ask_id, ".asked .cmd")
    return {
        "reason": ([f"“{lines_of(text)}”"], read(page, ".fate p:nth-of-type(2)")),
        "risk": ([line_of(text)], read(page, ".asked > p.quiet > b")),
        "command": ([marked(display_exact(text))], read(page, ".asked .cmd code")),
        "number": ([str(BIG)], read(page, ".asked code.value")),
    }


def read_task(page: Page, site: ThrowawayServer, text: str, task_id: str) -> Seen:
    """Look at what an agent wants to know about a task; neither has blanks around it in the store."""
    agent, some = site.agent(), text[:_SOME].strip()
    title = " ".join(text[:500].splitlines()).strip()
    agent.create_task(title, task_id=task_id)
    asked: list[Any] = [{"id": "q1", "text": some}]
    handed = agent.hand_in(
        {"agent": "coder", "sourceId": task_id, "status": "failed", "open_questions": asked}
    )
    assert handed.notification
    go_to(page, str(handed.notification.ask_id), ".task small")
    return {
        "title": ([f"Task {task_id} {line_of(title)}"], read(page, ".task b")),
        "question": ([lines_of(some)], read(page, ".openq .prose")),
        "row": ([line_of(first_of(some))], read(page, ".row[aria-current] .row-title")),
    }


def read_history(page: Page) -> Seen:
    """Look at the list of what has ended: of each text a question, and an approval with a reason."""
    go(page, "history/answers", "table.history tbody tr")
    titles = [line_of(text[:_SOME]) for text in PACKED_READ]
    reasons = [f"“{line_of(text)}”" for text in PACKED_READ]
    ended = read(page, "td[data-th=Ended]:has(.outcome:text-is('withdrawn')) small")
    return {
        "titles": (sorted(titles * 2), sorted(read(page, ".what > a"))),
        "reasons": (reasons[::-1], ended),
    }


def read_log(page: Page, site: ThrowawayServer) -> Seen:
    """Look at a log with an ask and a message of each text."""
    agent = site.agent(project="elsewhere")
    for text in PACKED_READ:
        agent.open(text[:_SOME])
        agent.post("notes", {"schema": 1, text: [text, BIG]})
    go(page, "history/log/elsewhere", "li.event")
    expect(page.locator("li.event pre.json")).to_have_count(2 * len(PACKED_READ))
    page.evaluate("() => document.querySelectorAll('li.event .btn').forEach((each) => each.click())")
    expect(page.locator("li.event .btn")).to_have_count(0)
    words = [each.partition("\n")[0] for each in read(page, "li.event .event-words")]
    spelled = [lines_of(json.dumps(text, ensure_ascii=False)) for text in PACKED_READ[::-1]]
    posted = [f"{each}: [\n        {each},\n        {BIG}\n" for each in spelled]
    asked = [told(f"agent:coder asks: {first_of(text[:_SOME])}") for text in PACKED_READ[::-1]]
    shown = read(page, "li.event pre.json")[::2]
    return {
        "messages": (posted, [each if each in one else one for each, one in zip(posted, shown, strict=True)]),
        "asks": (asked, words[1::2]),
    }


def test_what_is_read_of_ends_tasks_and_logs_is_what_was_written(page: Page, site: ThrowawayServer) -> None:
    """On the card of an ask that has ended and in the list of them, of a task, and in the log with its JSON."""
    page.goto("/")
    for number, text in enumerate(PACKED_READ):
        check(read_answered(page, site, text), 7)
        check(read_withdrawn(page, site, text), 4)
        check(read_task(page, site, text, f"T-{number}"), 3)
    check(read_history(page), 2)
    check(read_log(page, site), 2)


# Findings


class Review:
    """A durable review with a finding of each text."""

    def __init__(self, site: ThrowawayServer, folder: Path) -> None:
        self._agent, self._ana = site.agent("reviewer"), site.person("ana")
        self._document = folder / "plan.md"
        self._document.write_text(document_of(*map(str, range(len(PACKED_READ)))), encoding="utf-8")
        findings = [self._finding(str(number), text) for number, text in enumerate(PACKED_READ)]
        self._findings = merged_set(*findings, residual_risks=PACKED_READ, deferred_questions=PACKED_READ)

    def _finding(self, name: str, text: str) -> dict[str, Any]:
        title, exact = text[:500], {"before": f"Passage {name} stands here.", "after": f"exactly {text}"}
        return merged(
            name, "Skip", title=title, section=title, why_it_matters=text, suggested_fix=text, edit=exact
        )

    def go_on(self, reply: str = "") -> Ask | None:
        """Answer what is asked, and return what is asked next."""
        for ask in self._agent.inbox():
            self._ana.answer(ask.ask_id, reply)
        with suppress(StillOpen):
            self._agent.review(self._findings, document=self._document, durable=True, wait=0)
        return next(iter(self._agent.inbox()), None)


def test_what_is_read_of_findings_is_what_was_written(
    page: Page, site: ThrowawayServer, tmp_path: Path
) -> None:
    """Why and what exactly on the card of each finding; titles and sections in the walk-through, and its report."""
    review = Review(site, tmp_path)
    ask = review.go_on()
    assert ask
    flow = str(ask.key).rpartition(":")[0]
    page.goto("/")
    titles = [line_of(text[:500]) for text in PACKED_READ]
    go(page, f"walk/shop/{flow}", "#w-all")
    listed = read(page, "section[aria-labelledby=w-all] li > span:not(.tag)")
    seen: Seen = {"list": ([f"{at}. {each}\n{each}" for at, each in enumerate(titles, 1)], listed)}
    ask = review.go_on("A")
    for text in PACKED_READ:
        assert ask
        go_to(page, ask.ask_id, ".said .prose:not(.prose-plain)")
        [shown] = map(words_of, read(page, ".said .prose"))
        title, words = words_of(line_of(text[:500])), words_of(text)
        assert f"Section:{title}What'swrong{words}Proposedfix" in shown
        assert f"exactly{words}" in shown
        ask = review.go_on("C")
    while ask:
        ask = review.go_on("B")
    go(page, f"walk/shop/{flow}", ".verdict")
    skipped, coverage = (f"[aria-labelledby=r-{part}] li > span" for part in ("skipped", "coverage"))
    lines = [line_of(text) for text in PACKED_READ]
    seen |= {
        "titles": (titles, [each.partition("\n")[0] for each in read(page, f"{skipped}:not(.tag)")]),
        "sections": (titles, read(page, f"{skipped}.tag")),
        "risks and questions": (lines * 2, read(page, f"{coverage}:nth-child(2)")[: 2 * len(lines)]),
    }
    check(seen, 4)
