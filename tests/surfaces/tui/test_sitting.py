"""What a key means at the inbox: it marks, Enter sends, and nothing counts before the beat or by itself."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.protocol.ask import Ask, Kind, Outcome, State
from assent.protocol.prompt import Prompt
from assent.protocol.run import Mode as RunMode
from assent.surfaces.tui.draft import Drafts
from assent.surfaces.tui.key_guard import QUIET_SECONDS
from assent.surfaces.tui.reply import FieldReply, Reply
from assent.surfaces.tui.screen import compose
from assent.surfaces.tui.sitting import BEAT_SECONDS, MAX_ENDED
from assent.surfaces.tui.view import Fate, Mode, Snapshot
from assent.surfaces.tui.wish import (
    Browse,
    Claim,
    Control,
    Copy,
    Edit,
    Leave,
    Scroll,
    Send,
    Stay,
    Wish,
    Withdraw,
    Write,
)
from tests.chance import examples
from tests.surfaces.tui.asks import (
    APPROVAL,
    CHECK,
    CONFIRM,
    FREE,
    GATE,
    LONG,
    NOW,
    ONE,
    OWN,
    ROUND,
    SEVERAL,
    Table,
    ended,
    make_ask,
    make_run,
)

__all__: list[str] = []

KINDS = [
    (ONE, Kind.QUESTION),
    (SEVERAL, Kind.QUESTION),
    (FREE, Kind.QUESTION),
    (OWN, Kind.QUESTION),
    (LONG, Kind.QUESTION),
    (ROUND, Kind.QUESTION),
    (CONFIRM, Kind.CONFIRM),
    (GATE, Kind.GATE),
    (CHECK, Kind.GATE),
    (APPROVAL, Kind.APPROVAL),
]
KEYS = [
    *"abcdeijkmnoprvxyzWZ123 /:#?+",
    "enter",
    "tab",
    "escape",
    "backspace",
    "up",
    "down",
    "alt+d",
    "alt+a",
]


def _values(wish: Wish | None) -> object:
    assert isinstance(wish, Send)
    return wish.text if wish.values is None else wish.values


# Every kind


@pytest.mark.parametrize(
    ("prompt", "kind", "keys", "sent"),
    [
        (ONE, Kind.QUESTION, "b", {"q1": ["SQLite"]}),
        (ONE, Kind.QUESTION, "2", {"q1": ["SQLite"]}),
        (ONE, Kind.QUESTION, "ab", {"q1": ["SQLite"]}),
        (SEVERAL, Kind.QUESTION, "acbb", {"q1": ["Frankfurt", "Singapore"]}),
        (CONFIRM, Kind.CONFIRM, "y", {"q1": ["yes"]}),
        (CONFIRM, Kind.CONFIRM, "s", {"q1": ["no"]}),
        (GATE, Kind.GATE, "2", {"answer": ["deep-dive"]}),
        (CHECK, Kind.GATE, "y", "y"),
        (APPROVAL, Kind.APPROVAL, "a", {"approve": ["Approve"]}),
        (APPROVAL, Kind.APPROVAL, "2", {"approve": ["Reject"]}),
    ],
    ids=["letter", "number", "again", "several", "yes", "no", "gate", "check", "approve", "reject"],
)
def test_ask_is_answered_with_its_keys_and_enter(prompt: Prompt, kind: Kind, keys: str, sent: object) -> None:
    """Few keys for every kind: the mark, and Enter."""
    table = Table(make_ask(prompt, kind=kind))
    table.read(*keys)
    assert table.wishes == []
    wish = table.press("enter")
    assert isinstance(wish, Send)
    if isinstance(sent, dict) and kind is Kind.GATE:
        assert list(wish.values or {}) == [prompt.fields[0].name]
        assert (wish.values or {})[prompt.fields[0].name] == [prompt.fields[0].options[1].key]
    else:
        assert _values(wish) == sent


def test_free_text_is_written_with_enter_and_sent_from_its_field() -> None:
    """Enter opens the field, F2 sends from it: nothing else is needed."""
    table = Table(make_ask(FREE))
    wish = table.read("enter")
    assert wish == Write("field:0", "Your words", "", is_long=True)
    assert _values(table.entered("field:0", "the blue one", sends=True)) == {"q1": ["the blue one"]}


def test_free_text_from_an_editor_is_not_sent_by_leaving_it() -> None:
    """Closing an editor is no Enter."""
    table = Table(make_ask(FREE))
    assert table.read("e") == Edit("field:0", "")
    assert table.entered("field:0", "the blue one") is None
    assert _values(table.press("enter")) == {"q1": ["the blue one"]}


def test_own_words_are_written_at_once_when_their_letter_is_pressed() -> None:
    """And sent instead of an option that was marked before."""
    table = Table(make_ask(OWN))
    assert table.read("a", "c") == Write("field:0", "Your words", "", is_long=True)
    assert _values(table.entered("field:0", "an hour", sends=True)) == {"q1": ["an hour"]}


def test_changes_of_a_confirm_are_written_at_once_when_c_is_pressed() -> None:
    """An option's letter wins over the command of the same letter: c claims nothing here."""
    table = Table(make_ask(CONFIRM, kind=Kind.CONFIRM))
    assert isinstance(table.read("c"), Write)
    sent = _values(table.entered("field:0", "rename it", sends=True))
    assert sent == {"q1": ["changes: rename it"]}


