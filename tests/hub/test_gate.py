"""A gate in a store takes exactly what it takes on a terminal."""

import pytest
from hypothesis import given, settings

from assent.protocol.ask import Kind, State
from assent.protocol.error import UnrecognisedError
from assent.protocol.gate import ACTION, check_question
from assent.testing import throwaway
from tests.protocol.gate_table import ROWS, Row, meaning, mutated, prompt_of
from tests.proves import proves

__all__: list[str] = []

few = settings(max_examples=12, deadline=None, derandomize=True, database=None)


@proves("G16", "G36", "G37")
@pytest.mark.parametrize("row", ROWS, ids=[row.context for row in ROWS])
def test_stored_gate_takes_what_was_typed_and_nothing_else(row: Row) -> None:
    """The same second reading as for `recognise`; a reply that means nothing leaves the gate open."""
    with throwaway() as store:
        agent, person = store.agent(), store.person()

        @few
        @given(mutated(row))
        def holds(text: str) -> None:
            expected = meaning(row, text)
            for reply in (text, {ACTION: [text]}):
                gate = agent.open(prompt_of(row), kind=Kind.GATE)
                if expected is None:
                    with pytest.raises(UnrecognisedError, match="I didn't recognize"):
                        person.answer(gate.ask_id, reply)
                    assert person.show(gate.ask_id).state is State.OPEN
                else:
                    answer = person.answer(gate.ask_id, reply).answer
                    assert answer is not None
                    assert answer.values == {ACTION: (expected,)}

        holds()


@proves("G26")
def test_stored_check_is_ended_by_any_reply() -> None:
    """Also by an empty one: it is recorded as what it is, and is no yes."""
    with throwaway() as store:
        for reply, kept in (("Y", "y"), ("", ""), ("perhaps", "perhaps")):
            check = store.agent().open(check_question("Sure? [y/n]"), kind=Kind.GATE)
            answer = store.person().answer(check.ask_id, reply).answer
            assert answer is not None
            assert list(answer.values.values()) == [(kept,)]
