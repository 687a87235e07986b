"""The terminal inbox with its keys pressed and a real store behind it: what the agent is told for every kind of ask."""

import sys
from pathlib import Path

import pytest
from textual import events
from textual.widgets import TextArea

from assent import Declined, State
from assent.client.gate import pass_gate
from assent.protocol.ask import Kind
from assent.protocol.json_text import Json
from assent.protocol.prompt import Prompt
from assent.surfaces.tui.screen import compose
from assent.surfaces.tui.view import Fate, Mode
from assent.testing import throwaway
from tests.surfaces.menus import FINDING
from tests.surfaces.tui.asks import CONFIRM, FREE, LONG, ONE, OWN, ROUND, SEVERAL
from tests.surfaces.tui.seat import Agent, Seat, sit

__all__: list[str] = []


@pytest.mark.parametrize(
    ("prompt", "keys", "told"),
    [
        (ONE, ["b", "enter"], "SQLite"),
        (ONE, ["2", "enter"], "SQLite"),
        (SEVERAL, ["a", "c", "enter"], ["Frankfurt", "Singapore"]),
        (FREE, ["i", "h", "i", "enter", "y", "f2"], "hi\ny"),
        (FREE, ["enter", "h", "i", "f2"], "hi"),
        (OWN, ["a", "enter"], "30 seconds"),
        (OWN, ["c", "1", "h", "f2"], "1h"),
        (LONG, ["2", "7", "enter", "enter"], "City 27"),
        (LONG, ["#", "y", "space", "3", "0", "enter", "enter"], "City 30"),
        (
            ROUND,
            ["a", "c", "enter", "b", "i", "o", "k", "f2"],
            {"q1": ["Eu", "Asia"], "q2": "5m", "q3": "ok"},
        ),
    ],
    ids=["letter", "number", "several", "free", "enter", "option", "own", "long", "words", "round"],
)
def test_question_is_answered_by_keys_and_the_agent_is_told(
    prompt: Prompt, keys: list[str], told: object
) -> None:
    """One, several, words, one's own words, a long list and a round, from the mark to what the agent gets."""
    with throwaway() as store:
        agent = store.agent()
        handle = agent.open(prompt)

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            await seat.press(*("number_sign" if key == "#" else key for key in keys))
            await seat.ended()
            assert seat.view.fates == {handle.ask_id: Fate.MINE}

        sit(store, story)
        assert handle.value(0) == told


@pytest.mark.parametrize(
    ("keys", "told"), [("y", "yes"), ("s", "no"), ("c ok f2", "ok")], ids=["Y", "S", "C"]
)
def test_confirm_is_answered_with_y_s_or_the_changes(keys: str, told: str) -> None:
    """The words that are sent are the protocol's."""
    with throwaway() as store:
        handle = store.agent().open(CONFIRM, kind="confirm")

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            for word in keys.split():
                await seat.press(*([word] if len(word) == 1 or word == "f2" else word))
            if "f2" not in keys:
                await seat.press("enter")
            await seat.ended()

        sit(store, story)
        assert handle.value(0) == told


def test_gate_takes_a_command_asks_again_and_goes_on_after_a_yes() -> None:
    """A command that destroys is confirmed in an ask of its own, which Enter leads to."""
    with throwaway() as store:
        gate = Agent(lambda: pass_gate(store.agent(), "Chunk Loop", "Chunk 2 of 5.", ids=["M4"], chunks=5))

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            await seat.press("colon")
            await seat.type("discard")
            await seat.press("enter", "enter")
            await seat.ended()
            await seat.shows(1)
            await seat.press("enter", "y", "enter")
            await seat.ended()

        sit(store, story)
        assert gate.join().label == "discard"


def test_gate_is_passed_by_its_number() -> None:
    """An option of a gate is a digit and Enter."""
    with throwaway() as store:
        gate = Agent(lambda: pass_gate(store.agent(), "Chunk Loop", "Chunk 2 of 5.", chunks=5))

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            await seat.press("1", "enter")
            await seat.ended()

        sit(store, story)
        assert gate.join().label == "Continue"


def test_command_that_the_gate_does_not_know_is_refused_in_a_sentence() -> None:
    """It stays open, and what was typed stays, too."""
    with throwaway() as store:
        Agent(lambda: pass_gate(store.agent(), "Chunk Loop", "Chunk 2 of 5.", wait=30))

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            await seat.press("colon")
            await seat.type("explode")
            await seat.press("enter", "enter")
            await seat.until(lambda: seat.view.problem, "a refusal")
            assert "explode" in seat.view.problem
            assert (seat.view.reply.command, seat.view.sending) == ("explode", False)
            assert len(store.person().inbox()) == 1
            await seat.press("d")
            await seat.press("enter")
            await seat.ended()

        sit(store, story)