def test_round_is_answered_from_the_top_with_one_key_for_each_question() -> None:
    """Several marks stay in their question; one answer leads to the next that has none."""
    table = Table(make_ask(ROUND))
    table.read("a", "c")
    assert table.press("enter") is None
    assert table.sitting.view.field_at == 1
    table.press("b", "up", "a")
    assert table.sitting.view.field_at == 2
    assert isinstance(table.press("i"), Write)
    wish = table.entered("field:2", "the login", sends=True)
    assert _values(wish) == {"q1": ["Eu", "Asia"], "q2": ["30s"], "q3": ["the login"]}


def test_round_that_lacks_an_answer_leads_there_and_sends_nothing() -> None:
    """Also when it was asked for from a text field."""
    table = Table(make_ask(ROUND))
    table.read("down", "down", "down", "a")
    assert table.entered("field:2", "the login", sends=True) is None
    assert table.press("enter") is None
    assert (table.sitting.view.problem, table.sitting.view.field_at) == ("Answer Q1 first.", 0)


def test_gate_takes_a_command_after_a_colon() -> None:
    """It takes the place of a mark, and Enter sends it as it was typed."""
    table = Table(make_ask(GATE, kind=Kind.GATE))
    assert table.read("1", ":") == Write("command", "Command", "")
    assert table.entered("command", " deselect M4 ") is None
    assert _values(table.press("enter")) == "deselect M4"


def test_gate_that_asks_again_lets_its_reply_be_typed() -> None:
    """Any reply counts there, so nothing is sent before one is typed."""
    table = Table(make_ask(CHECK, kind=Kind.GATE))
    assert table.read("enter") == Write("command", "Your reply")
    table.entered("command", "maybe")
    assert _values(table.press("enter")) == "maybe"


def test_long_list_takes_numbers_beyond_nine() -> None:
    """A digit begins the line; letters stay commands."""
    table = Table(make_ask(LONG))
    assert table.read("2") == Write("pick:0", "Which one? Its number, or a part of it", "2")
    assert table.entered("pick:0", "27") is None
    assert _values(table.press("enter")) == {"q1": ["City 27"]}
    assert isinstance(Table(make_ask(LONG)).read("d"), Write)


@pytest.mark.parametrize(
    ("typed", "marked", "cursor"),
    [
        ("city 7", ("City 7",), 6),
        ("13.", ("City 13",), 12),
        ("Y 30", ("City 30",), 29),
        ("city 2", ("City 2",), 1),
        ("y 2", (), 1),
        ("village", (), 0),
        ("", (), 0),
        ("99", (), 0),
    ],
)
def test_line_of_a_long_list_marks_what_only_one_option_fits(
    typed: str, marked: tuple[str, ...], cursor: int
) -> None:
    """Of several that fit none is marked: the cursor goes to the first of them."""
    table = Table(make_ask(LONG))
    table.read("#")
    table.entered("pick:0", typed)
    view = table.sitting.view
    assert (view.reply.of("q1").keys, view.option_at) == (marked, cursor)
    assert bool(view.problem) is not bool(marked)


def test_cursor_marks_what_it_is_on_with_m() -> None:
    """Arrows move it; Enter alone marks nothing."""
    table = Table(make_ask(ONE))
    assert table.read("down", "enter") is None
    assert table.sitting.view.problem == "Mark one first."
    assert _values(table.press("m", "enter")) == {"q1": ["SQLite"]}


# The beat


@pytest.mark.parametrize(("prompt", "kind"), KINDS, ids=[str(number) for number in range(len(KINDS))])
@examples(25, deadline=None)
@given(keys=st.lists(st.sampled_from(KEYS), max_size=12))
def test_no_keys_before_the_beat_change_a_reply_or_act(prompt: Prompt, kind: Kind, keys: list[str]) -> None:
    """Whatever was meant for elsewhere: typed at once after an ask was drawn it decides nothing."""
    table = Table(make_ask(prompt, kind=kind), runs=(make_run(),))
    table.press("enter", waits=False)
    table.time += BEAT_SECONDS / 2
    table.press(*keys, waits=False)
    assert table.sitting.view.reply == Reply()
    assert not any(isinstance(wish, Send | Claim | Withdraw | Control | Edit) for wish in table.wishes)
    assert all(wish.purpose == "filter" for wish in table.wishes if isinstance(wish, Write))


