"""The table of replies at the terminal inbox, by its keys and its lines."""

from textual import events

from assent.protocol.ask import Kind
from assent.protocol.principal import Assurance
from assent.protocol.prompt import Field
from assent.surfaces.tui.reply import keycap
from assent.testing import throwaway
from tests.surfaces.replies import TABLE, Case, Verdict, code_of, hold, judge, kind_of, open_ask
from tests.surfaces.tui.seat import Seat, sit

__all__: list[str] = []

_WAYS = {"yes": "y", "no": "s"}


async def press(seat: Seat, *keys: str) -> None:
    """Press keys, each a whole second after the other: over so many keys fractions of it would not add up."""
    for key in keys:
        await seat.hit(key, 1.0)


async def write(seat: Seat, text: str) -> None:
    """Put a text into the field that is open, as from the clipboard, and let it be taken."""
    seat.app.post_message(events.Paste(text))
    await press(seat, "f2" if seat.app.query("TextArea") else "enter")


async def mark(seat: Seat, case: Case, field: Field) -> None:
    """Mark the options of a field by their keys, and write the words."""
    for place, option in enumerate(field.options):
        if option.key in case.choose.get(field.name, ()):
            await press(seat, keycap(case.prompt, field, place).lower())
    if field.name in case.own:
        await press(seat, keycap(case.prompt, field, len(field.options)).lower() if field.options else "i")
        await write(seat, case.own[field.name])


async def say(seat: Seat, case: Case) -> None:
    """Say it with the keys, up to what would send it."""
    text, prompt = case.text, case.prompt
    if text is None:
        for at, field in enumerate(prompt.fields):
            while seat.view.field_at < at:
                await press(seat, "down")
            await mark(seat, case, field)
        if case.reason:
            await press(seat, "i")
            await write(seat, case.reason)
    elif prompt.commands and text:
        await press(seat, "colon")
        await write(seat, text)
    elif kind_of(case) is Kind.CONFIRM and not prompt.fields[0].options and text:
        await press(seat, _WAYS.get(text, "c"))
        if text not in _WAYS:
            await write(seat, text.removeprefix("changes:").strip(" "))
    elif not prompt.fields[0].options:
        await press(seat, "i")
        await write(seat, text)
    elif text:
        await press(seat, text)


def test_reply_at_the_terminal_inbox_means_what_it_means_everywhere() -> None:
    """A key marks, Enter sends, and what lacks is said in a sentence."""
    verdicts: dict[str, Verdict] = {}
    with throwaway() as store:
        agent, person = store.agent(), store.person("ana", assurance=Assurance.TERMINAL)

        async def give(seat: Seat, case: Case) -> Verdict:
            ask = open_ask(agent, case)
            await seat.shows(1)
            await press(seat, "o", "enter")
            await say(seat, case)
            await seat.until(lambda: not seat.view.sending)
            if person.show(ask.ask_id).is_open and not seat.view.problem and not seat.view.check:
                await press(seat, "enter")
                await seat.until(
                    lambda: seat.view.problem or seat.view.check or not person.show(ask.ask_id).is_open
                )
            told = seat.view.problem or seat.view.check
            if case.confirmed and seat.view.check:
                await write(seat, "y")
                await seat.ended()
            ended = person.show(ask.ask_id)
            if ended.is_open:
                agent.withdraw(ask.ask_id, "The next one.")
            await press(seat, "escape", "escape", "escape")
            await seat.shows(0)
            return judge(ended, code_of(told) if ended.is_open else "")

        async def story(seat: Seat) -> None:
            for case in TABLE.cases:
                if "tui" not in TABLE.excused(case):
                    verdicts[case.name] = await give(seat, case)

        sit(store, story, size=(40, 12))  # what is drawn is another test's business
    hold("tui", lambda case: verdicts[case.name])