def test_approval_gives_a_receipt_after_a_and_enter_and_not_before() -> None:
    """Keys before the beat do nothing; the whole action can be read at 40 x 10."""
    with throwaway() as store:
        action: Json = {"command": "psql", **{f"step-{number:02}": number for number in range(30)}}
        asked = Agent(lambda: store.agent().approve("Drop it?", action=action, risk="irreversible", wait=30))

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            await seat.press("enter")
            await seat.press_early("a", "enter", "a", "enter")
            assert seat.view.reply.is_blank
            seen = seat.screen()
            for _ in range(15):
                await seat.press("space")
                seen += seat.screen()
            assert [number for number in range(30) if f"step-{number:02}" not in seen] == []
            await seat.press("a", "enter")
            await seat.ended()

        sit(store, story, size=(40, 10))
        assert asked.join().action == action


def test_approval_is_declined_with_a_reason_that_the_agent_is_told() -> None:
    """d, the reason, Enter."""
    with throwaway() as store:
        asked = Agent(lambda: store.agent().approve("Drop it?", action={"command": "psql"}, wait=30))

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            await seat.press("d")
            await seat.type("not on a friday")
            await seat.press("enter")
            await seat.ended()

        sit(store, story)
        asked.join()
        assert isinstance(asked.error, Declined)
        assert "not on a friday" in str(asked.error)


def test_finding_is_answered_like_its_menu() -> None:
    """By the letter of an option."""
    with throwaway() as store:
        handle = store.agent().open(FINDING, kind="finding")
        first = FINDING.fields[0].options[0]

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            await seat.press("m", "enter")
            await seat.ended()

        sit(store, story)
        answer = handle.wait(0).answer
        assert answer is not None
        assert answer.values == {FINDING.fields[0].name: (first.key,)}


def test_open_questions_are_answered_and_the_task_goes_on() -> None:
    """The notification that stands for them is one ask with a place for each."""
    with throwaway() as store:
        agent = store.agent()
        agent.create_task("Refund webhooks", task_id="T-118")
        questions = [{"id": "q1", "text": "Retry after a 409?"}, {"id": "q2", "text": "How often?"}]
        agent.hand_in(
            {"agent": "coder", "sourceId": "T-118", "status": "failed", "open_questions": questions}
        )
        (waiting,) = store.person().inbox()
        assert waiting.kind is Kind.OPEN_QUESTION

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            for text in ("yes", "twice")[: len(waiting.prompt.fields)]:
                await seat.press("enter")
                await seat.type(text)
                await seat.press("f2")
            await seat.ended()

        sit(store, story)
        answer = store.person().show(waiting.ask_id).answer
        assert answer is not None
        assert [values[0] for values in answer.values.values()] == ["yes", "twice"][
            : len(waiting.prompt.fields)
        ]


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 10)], ids=["wide", "middle", "small"])
def test_ask_that_somebody_else_answers_folds_with_who_and_keeps_the_draft(size: tuple[int, int]) -> None:
    """The cursor stays where it is, at every size; Enter goes on, nothing of ours was sent."""
    with throwaway() as store:
        agent, sam = store.agent(), store.person("sam")
        handle = agent.open(ONE)

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            if seat.view.mode is Mode.LIST:
                await seat.press("enter")
            await seat.press("b")
            agent.open(OWN)
            sam.answer(handle.ask_id, "1")
            await seat.shows(1)
            await seat.ended()
            assert seat.view.current == handle.ask_id
            assert seat.view.reply.of("q1").keys == ("SQLite",)
            assert "sam" in seat.screen()
            await seat.press("enter")
            assert seat.view.current != handle.ask_id

        sit(store, story, size=size)
        assert handle.value(0) == "PostgreSQL"


def test_answer_that_comes_second_is_said_not_to_be_used() -> None:
    """Nobody looked between: the store itself says who was first."""
    with throwaway() as store:
        handle = store.agent().open(ONE)

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            await seat.press("b")
            store.person("sam").answer(handle.ask_id, "1")
            await seat.press("enter")
            await seat.ended()
            assert seat.view.fates == {handle.ask_id: Fate.LOST}
            assert "sam" in seat.screen()

        sit(store, story)
        assert handle.value(0) == "PostgreSQL"