@examples(60, deadline=None)
@given(
    kind=st.integers(0, len(KINDS) - 1),
    keys=st.lists(st.tuples(st.sampled_from(KEYS), st.floats(0, 0.6)), max_size=25),
)
def test_any_keys_send_only_what_was_marked_and_only_with_enter(
    kind: int, keys: list[tuple[str, float]]
) -> None:
    """What is sent was on the screen, a beat after it was drawn and after the key before, and Enter was the key."""
    prompt, sort = KINDS[kind]
    table = Table(make_ask(prompt, kind=sort), make_ask(ONE, "a2", minutes=5))
    for key, seconds in keys:
        before = table.sitting.view
        table.time += seconds
        wish = table.press(key, waits=False)
        if isinstance(wish, Send):
            assert key == "enter"
            assert seconds >= BEAT_SECONDS
            assert not before.reply.is_blank
            assert wish.ask.ask_id == before.current
            table.sitting.learn(ended(wish.ask), Fate.MINE)


@pytest.mark.parametrize("happening", ["resize", "moved", "list", "help", "whole"])
def test_beat_begins_anew_when_the_screen_is_another(happening: str) -> None:
    """A resize or a focus is told by `arm`; everything else the sitting knows itself."""
    table = Table(make_ask(), make_ask(name="a2", minutes=3))
    table.read()
    if happening == "resize":
        table.sitting.arm()
    elif happening == "moved":
        table.press("j", waits=False)
    elif happening == "list":
        table.press("escape", "enter", waits=False)
    else:
        table.press("?" if happening == "help" else "v", "escape", waits=False)
    table.press("b", waits=False)
    assert (table.sitting.view.is_armed, table.sitting.view.reply) == (False, Reply())
    table.beat()
    table.press("b")
    assert table.sitting.view.reply.of("q1").keys == ("SQLite",)


@pytest.mark.parametrize("purpose", ["field:0", "decline", "withdraw", "escalate", "cancel"])
def test_line_that_is_entered_just_after_a_resize_sends_nothing(purpose: str) -> None:
    """What was typed is kept where it is an answer or a reason; the next time it counts."""
    table = Table(make_ask(FREE), runs=(make_run(),))
    table.read()
    if purpose in ("escalate", "cancel"):
        table.press("r", "x")
    table.sitting.arm()
    assert table.entered(purpose, "grind", sends=True) == Stay()
    assert table.sitting.view.problem == "The keys did not count yet: nothing was sent."
    assert table.entered(purpose, "grind", sends=True) is not None


# Nothing by itself

_asks = st.lists(
    st.builds(
        lambda number, minutes, deadline, is_over: (
            ended(make_ask(name=f"a{number}", minutes=minutes, deadline=deadline))
            if is_over
            else make_ask(name=f"a{number}", minutes=minutes, deadline=deadline)
        ),
        st.integers(0, 8),
        st.integers(0, 90),
        st.sampled_from([0, 5, 50]),
        st.booleans(),
    ),
    max_size=8,
)


@examples(60, deadline=None)
@given(snapshots=st.lists(_asks, max_size=6), moves=st.integers(0, 3))
def test_any_news_leave_the_open_ask_its_row_its_marks_and_the_keys(
    snapshots: list[list[Ask]], moves: int
) -> None:
    """Whatever comes, goes or ends: the marks and the beat stay as they were, and the row while its ask waits."""
    table = Table(make_ask(), make_ask(name="a2", minutes=3), make_ask(name="a3", minutes=5))
    table.press(*("j" for _ in range(moves)))
    table.read("b")
    before = table.sitting.view
    for asks in snapshots:
        snapshot = Snapshot(tuple(ask for ask in asks if ask.is_open))
        gone = table.sitting.gone(snapshot)
        table.sitting.take(snapshot, NOW)
        for ask in gone:
            table.sitting.learn(ended(ask))
        now = table.sitting.view
        is_waiting = now.ask is not None and now.ask.is_open
        row = now.list_row if is_waiting else before.list_row
        assert (now.current, now.reply, row, now.mode) == (
            before.current,
            before.reply,
            before.list_row,
            before.mode,
        )
        assert now.is_armed
        assert now.ask is not None


def test_ask_that_ended_never_waits_again_for_a_look_that_began_before() -> None:
    """Looking takes a while: what was learned meanwhile is newer."""
    ask = make_ask()
    table = Table(ask)
    table.sitting.learn(ended(ask), Fate.MINE)
    table.sitting.take(Snapshot((ask,)), NOW)
    assert table.sitting.view.groups.open == ()


