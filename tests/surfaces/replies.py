"""One table of replies, for every surface: what a person says to an ask, and what becomes of it.

`tests/data/replies.json` has the cases. Each surface runs all that it can say, through the door that its users have, and
must come to the same verdict; what it cannot say by design is named there with its reason.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import msgspec

from assent.client.client import Client
from assent.protocol.approval import approval_prompt
from assent.protocol.ask import Ask, Kind
from assent.protocol.gate import CONTEXTS, Gate
from assent.protocol.json_text import Json
from assent.protocol.prompt import Field, Prompt, render_position

__all__ = ["ASKS", "TABLE", "Case", "Verdict", "code_of", "hold", "judge", "kind_of", "open_ask", "spell"]

_PATH = Path(__file__).parent.parent / "data" / "replies.json"
_numbers = itertools.count(1)
_CODES = {
    "cannot be undone": "confirm_first",
    "at most 65,536 bytes": "too_large",
    "is not enough": "assurance",
    "A reason goes with a no": "bad_request",
}


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of an ask: its answer, or the code of the refusal that left it open."""

    values: dict[str, tuple[str, ...]] = {}
    because: str = ""
    """The reason that was stored."""
    code: str = ""


class _Shown(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An ask of the table."""

    kind: Kind = Kind.QUESTION
    title: str = ""
    fields: tuple[Field, ...] = ()
    commands: tuple[str, ...] = ()
    gate: tuple[str, str, tuple[str, ...], int] | None = None
    approval: tuple[str, Json] | None = None

    @property
    def prompt(self) -> Prompt:
        if self.gate is not None:
            name, summary, ids, chunks = self.gate
            return Gate(CONTEXTS[name], summary, ids, chunks).prompt
        if self.approval is not None:
            return approval_prompt(*self.approval)
        return Prompt(self.title, "", self.fields, commands=self.commands)


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One reply, and its verdict."""

    ask: str
    type: str | None = None
    """The text that is typed; else options are chosen, and words written beside them."""
    times: int = 1
    """The text is that many times as long."""
    choose: dict[str, tuple[str, ...]] = {}
    own: dict[str, str] = {}
    reason: str = ""
    confirmed: bool = False
    sure: bool = True
    """Whoever answers is known well enough for an approval, where the surface can be told so."""
    values: dict[str, tuple[str, ...]] = {}
    because: str = ""
    code: str = ""
    not_on: dict[str, str] | str = {}
    """Per surface that cannot say it, the name of the reason; or a group of those."""

    @property
    def prompt(self) -> Prompt:
        """What is asked."""
        return ASKS[self.ask]

    @property
    def text(self) -> str | None:
        """What is typed."""
        return None if self.type is None else self.type * self.times

    @property
    def verdict(self) -> Verdict:
        """What must become of it."""
        return Verdict(self.values, self.because, self.code)

    @property
    def name(self) -> str:
        """What a failing test calls it."""
        said = msgspec.json.encode(self.type if self.type is not None else [self.choose, self.own]).decode()
        parts = [said, self.reason, "confirmed" if self.confirmed else "", "" if self.sure else "not sure"]
        return f"{self.ask} <- {' '.join(filter(None, parts))}"


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    surfaces: dict[str, int]
    """Of each surface, how many cases it runs at least."""
    reasons: dict[str, str]
    groups: dict[str, dict[str, str]]
    asks: dict[str, _Shown]
    cases: tuple[Case, ...]

    def excused(self, case: Case) -> dict[str, str]:
        """Return the surfaces that cannot say it, and why."""
        named = case.not_on if isinstance(case.not_on, dict) else self.groups[case.not_on]
        return {surface: self.reasons[reason] for surface, reason in named.items()}


TABLE = msgspec.json.decode(_PATH.read_bytes(), type=_Table)
ASKS = {name: shown.prompt for name, shown in TABLE.asks.items()}


def kind_of(case: Case) -> Kind:
    """Return the kind of the ask."""
    return TABLE.asks[case.ask].kind


def open_ask(agent: Client, case: Case) -> Ask:
    """Ask what the reply is to. Each action is another one: nobody is asked again about what was just rejected."""
    prompt = case.prompt
    if prompt.action is not None:
        prompt = msgspec.structs.replace(prompt, action={"number": next(_numbers), "action": prompt.action})
    return agent.open(prompt, kind=kind_of(case)).ask


def spell(case: Case) -> str:
    """Return the reply as a text, as somebody would copy it who has nothing but a line."""
    if case.text is not None:
        return case.text
    lines = []
    for number, field in enumerate(case.prompt.fields, start=1):
        said = []
        for place, option in enumerate(field.options):
            if option.key in case.choose.get(field.name, ()):
                mark = str(place + 1) if case.prompt.commands else render_position(place, field)
                said.append(f"{mark}) {option.label}")
        if field.name in case.own:
            mark = f"{render_position(len(field.options), field)}) " if field.options else ""
            said.append(mark + case.own[field.name])
        if said:
            lines.append(f"q{number}: {', '.join(said)}" if len(case.prompt.fields) > 1 else ", ".join(said))
    return "\n".join(lines)


def code_of(sentence: str) -> str:
    """Return the code of a refusal by what people are shown of it; a gap that they are told of is not recognised."""
    found = (code for words, code in _CODES.items() if words in sentence)
    return next(found, "unrecognised" if sentence else "nothing was said")


def judge(ask: Ask, code: str = "") -> Verdict:
    """Return what became of an ask; `code` is that of the refusal, where there was one."""
    if ask.answer is not None:
        return Verdict(dict(ask.answer.values), ask.answer.reason, code)
    return Verdict(code=code if ask.is_open else ask.state.value)


def hold(surface: str, give: Callable[[Case], Verdict], cases: tuple[Case, ...] = TABLE.cases) -> None:
    """Give every reply that a surface can say, and compare what became of it with the table.

    Raises:
        AssertionError: it came to another verdict somewhere, or too few cases were left to run.
    """
    told = [(case, give(case)) for case in cases if surface not in TABLE.excused(case)]
    print(f"{surface}: {len(told)} of {len(cases)} replies")  # noqa: T201 - to be seen with -s
    wrong = {case.name: (got, case.verdict) for case, got in told if got != case.verdict}
    assert not wrong, "\n".join(f"{name}: {got}, not {wanted}" for name, (got, wanted) in wrong.items())
    assert len(told) >= TABLE.surfaces[surface], f"{surface} ran {len(told)} replies only."