def test_store_that_is_away_gets_nothing_and_the_draft_is_sent_when_it_is_back(tmp_path: Path) -> None:
    """It says so, keeps what was marked, and comes back by itself."""
    with throwaway() as store:
        handle = store.agent().open(ONE)

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            seat.feed.is_away = True
            seat.feed.tell()
            await seat.until(lambda: seat.view.offline_since is not None, "offline")
            assert "OFFLINE" in seat.screen()
            await seat.press("b", "enter")
            assert not seat.view.sending
            seat.feed.is_away = False
            await seat.until(lambda: seat.view.offline_since is None, "coming back")
            assert seat.view.reply.of("q1").keys == ("SQLite",)
            await seat.press("enter")
            await seat.ended()

        sit(store, story, folder=tmp_path)
        assert handle.value(0) == "SQLite"


def test_words_in_a_field_are_a_draft_before_they_are_taken(tmp_path: Path) -> None:
    """Whoever leaves in the middle of a sentence finds it again, and has answered nothing."""
    with throwaway() as store:
        handle = store.agent().open(FREE)

        async def leaving(seat: Seat) -> None:
            await seat.shows(1)
            await seat.press("i")
            await seat.type("the blue")
            await seat.until(lambda: seat.view.reply.of("q1").text == "the blue", "the draft")
            await seat.press_early("ctrl+c")

        async def resuming(seat: Seat) -> None:
            await seat.shows(1)
            assert seat.view.reply.of("q1").text == "the blue"
            await seat.press("enter")
            await seat.ended()

        sit(store, leaving, folder=tmp_path)
        assert store.person().show(handle.ask_id).is_open
        sit(store, resuming, folder=tmp_path)
        assert handle.value(0) == "the blue"


@pytest.mark.parametrize("key", ["ctrl+c", "q"])
def test_leaving_with_a_mark_answers_nothing(key: str) -> None:
    """However one leaves."""
    with throwaway() as store:
        handle = store.agent().open(ONE)

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            await seat.press("b", key)

        sit(store, story)
        assert store.person().show(handle.ask_id).is_open


def test_editor_writes_the_words_of_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left in the file is the text; Enter sends it."""
    script = tmp_path / "editor.py"
    script.write_text("import sys, pathlib\npathlib.Path(sys.argv[1]).write_text('two\\nlines\\n')\n")
    monkeypatch.setenv("VISUAL", f"{sys.executable} {script}")
    with throwaway() as store:
        handle = store.agent().open(FREE)

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            monkeypatch.setattr(seat.app, "suspend", _in_place)
            await seat.press("e", "enter")
            await seat.ended()

        sit(store, story)
        assert handle.value(0) == "two\nlines"


class _in_place:  # noqa: N801 - stands for a method
    """Stands for leaving the screen: there is no terminal to give away in a test."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def test_run_is_paused_and_cancelled_by_its_keys() -> None:
    """The driver is told; a cancel wants the run's mode in letters."""
    with throwaway() as store, store.agent().run(mode="grind", max=40) as run:
        next(iter(run))
        person = store.person()

        async def story(seat: Seat) -> None:
            await seat.until(lambda: seat.view.runs, "the run")
            await seat.press("r", "x")
            await seat.type("loop")
            await seat.press("enter")
            assert seat.view.problem == "Not cancelled: that is not its mode."
            await seat.press("p")
            await seat.until(lambda: person.runs()[0].status == "paused", "the pause")
            await seat.press("x")
            await seat.type("grind")
            await seat.press("enter")
            await seat.until(lambda: not person.runs(), "the end")

        sit(store, story)


def test_claim_and_withdrawal_reach_the_agent() -> None:
    """Saying that one is on it, and taking an ask back with a reason."""
    with throwaway() as store:
        handle = store.agent().open(FREE)

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            await seat.press("c")
            await seat.until(lambda: seat.view.ask is not None and seat.view.ask.claim, "the claim")
            await seat.press("W")
            await seat.type("twice")
            await seat.press("enter")
            await seat.until(lambda: seat.view.problem or not seat.view.groups.open, "the end")
            assert not seat.view.problem

        sit(store, story)
        assert store.person().show(handle.ask_id).state is State.WITHDRAWN