def test_something_new_is_told_once_and_not_at_the_beginning() -> None:
    """The bell rings for what has come, not for what was there."""
    ask, later = make_ask(), make_ask(name="a2")
    table = Table()
    assert table.sitting.take(Snapshot((ask,)), NOW)
    assert [table.sitting.take(Snapshot((ask, later)), NOW) for _ in range(2)] == [True, False]
    assert not Table(ask).sitting.take(Snapshot((ask,)), NOW)


def test_ended_asks_do_not_pile_up() -> None:
    """A sitting of days shows the last ones."""
    table = Table()
    for number in range(MAX_ENDED + 20):
        table.sitting.learn(ended(make_ask(name=f"a{number}")))
    assert len(table.sitting.view.groups.ended) == MAX_ENDED


# Somebody else, and what comes after an answer


def test_ask_that_somebody_else_ended_keeps_the_draft_and_sends_nothing_more() -> None:
    """It folds in place; y copies what was not used, Enter goes on."""
    ask = make_ask()
    table = Table(ask, make_ask(name="a2", minutes=3))
    table.read("b")
    table.sitting.learn(ended(ask, q1=("PostgreSQL",)))
    view = table.sitting.view
    assert (view.current, view.reply.of("q1").keys) == (ask.ask_id, ("SQLite",))
    assert table.press("y") == Copy("SQLite")
    assert table.press("b") == Scroll(-1)
    assert table.sitting.view.reply.of("q1").keys == ("SQLite",)
    table.press("enter")
    assert table.sitting.view.current == "ask_a2"
    assert not any(isinstance(wish, Send) for wish in table.wishes)


def test_answer_that_came_too_late_is_said_to_be_lost_and_kept(tmp_path: Path) -> None:
    """The agent was told somebody else's."""
    ask = make_ask(OWN)
    table = Table(ask, folder=tmp_path)
    table.read("b", "enter")
    table.sitting.learn(ended(ask, q1=("30 seconds",)), Fate.LOST)
    assert table.sitting.view.fates == {ask.ask_id: Fate.LOST}
    assert not table.sitting.view.sending
    again = Table(ask, folder=tmp_path)
    assert again.sitting.view.reply.of("q1").keys == ("5 minutes",)


def test_answer_that_counted_though_the_line_broke_is_ones_own() -> None:
    """It was sent twice, and the first one was the answer: nobody else was first."""
    ask = make_ask()
    table = Table(ask)
    table.read("b", "enter")
    table.sitting.refuse("The server does not answer.", ask.ask_id)
    assert isinstance(table.press("enter"), Send)
    table.sitting.learn(ended(ask, "human:ana", q1=("SQLite",)), Fate.LOST)
    assert table.sitting.view.fates == {ask.ask_id: Fate.MINE}


def test_answer_that_was_taken_leaves_no_draft_and_enter_goes_on_below(tmp_path: Path) -> None:
    """Whoever works downwards goes on downwards."""
    asks = [make_ask(name=f"a{number}", minutes=number) for number in (1, 2, 3)]
    table = Table(*asks, folder=tmp_path)
    table.press("j")
    table.read("b", "enter")
    table.sitting.learn(ended(asks[1], "human:ana", q1=("SQLite",)), Fate.MINE)
    assert (table.sitting.view.current, table.sitting.view.drafts) == ("ask_a2", frozenset())
    table.press("enter")
    assert table.sitting.view.current == "ask_a3"


def test_answer_on_its_way_is_not_sent_twice_and_stops_no_other() -> None:
    """Somebody impatient presses Enter again; somebody busy answers the next one."""
    table = Table(make_ask(), make_ask(name="a2", minutes=3))
    table.read("b", "enter")
    assert table.press("enter") is None
    seen = [table.sitting.view.sending]
    table.press("j")
    seen.append(table.sitting.view.sending)
    assert seen == [True, False]
    assert isinstance(table.press("a", "enter"), Send)


def test_decline_on_its_way_is_not_sent_twice_nor_overtaken_by_an_answer() -> None:
    """One ask gets one reply from here at a time."""
    table = Table(make_ask())
    table.read("b", "d")
    assert isinstance(table.entered("decline", ""), Send)
    assert table.entered("decline", "") == Stay()
    assert table.press("enter") is None


def test_refusal_says_which_ask_it_was_when_another_is_open() -> None:
    """And that one can be sent again."""
    table = Table(make_ask(OWN), make_ask(OWN, "a2", minutes=3))
    table.read("b", "enter", "j")
    table.sitting.refuse("Not now.", "ask_a1")
    assert table.sitting.view.problem == "How old may a page be?: Not now."
    assert isinstance(table.press("k", "enter"), Send)


# Offline


