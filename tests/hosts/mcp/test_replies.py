"""The table of replies in the dialog of an agent's host."""

from typing import Any

import anyio
import pytest
from mcp.types import ElicitRequestFormParams, ElicitResult

from assent.protocol.ask import Kind
from tests.hosts.mcp.world import ERAS, World, text_of
from tests.surfaces.replies import TABLE, Case, Verdict, code_of, hold, judge, kind_of

__all__: list[str] = []

_TOOLS = {Kind.CONFIRM: "confirm", Kind.GATE: "open_gate", Kind.APPROVAL: "request_approval"}


def arguments_of(case: Case) -> dict[str, Any]:
    """Return what an agent gives its tool to ask this."""
    prompt, shown = case.prompt, TABLE.asks[case.ask]
    if shown.gate is not None:
        return dict(zip(("context", "summary", "ids", "chunks"), shown.gate, strict=True))
    if shown.approval is not None:
        return dict(zip(("title", "action"), shown.approval, strict=True))
    if kind_of(case) is Kind.CONFIRM:
        return {"question": prompt.title}
    (field,) = prompt.fields
    return {
        "question": prompt.title,
        "options": [option.label for option in field.options],
        "multiple": field.multiple,
        "allow_other": field.free and bool(field.options),
        "recommended": "".join(option.label for option in field.options if option.recommended),
        "destructive": [option.label for option in field.options if option.destructive],
    }


def fill(case: Case, form: ElicitRequestFormParams) -> dict[str, Any]:
    """Return what somebody fills in who says this."""
    shown = form.requested_schema["properties"]
    (field,) = case.prompt.fields
    if "answer_text" in shown and (case.text or field.name in case.own):
        choices = shown["answer"].get("items", shown["answer"])
        places = choices.get("oneOf") or choices.get("anyOf")
        own = places[-1]["const"] if places else choices["enum"][-1]
        marks = [*case.choose.get(field.name, ()), own]
        text = case.text or case.own[field.name]
        return {"answer": marks if field.multiple else own, "answer_text": text}
    if case.text is not None:
        return {"answer": case.text} if case.text else {}
    (chosen,) = case.choose.values()
    if shown["answer"]["type"] == "boolean":
        return {"answer": chosen == ("Yes",), "reason": case.reason}
    if shown["answer"]["type"] == "string":
        return {"answer": ", ".join(chosen)}
    return {"answer": [*chosen]}


@pytest.mark.parametrize("era", ERAS)
def test_reply_in_the_dialog_of_a_host_means_what_it_means_everywhere(world: World, era: str) -> None:
    """A form is filled in; one that comes again says why, or asks once more."""
    verdicts: dict[str, Verdict] = {}

    async def give(case: Case) -> Verdict:
        forms: list[str] = []

        async def dialog(form: ElicitRequestFormParams) -> ElicitResult:
            forms.append(form.message)
            if len(forms) == 1:
                return ElicitResult(action="accept", content=fill(case, form))
            if len(forms) == 2 and case.confirmed:
                return ElicitResult(action="accept", content={"answer": "Yes"})
            return ElicitResult(action="cancel")

        async with world.host(era, dialog, wait=0) as host:
            tool = _TOOLS.get(kind_of(case), "ask_user")
            result = await host.call(tool, **arguments_of(case), key=case.name)
        asks = sorted(world.person.inbox(all_states=True), key=lambda ask: ask.opened_at)
        (ask, *_) = [each for each in asks if each.ask_id not in known]
        known.update(each.ask_id for each in asks)
        assert (ask.prompt.fields, ask.kind) == (case.prompt.fields, kind_of(case))
        refusal = forms[1] if len(forms) > 1 else text_of(result)
        return judge(ask, code_of(refusal) if ask.is_open else "")

    known: set[str] = set()

    async def story() -> None:
        for case in TABLE.cases:
            if "mcp" not in TABLE.excused(case):
                verdicts[case.name] = await give(case)

    anyio.run(story)
    hold("mcp", lambda case: verdicts[case.name])