@pytest.mark.parametrize("happening", ["resize", "focus"])
def test_keys_wait_a_beat_after_a_resize_and_after_coming_back(happening: str) -> None:
    """What is under them is another place, or was typed for another window."""
    with throwaway() as store:
        handle = store.agent().open(ONE)

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            await seat.press("b")
            await seat.press("backspace")
            if happening == "resize":
                await seat.pilot.resize_terminal(100, 30)
            else:
                seat.app.post_message(events.AppFocus())
            await seat.pilot.pause()
            await seat.until(lambda: not seat.view.is_armed, "the beat")
            await seat.press_early("b", "enter")
            assert seat.view.reply.is_blank
            await seat.press("b", "enter")
            await seat.ended()

        sit(store, story)
        assert handle.value(0) == "SQLite"


def test_ask_that_ends_while_words_are_written_keeps_them_and_sends_nothing() -> None:
    """Whoever looks up from the field finds who was first, and their own words below."""
    with throwaway() as store:
        handle = store.agent().open(FREE)

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            await seat.press("i")
            await seat.type("mine")
            store.person("sam").answer(handle.ask_id, "theirs")
            await seat.shows(0)
            await seat.press("f2")
            await seat.pilot.pause()
            assert (seat.view.current, seat.view.reply.of("q1").text) == (handle.ask_id, "mine")
            assert "sam" in seat.screen()
            assert "mine" in seat.screen()

        sit(store, story)
        assert handle.value(0) == "theirs"


@pytest.mark.parametrize("said", ["yes.", "no", "stop", "drop this confirm"])
def test_words_of_a_request_for_changes_that_read_as_an_answer_are_refused_and_stay_in_their_field(
    said: str,
) -> None:
    """The hub refuses them: nobody says yes by writing it where changes are asked for."""
    with throwaway() as store:
        handle = store.agent().open(CONFIRM, kind="confirm")

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            await seat.press("c")
            await seat.type(said)
            await seat.press("f2")
            await seat.until(lambda: "asks for no change" in seat.view.problem, "the refusal")
            assert seat.app.query_one("#text", TextArea).text == said
            assert seat.app.focused is seat.app.query_one("#text")
            await seat.type(" but rename it")
            await seat.press("f2")
            await seat.ended()

        sit(store, story)
        assert handle.value(0) == f"{said} but rename it"


def test_destructive_option_reaches_the_agent_after_it_was_confirmed() -> None:
    """Enter alone sends nothing, nor does Enter right after the y."""
    with throwaway() as store:
        handle = store.agent().open(ONE)

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            await seat.press("c", "enter")
            assert 'This chooses "Drop it"' in seat.screen()
            await seat.press("n", "enter")
            assert seat.view.problem == "Nothing was sent."
            await seat.press("enter")
            await seat.press_early("y", "enter")
            assert store.person().show(handle.ask_id).is_open
            await seat.press("enter")
            await seat.ended()

        sit(store, story)
        assert handle.value(0) == "drop"


def test_approval_is_rejected_with_words_that_the_agent_is_told() -> None:
    """By i, the words, F2; the key line says so."""
    with throwaway() as store:
        asked = Agent(lambda: store.agent().approve("Drop it?", action={"command": "psql"}, wait=30))

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            assert "i no, with words" in seat.screen()
            await seat.press("i")
            await seat.type("not on a friday")
            await seat.press("f2")
            await seat.ended()

        sit(store, story)
        asked.join()
        assert "not on a friday" in str(asked.error)


@pytest.mark.parametrize("size", [(120, 36), (40, 10)])
def test_ask_that_ends_under_a_field_says_so_above_it_and_the_field_stays(size: tuple[int, int]) -> None:
    """The words and the focus stay, sending is gone, and Esc leaves."""
    with throwaway() as store:
        handle = store.agent().open(FREE)

        async def story(seat: Seat) -> None:
            await seat.shows(1)
            await seat.press("enter" if seat.view.mode is Mode.LIST else "backspace", "i")
            await seat.type("mine")
            store.person("sam").answer(handle.ask_id, "theirs")
            await seat.shows(0)
            await seat.press("f2")
            await seat.type(" too")
            field = seat.app.query_one("#text", TextArea)
            assert (field.text, seat.app.focused) == ("mine too", field)
            assert "It has ended" in str(field.border_title)
            canvas = seat.app.query_one("_Canvas")
            above = "\n".join(line.text for line in compose(seat.view, canvas.size.width, canvas.size.height))
            assert "It has ended." in above
            await seat.press("escape")
            assert seat.app.focused is canvas

        sit(store, story, size=size)
        assert handle.value(0) == "theirs"