@pytest.mark.parametrize("keys", ["b enter", "d", "alt+c", "W", "r p", "r x", "r e"])
def test_nothing_is_sent_while_the_stores_do_not_answer(keys: str) -> None:
    """It is said, marks and drafts stay, and the same keys work when they are back."""
    table = Table(make_ask(), runs=(make_run(),))
    table.read()
    pressed = keys.split()
    table.sitting.lose(NOW)
    assert table.press(*pressed) is None
    assert table.sitting.view.problem == "Offline: nothing was sent."
    table.press("escape")
    table.sitting.take(Snapshot((make_ask(),), (make_run(),)), NOW)
    assert table.read(*pressed) is not None


def test_decline_whose_line_was_open_when_the_store_went_keeps_its_reason() -> None:
    """It is in the line when it is opened again."""
    table = Table(make_ask())
    table.read("d")
    table.sitting.lose(NOW)
    assert table.entered("decline", "not mine") == Stay()
    table.sitting.take(Snapshot((make_ask(),)), NOW)
    assert table.press("d") == Write("decline", "Decline. Why? The agent is told", "not mine")
    assert table.entered("decline", "not mine") == Send(make_ask(), reason="not mine")


# Commands


def test_commands_of_an_ask_are_alt_and_their_letter_where_an_option_has_it() -> None:
    """The option wins: a letter that marks never does anything else."""
    prompt = Prompt("Which?", "", (replace(LONG.fields[0], options=LONG.fields[0].options[:5]),))
    table = Table(make_ask(prompt))
    assert table.read("d", "e", "c") is None
    assert table.sitting.view.reply.of("q1").keys == ("City 3",)
    assert isinstance(table.press("alt+d"), Write)
    assert isinstance(table.press("alt+c"), Claim)
    assert table.press("alt+b") == Scroll(-1)
    assert table.sitting.view.reply.of("q1").keys == ("City 3",)


def test_draft_is_found_again_by_the_same_person_and_nothing_grave_is_marked(tmp_path: Path) -> None:
    """After the program ended: what was marked stays, but for what cannot be undone."""
    first = Table(make_ask(ROUND), make_ask(APPROVAL, "a2", Kind.APPROVAL, 3), folder=tmp_path)
    first.read("c", "j", "a")
    again = Table(make_ask(ROUND), make_ask(APPROVAL, "a2", Kind.APPROVAL, 3), folder=tmp_path)
    assert (again.sitting.view.current, again.sitting.view.reply) == ("ask_a2", Reply())
    again.press("k")
    assert again.sitting.view.reply == Reply({"q1": FieldReply(("Asia",))})


def test_withdrawing_asks_again_and_wants_a_reason() -> None:
    """An Enter too many takes nothing back."""
    table = Table(make_ask())
    assert isinstance(table.press("W"), Write)
    assert table.entered("withdraw", " ") is None
    assert table.sitting.view.problem == "Not taken back: say why."
    assert table.entered("withdraw", "asked twice") == Withdraw(make_ask(), "asked twice")


def test_list_answers_nothing() -> None:
    """There only the title is seen: no key marks, writes, declines or sends."""
    table = Table(make_ask())
    table.press("a", "i", "e", "d", "m", "1", "backspace")
    assert (table.wishes, table.sitting.view.reply) == ([], Reply())


def test_whole_ask_is_for_reading_only() -> None:
    """The options are not seen there: letters mark nothing, Enter goes back and sends nothing."""
    table = Table(make_ask())
    table.read("b", "v", "a", "enter")
    assert (table.wishes, table.sitting.view.mode) == ([], Mode.ASK)
    assert table.sitting.view.reply.of("q1").keys == ("SQLite",)


@pytest.mark.parametrize("mode", [Mode.LIST, Mode.ASK, Mode.RUNS])
def test_help_leads_back_to_where_it_was_asked_for(mode: Mode) -> None:
    """And can be paged through before."""
    table = Table(make_ask(), runs=(make_run(),))
    table.press(*{Mode.LIST: [], Mode.ASK: ["enter"], Mode.RUNS: ["r"]}[mode])
    assert table.press("?", " ") == Scroll(1)
    table.press("escape")
    assert table.sitting.view.mode is mode


def test_snoozed_ask_goes_from_the_list_until_all_are_shown_again() -> None:
    """In this view: whoever else looks sees it."""
    table = Table(make_ask(), make_ask(name="a2", minutes=3))
    table.press("z")
    view = table.sitting.view
    assert ([ask.ask_id for ask in view.groups.open], view.current) == (["ask_a2"], "ask_a2")
    table.press("z")
    assert (table.sitting.view.groups.open, table.sitting.view.current) == ((), "")
    table.press("Z")
    assert len(table.sitting.view.groups.open) == 2


