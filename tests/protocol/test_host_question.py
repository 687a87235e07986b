"""Questions that an agent put to its host: asked as they are, and answered in the host's own words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.answer import FieldValues
from assent.protocol.ask import Ask
from assent.protocol.capability import Capability
from assent.protocol.error import BadPromptError, TooLargeError
from assent.protocol.folding import fold_prompt
from assent.protocol.host_question import HostOption, HostQuestion, HostReply, host_prompt, host_replies
from assent.protocol.prompt import MAX_FIELDS, MAX_TITLE, Prompt, check_prompt
from assent.protocol.reply import recognise
from tests.protocol.dialogs import capabilities, choose
from tests.protocol.strategies import modest
from tests.samples import new_answer, new_ask

__all__: list[str] = []

AWKWARD = [
    "B",
    "2",
    "3)",
    "yes",
    "Yes",
    "yes ",
    "",
    " ",
    "\u200b",
    "a, b",
    "x" * 3_000,
    "q2: no",
    "ﬁn",
    "fin",
    "1. 2",
]
LABELS = st.sampled_from(AWKWARD) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
OPTIONS = st.builds(HostOption, LABELS, st.sampled_from(["", "slow", "line\nbreak"]))
QUESTIONS = st.lists(
    st.builds(
        HostQuestion,
        st.text(max_size=3),
        st.sampled_from(["Which?", "", "a\nb", "w" * 2_500]),
        st.lists(OPTIONS, max_size=6).map(tuple),
        multiple=st.booleans(),
        free=st.booleans(),
    ),
    min_size=1,
    max_size=4,
)
CHOICES = st.builds(
    HostQuestion,
    st.just("key"),
    st.just("Which?"),
    st.lists(OPTIONS, min_size=1, max_size=9).map(tuple),
    multiple=st.booleans(),
    free=st.booleans(),
)


def answered(prompt: Prompt, values: FieldValues) -> Ask:
    """Return the ask as somebody answered it."""
    return new_ask(prompt=prompt, answer=new_answer(values=values))


@modest
@given(QUESTIONS, st.data())
def test_every_option_can_be_typed_and_comes_back_as_the_hosts_own(
    questions: list[HostQuestion], data: st.DataObject
) -> None:
    """By its number or its label, whatever the host called it; and nothing else was chosen."""
    prompt = host_prompt(questions)
    check_prompt(prompt)
    typed, wanted = [], []
    for number, question in enumerate(questions, 1):
        if question.options:
            place = data.draw(st.integers(0, len(question.options) - 1))
            typed.append(f"q{number}: {place + 1})")
            wanted.append(HostReply(question.key, (question.options[place].label,)))
        else:
            typed.append(f"q{number}: my own words")
            wanted.append(HostReply(question.key, (), "my own words"))
    reply = "\n".join(typed) if len(typed) > 1 else typed[0].partition(": ")[2]
    values = recognise(prompt, reply)
    assert host_replies(questions, answered(prompt, values)) == tuple(wanted)


@modest
@given(CHOICES, capabilities, st.data())
def test_every_set_of_a_hosts_options_can_be_chosen_on_any_surface_and_comes_back(
    question: HostQuestion, capability: Capability, data: st.DataObject
) -> None:
    """From one host's limits to another's: paged, listed or typed, the asking host gets its own labels, and no other."""
    prompt = host_prompt([question])
    most = len(question.options) if question.multiple else 1
    places = data.draw(
        st.lists(st.integers(0, len(question.options) - 1), min_size=1, max_size=most, unique=True)
    )
    reply = choose(fold_prompt(prompt, capability), capability, [f"{place + 1}." for place in places])
    (told,) = host_replies([question], answered(prompt, recognise(prompt, reply)))
    assert told == HostReply(question.key, tuple(question.options[place].label for place in sorted(places)))


def test_several_choices_come_back_in_the_order_of_the_list() -> None:
    """However they were typed; and words beside them come back as words."""
    question = HostQuestion(
        "colours", "Which?", tuple(map(HostOption, ["red", "green", "blue"])), multiple=True
    )
    prompt = host_prompt([question])
    (chosen,) = host_replies([question], answered(prompt, recognise(prompt, "3, 1")))
    assert chosen == HostReply("colours", ("red", "blue"))
    (typed,) = host_replies([question], answered(prompt, recognise(prompt, "whatever is left")))
    assert (typed.labels, typed.texts) == ((), ("whatever is left",))


def test_ask_without_an_answer_gives_the_host_nothing() -> None:
    """What to tell it then is for its adapter to say."""
    question = HostQuestion("a", "Which?", (HostOption("x"), HostOption("y")))
    assert host_replies([question], new_ask(prompt=host_prompt([question]))) == ()


def test_labels_that_cannot_be_told_apart_are_shown_with_their_number() -> None:
    """The host gets its own label back, not ours."""
    question = HostQuestion("a", "Which?", (HostOption("fin"), HostOption("ﬁn", "the other")), free=False)
    prompt = host_prompt([question])
    assert [option.label for option in prompt.fields[0].options] == ["1. fin", "2. ﬁn"]
    (reply,) = host_replies([question], answered(prompt, recognise(prompt, "2")))
    assert reply.labels == ("ﬁn",)


def test_long_question_keeps_all_its_words() -> None:
    """The title is cut, and the body holds the whole."""
    text = "Which " + "x" * 4_000
    prompt = host_prompt([HostQuestion("a", text)], body="context")
    assert len(prompt.title) == MAX_TITLE
    assert prompt.body == f"{text}\n\ncontext"


@pytest.mark.parametrize("count", [1, 2], ids=["alone", "in a round"])
def test_question_whose_first_line_shows_nothing_has_the_next_one_as_its_title(count: int) -> None:
    """A line of hidden characters is no title, and whatever a host accepted can be asked."""
    asked = [HostQuestion(str(place), "\u200b\nWhich?") for place in range(count)]
    prompt = host_prompt(asked, title="\u200b\n\u200b\nWhich?")
    assert prompt.title == "Which?"
    assert "\u200b\nWhich?" in prompt.body


def test_nothing_and_too_much_are_refused() -> None:
    """One sentence each."""
    with pytest.raises(BadPromptError, match="asked nothing"):
        host_prompt([])
    with pytest.raises(TooLargeError, match="questions"):
        host_prompt([HostQuestion("a", "?")] * (MAX_FIELDS + 1))
    with pytest.raises(TooLargeError, match="options"):
        host_prompt([HostQuestion("a", "?", tuple(HostOption(str(n)) for n in range(201)))])