def test_oldest_next_copy_browser_and_leaving_have_their_keys() -> None:
    """Leaving answers nothing, whatever is marked."""
    table = Table(make_ask(), make_ask(name="a2", minutes=30), make_ask(name="a3", minutes=3))
    table.press("o")
    assert table.sitting.view.current == "ask_a2"
    table.press("n")
    assert table.sitting.view.current == "ask_a1"
    assert table.press("y") == Copy("ask_a1")
    assert isinstance(table.press("w"), Browse)
    assert table.read("b", "q") == Leave()


def test_filter_shows_what_fits_and_esc_shows_all_again() -> None:
    """The open ask gives way to the first that fits, for somebody asked for it."""
    table = Table(make_ask(), make_ask(OWN, "a2", minutes=3))
    assert table.press("/") == Write("filter", "Filter", "")
    table.entered("filter", "page")
    assert [ask.ask_id for ask in table.sitting.view.groups.open] == ["ask_a2"]
    assert table.sitting.view.current == "ask_a2"
    table.press("escape")
    assert len(table.sitting.view.groups.open) == 2


def test_backspace_unmarks_one_question_and_keeps_what_was_written() -> None:
    """Not the whole round with one key."""
    table = Table(make_ask(ROUND))
    table.read("a", "down", "down", "down", "a")
    table.entered("field:2", "the login")
    table.press("up", "up", "backspace")
    fields = table.sitting.view.reply.fields
    assert (fields["q1"].keys, fields["q2"].keys, fields["q3"].text) == (("Eu",), (), "the login")


def test_words_are_kept_letter_by_letter_while_they_are_written(tmp_path: Path) -> None:
    """Nothing is marked or sent by them; leaving the field keeps them."""
    table = Table(make_ask(OWN), folder=tmp_path)
    table.read("a", "i")
    for text in ("a", "an", "an hour"):
        table.sitting.typed("field:0", text)
    table.sitting.left("field:0")
    assert Table(make_ask(OWN), folder=tmp_path).sitting.view.reply == Reply(
        {"q1": FieldReply(("30 seconds",), "an hour")}
    )


def test_command_that_is_left_gives_the_mark_back(tmp_path: Path) -> None:
    """While it is typed it survives as a draft; Esc means that it was not meant."""
    table = Table(make_ask(GATE, kind=Kind.GATE), folder=tmp_path)
    table.read("1", ":")
    table.sitting.typed("command", "todo: look")
    assert Table(make_ask(GATE, kind=Kind.GATE), folder=tmp_path).sitting.view.reply.command == "todo: look"
    table.sitting.left("command")
    assert not Table(make_ask(GATE, kind=Kind.GATE), folder=tmp_path).sitting.view.reply.command


# Runs


def test_run_is_paused_resumed_and_escalated_with_model_and_reason() -> None:
    """A model may have a colon in its name: a space after it tells the reason from it."""
    seen = make_run()
    table = Table(runs=(seen,))
    assert table.press("r", "p") == Control(seen.run, "pause")
    assert table.press("r") == Control(seen.run, "resume")
    assert isinstance(table.press("e"), Write)
    said = table.entered("escalate", "vendor:opus: stuck on the clock")
    assert said == Control(seen.run, "escalate", "vendor:opus", "stuck on the clock")
    assert table.entered("escalate", " ") is None


def test_run_is_cancelled_only_when_its_mode_is_typed() -> None:
    """Checked twice: the key, and the word."""
    seen = make_run()
    table = Table(runs=(seen,))
    wish = table.press("r", "x")
    assert isinstance(wish, Write)
    assert wish.label.endswith(": grind")
    assert table.entered("cancel", "yes") is None
    assert table.sitting.view.problem == "Not cancelled: that is not its mode."
    assert table.entered("cancel", "grind") == Control(seen.run, "cancel")


def test_news_of_runs_never_put_another_run_under_the_keys() -> None:
    """Not for the cursor, nor for the line that is being typed."""
    first, second = make_run("r1"), make_run("r2")
    table = Table(runs=(first,))
    table.press("r", "x")
    table.sitting.take(Snapshot((), (second, first)), NOW)
    assert table.sitting.view.run == first
    table.sitting.take(Snapshot((), (second,)), NOW)
    assert table.press("p", waits=False) is None
    table.beat()
    assert table.entered("cancel", "grind") == Control(first.run, "cancel")


def test_second_r_resumes_nothing_before_the_beat() -> None:
    """The key that shows the runs is the one that resumes: pressed twice at once it only shows them."""
    table = Table(runs=(make_run(mode=RunMode.LOOP),))
    table.press("r", "r", waits=False)
    assert table.wishes == []


def test_decline_that_counted_though_the_line_broke_is_ones_own() -> None:
    """As for an answer."""
    ask = make_ask()
    table = Table(ask)
    table.read("d")
    table.entered("decline", "no")
    outcome = Outcome(State.DECLINED, NOW, "human:ana", reason="no")
    table.sitting.learn(replace(ask, state=State.DECLINED, outcome=outcome, sequence=2), Fate.LOST)
    assert table.sitting.view.fates == {ask.ask_id: Fate.MINE}


# The row of the cursor


def _row(table: Table, size: tuple[int, int]) -> int:
    lines = [line.text for line in compose(table.sitting.view, *size)]
    (row,) = [at for at, text in enumerate(lines) if text.startswith((">?", "│>?"))]
    return row


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 12)], ids=["wide", "middle", "small"])
@examples(25, deadline=None)
@given(moves=st.integers(0, 9), news=st.lists(st.tuples(st.integers(0, 15), st.booleans()), max_size=8))
def test_row_of_the_cursor_stays_where_it_is_on_the_screen_whatever_comes_or_ends(
    size: tuple[int, int], moves: int, news: list[tuple[int, bool]]
) -> None:
    """Asks with and without a deadline come above and below it, and others end."""
    asks = {
        f"ask_a{number}": make_ask(name=f"a{number}", minutes=number, deadline=(number % 3) * 9)
        for number in range(10)
    }
    table = Table(*asks.values())
    table.press(*("j" for _ in range(moves)))
    before = _row(table, size)
    for number, is_urgent in news:
        name = f"ask_a{number}"
        if name == table.sitting.view.current:
            continue
        if name in asks:
            table.sitting.learn(ended(asks.pop(name)))
        else:
            asks[name] = make_ask(name=f"a{number}", minutes=0, deadline=1 if is_urgent else 0)
            table.sitting.take(Snapshot(tuple(asks.values())), NOW)
        assert _row(table, size) == before


def test_list_closes_up_when_somebody_moves() -> None:
    """Room that asks left above is empty only until the next key: then the list begins at its top again."""
    asks = [make_ask(name=f"a{number}", minutes=number) for number in range(5)]
    table = Table(*asks)
    table.press("j", "j", "j")
    for ask in asks[:3]:
        table.sitting.learn(ended(ask))
    table.press("j", "k")
    assert (table.sitting.view.current, table.sitting.view.list_row) == ("ask_a3", 1)


def test_ask_that_has_ended_stands_among_those_that_have_and_hides_nothing_that_waits() -> None:
    """The list goes back to its beginning: it is for what still waits."""
    table = Table(make_ask(), make_ask(name="a2", minutes=3), make_ask(name="a3", minutes=5))
    opened = table.sitting.view.ask
    assert opened is not None
    table.sitting.learn(ended(opened))
    shown = "\n".join(each.text for each in compose(table.sitting.view, 120, 36))
    assert "more above" not in shown
    assert [ask.ask_id for ask in table.sitting.view.groups.ended] == [opened.ask_id]


# Keys that were not meant


def test_key_that_comes_on_the_heels_of_another_does_nothing() -> None:
    """Whoever types on is writing something else: only a key after a quiet beat marks, sends or reaches out."""
    table = Table(make_ask(), make_ask(name="a2", minutes=3))
    table.read()
    for key in ("j", "k", "b", "enter", "w", "c", "d", "W"):
        table.time += BEAT_SECONDS / 2
        assert table.press(key, waits=False) is None or key == "j"
    assert table.sitting.view.reply == Reply()
    table.beat()
    table.press("b", waits=False)
    table.time += BEAT_SECONDS / 2
    assert table.press("enter") is None
    assert isinstance(table.press("enter"), Send)


@pytest.mark.parametrize("mode", [Mode.LIST, Mode.ASK])
def test_n_neither_marks_nor_moves_on_a_confirm(mode: Mode) -> None:
    """It says which key marks the no; once the confirm has ended, n goes on as everywhere."""
    ask = make_ask(CONFIRM, kind=Kind.CONFIRM)
    table = Table(ask, make_ask(name="a2", minutes=3))
    if mode is Mode.ASK:
        table.read()
    assert table.press("n") is None
    view = table.sitting.view
    assert (view.current, view.reply) == (ask.ask_id, Reply())
    assert "S marks the no" in view.problem
    table.sitting.learn(ended(ask))
    table.press("n")
    assert table.sitting.view.current == "ask_a2"


def test_line_is_sent_by_enter_only_after_a_quiet_beat_and_by_f2_at_once() -> None:
    """Enter ends every line of a text that was meant for elsewhere; F2 ends none."""
    table = Table(make_ask())
    table.read("d")
    table.sitting.typed("decline", "ecide later")
    assert table.entered("decline", "ecide later") == Stay()
    assert isinstance(table.entered("decline", "ecide later"), Send)
    again = Table(make_ask())
    again.read("d")
    again.sitting.typed("decline", "not mine")
    assert isinstance(again.entered("decline", "not mine", sends=True), Send)


@pytest.mark.parametrize("purpose", ["field:0", "decline", "withdraw"])
def test_field_of_an_ask_that_ended_stays_with_its_words_and_sends_nothing(purpose: str) -> None:
    """Esc leaves it, and a quiet second later keys count again."""
    ask = make_ask(FREE)
    table = Table(ask, make_ask(name="a2", minutes=3))
    table.read("i" if purpose == "field:0" else "d" if purpose == "decline" else "W")
    table.sitting.typed(purpose, "mine")
    table.sitting.learn(ended(ask))
    assert table.entered(purpose, "mine", sends=True) == Stay()
    assert table.sitting.view.problem == "It has ended: nothing was sent. Your words are kept."
    table.sitting.left(purpose)
    table.press("enter", waits=False)  # on to the next one
    table.beat()
    table.press("b", waits=False)
    assert table.sitting.view.reply == Reply()
    table.time += QUIET_SECONDS
    table.press("b")
    assert table.sitting.view.reply.of("q1").keys == ("SQLite",)


def test_inbox_that_ended_under_somebodys_hands_takes_no_key_before_esc(tmp_path: Path) -> None:
    """They may still be typing into a field that is not there any more."""
    before = Table(make_ask(), folder=tmp_path)
    before.sitting.note_typing(is_typing=True)
    table = Table(make_ask(), make_ask(name="a2", minutes=3), folder=tmp_path)
    table.read("b", "j", "q", "/", "enter")
    assert (table.wishes, table.sitting.view.current, table.sitting.view.mode) == ([], "ask_a1", Mode.LIST)
    table.press("escape", waits=False)
    table.read()
    table.time -= BEAT_SECONDS
    table.press("b", waits=False)
    assert table.sitting.view.reply == Reply()
    table.time += QUIET_SECONDS
    table.press("b")
    assert table.sitting.view.reply.of("q1").keys == ("SQLite",)
    assert not Table(make_ask(), folder=tmp_path).sitting.view.is_held


# What cannot be undone


@pytest.mark.parametrize("yes", ["y", "yes", " YES "])
def test_destructive_option_is_asked_once_more_by_its_name(yes: str) -> None:
    """Enter asks; only y or yes sends it, and says that it was confirmed."""
    table = Table(make_ask())
    assert isinstance(table.read("c", "enter"), Write)
    assert table.sitting.view.check == 'This chooses "Drop it", which cannot be undone. Proceed? [y/n]'
    assert table.entered("check", yes) == Send(make_ask(), {"q1": ["drop"]}, is_confirmed=True)
    assert table.sitting.view.check == ""


@pytest.mark.parametrize("said", ["", "n", "c", "drop it", "yes please"])
def test_anything_but_a_yes_sends_nothing_destructive_and_keeps_the_mark(said: str) -> None:
    """The ask stands there as before."""
    table = Table(make_ask())
    table.read("c", "enter")
    assert table.entered("check", said) is None
    view = table.sitting.view
    assert (view.check, view.problem, view.reply.of("q1").keys) == ("", "Nothing was sent.", ("drop",))
    table.press("enter")
    table.sitting.left("check")
    assert table.sitting.view.check == ""


# A no with words


def test_approval_is_rejected_with_words() -> None:
    """The field of an approval is for its no: the words go with it, and never with a yes."""
    ask = make_ask(APPROVAL, kind=Kind.APPROVAL)
    table = Table(ask)
    assert table.read("i") == Write("field:0", "Your no, and why", "", is_long=True)
    sent = Send(ask, {"approve": ["Reject"]}, reason="not on a Friday")
    assert table.entered("field:0", "not on a Friday", sends=True) == sent
    other = Table(ask)
    other.read("i")
    other.sitting.typed("field:0", "hm")
    other.sitting.left("field:0")
    other.beat()
    assert other.press("a", "enter") == Send(ask, {"approve": ["Approve"]})


def test_marks_of_an_approval_are_never_kept_and_its_words_are(tmp_path: Path) -> None:
    """Neither in the file nor when one comes back to it."""
    ask = make_ask(APPROVAL, kind=Kind.APPROVAL)
    table = Table(ask, make_ask(name="a2", minutes=3), folder=tmp_path)
    table.read("i")
    table.entered("field:0", "not on a Friday")
    assert table.sitting.view.reply.of("approve").keys == ("Reject",)
    assert Drafts(tmp_path).read(ask.ask_id) == Reply({"approve": FieldReply((), "not on a Friday")})
    table.press("j", "k")
    assert table.sitting.view.reply == Reply({"approve": FieldReply((), "not on a Friday")})
