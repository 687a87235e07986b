"""A review as it is handed in: what is no record is left out and told, and only what is no review is refused."""

from typing import Any

import pytest

from assent.flows.synthesis.parse import parse_findings
from assent.protocol.error import BadRequestError
from assent.protocol.finding import MAX_FINDINGS_BYTES, MAX_RECORDS, Action, Promotion, Severity, Stance
from tests.flows.synthesis.reviews import FINDING, MERGED, encode, output
from tests.proves import proves

__all__: list[str] = []

REQUIRED = ("reviewer", "findings", "residual_risks", "deferred_questions")
HINT = "; in a merged set, findings carry id and recommended_action."


def refusal(text: bytes) -> str:
    with pytest.raises(BadRequestError) as caught:
        parse_findings(text)
    return caught.value.message


def reasons(whole: object) -> list[str]:
    return [dropped.reason for dropped in parse_findings(encode(whole)).dropped]


def without(record: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != name}


def test_one_output_is_read() -> None:
    """With its findings, risks and questions."""
    found = parse_findings(
        encode(output(FINDING, residual_risks=["It may rain."], deferred_questions=["When?"]))
    )
    (read,) = found.outputs
    assert (read.reviewer, read.residual_risks, read.deferred_questions) == (
        "coherence",
        ("It may rain.",),
        ("When?",),
    )
    assert [(each.title, each.severity) for each in read.findings] == [(FINDING["title"], Severity.P1)]
    assert (found.dropped, found.failed, found.merged) == ((), (), None)


def test_list_of_outputs_is_read_in_order() -> None:
    """Also where a reviewer found nothing."""
    found = parse_findings(encode([output(FINDING), output(reviewer="feasibility")]))
    assert [each.reviewer for each in found.outputs] == ["coherence", "feasibility"]


def test_names_that_take_judgement_are_read_as_they_are_spelled() -> None:
    """What a reviewer may say beyond the schema."""
    more = {
        "stance": "keep",
        "low_confidence": True,
        "open_tradeoff": True,
        "promotion": "mechanical",
        "challenges": "a/b",
        "concerns": "c",
        "premise": "p",
        "edit": {"before": "a", "after": ""},
        "unknown": [1],
    }
    ((read,),) = (each.findings for each in parse_findings(encode(output({**FINDING, **more}))).outputs)
    assert (read.stance, read.is_low_confidence, read.is_tradeoff) == (Stance.KEEP, True, True)
    assert (read.promotion, read.challenges, read.concerns) == (Promotion.MECHANICAL, "a/b", "c")


@pytest.mark.parametrize("name", sorted(FINDING))
def test_record_that_lacks_a_field_is_dropped_and_the_others_stay(name: str) -> None:
    """W-U1: dropped, and noted with its place."""
    found = parse_findings(encode([output(without(FINDING, name), FINDING)]))
    assert len(found.outputs[0].findings) == 1
    (dropped,) = found.dropped
    assert dropped.reviewer == "coherence"
    assert dropped.reason == f"Object missing required field {name}, at $[0].findings[0]."


@pytest.mark.parametrize(
    ("name", "value", "end"),
    [
        ("severity", "P4", ".severity."),
        ("severity", "P4$.x" * 500, ".severity."),
        ("finding_type", "Error", ".finding_type."),
        ("autofix_class", "auto", ".autofix_class."),
        ("confidence", 60, ".confidence."),
        ("confidence", -25, ".confidence."),
        ("confidence", 125, ".confidence."),
        ("confidence", "75", ".confidence."),
        ("confidence", True, ".confidence."),
        ("evidence", [], ".evidence."),
        ("evidence", ["a", 1], ".evidence[1]."),
        ("evidence", ["\u200b", " "], ".evidence."),
        ("evidence", "a quote", ".evidence."),
        ("title", "", ".title."),
        ("title", " \u200b", ".title."),
        ("title", "x" * 501, ".title."),
        ("section", "\n", ".section."),
        ("why_it_matters", " ", ".why_it_matters."),
        ("why_it_matters", "x" * 20_001, ".why_it_matters."),
        ("suggested_fix", 5, ".suggested_fix."),
        ("edit", {"before": "a"}, ".edit."),
        ("edit", {"before": "", "after": "b"}, ".edit.before."),
        ("stance", "maybe", ".stance."),
        ("low_confidence", "yes", ".low_confidence."),
    ],
)
def test_record_with_a_bad_value_is_dropped_with_its_place(name: str, value: object, end: str) -> None:
    """One sentence on one line, whatever the value was."""
    (reason,) = reasons(output(FINDING, {**FINDING, name: value}))
    assert reason.endswith(f"at $.findings[1]{end}")
    assert len(reason) < 300
    assert "\n" not in reason


@pytest.mark.parametrize("record", [None, "a finding", [FINDING], 7])
def test_record_that_is_no_object_is_dropped(record: object) -> None:
    """Rule 1."""
    assert reasons(output(record))[0].endswith(", at $.findings[0].")


def test_risk_that_is_no_text_is_dropped() -> None:
    """The others stay."""
    found = parse_findings(encode(output(residual_risks=["a risk", 5, " ", "x" * 20_001])))
    assert found.outputs[0].residual_risks == ("a risk",)
    assert [each.reason[-20:] for each in found.dropped] == [
        f"at $.residual_risks[{number}]."[-20:] for number in (1, 2, 3)
    ]


@pytest.mark.parametrize("name", REQUIRED)
def test_output_that_lacks_a_key_fails_and_the_others_stay(name: str) -> None:
    """W-U21: noted, not blocking; named where it names itself."""
    found = parse_findings(encode([output(FINDING), without(output(reviewer="feasibility"), name)]))
    assert [each.reviewer for each in found.outputs] == ["coherence"]
    assert found.failed == ("reviewer 2" if name == "reviewer" else "feasibility",)


@pytest.mark.parametrize(
    "broken",
    [
        None,
        [],
        "all good",
        output(reviewer=""),
        output(reviewer="\u200b"),
        output(reviewer="x" * 101),
        output(reviewer=5),
        output(findings={}),
        output(residual_risks="none"),
        output(deferred_questions=None),
    ],
    ids=range(10),
)
def test_output_that_cannot_be_read_fails(broken: object) -> None:
    """It alone is refused as a whole; beside another it is a failed reviewer."""
    assert len(parse_findings(encode([broken, output(FINDING)])).failed) == 1
    assert refusal(encode([broken])).startswith("No reviewer's output can be read: the one at $[0] ")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "The JSON text ends too early, at line 1, column 1."),
        (b"# A review", "The JSON text cannot be read at line 1, column 1: invalid character."),
        (b'{"findings": [], "findings": []}', '$ has the key "findings" twice.'),
        (b"5", "A review is a reviewer's output, a list of them, or a merged set: an object or a list."),
        (b"[]", "No reviewer's output can be read: the list is empty."),
        (
            encode(without(output(FINDING), "reviewer")),
            f"No reviewer's output can be read: the one at $ lacks reviewer{HINT}",
        ),
        (
            encode([FINDING]),
            f"No reviewer's output can be read: the one at $[0] lacks {', '.join(REQUIRED)}{HINT}",
        ),
        (b"[" * 40 + b"]" * 40, "The JSON text is deeper than 32 levels."),
        (
            encode([output(*[{}] * 1_001), output(*[{}] * 1_000)]),
            f"A review has at most {MAX_RECORDS:,} findings, not 2,001.",
        ),
        (
            encode(output(residual_risks=["x"] * 2_001)),
            f"A review has at most {MAX_RECORDS:,} residual risks, not 2,001.",
        ),
    ],
    ids=range(10),
)
def test_text_that_is_no_review_is_refused_in_one_sentence(text: bytes, sentence: str) -> None:
    """What is wrong, and where."""
    assert refusal(text) == sentence


def test_text_that_is_too_long_is_refused() -> None:
    """Before it is read."""
    assert "4,194,304 bytes" in refusal(b" " * (MAX_FINDINGS_BYTES + 1))


def test_review_of_more_than_a_megabyte_is_read() -> None:
    """Findings have a limit of their own."""
    long = {**FINDING, "why_it_matters": "word " * 3_999}
    assert len(parse_findings(encode(output(*[long] * 100))).outputs[0].findings) == 100


@proves("W17")
def test_merged_set_is_read_with_its_ids_and_links() -> None:
    """Evidence and reviewers may be missing; chains and the recommendation are there."""
    root = {**without(MERGED, "evidence"), "dependents": ["F2"]}
    found = parse_findings(encode({"findings": [root, {**MERGED, "id": "F2", "depends_on": "F1"}]}))
    assert found.merged is not None
    assert [(each.finding_id, each.depends_on, each.dependents) for each in found.merged] == [
        ("F1", None, ("F2",)),
        ("F2", "F1", ()),
    ]
    assert {each.recommended_action for each in found.merged} == {Action.DEFER}
    assert (found.outputs, found.dropped) == ((), ())


def test_merged_set_may_be_empty() -> None:
    """A review without findings, handed on."""
    assert parse_findings(b'{"findings": []}').merged == ()


def test_merged_set_may_name_a_reviewer_and_risks() -> None:
    """All its findings carry what only synthesis gives."""
    found = parse_findings(
        encode(output(MERGED, residual_risks=["It may rain."], deferred_questions=["When?"]))
    )
    assert found.merged is not None
    assert (found.residual_risks, found.deferred_questions) == (("It may rain.",), ("When?",))


def test_output_is_no_merged_set_while_one_of_its_findings_lacks_an_id() -> None:
    """A reviewer that numbers some of its findings is a reviewer."""
    assert parse_findings(encode(output(MERGED, FINDING))).merged is None


def test_bad_record_of_a_merged_set_is_dropped() -> None:
    """And the others stay; there is no reviewer to name."""
    whole = {
        "findings": [
            MERGED,
            FINDING,
            {**MERGED, "id": " "},
            {**MERGED, "id": "F3", "recommended_action": "Do"},
        ]
    }
    found = parse_findings(encode({**whole, "residual_risks": "none", "deferred_questions": ["", "When?"]}))
    assert found.merged is not None
    assert [each.finding_id for each in found.merged] == ["F1"]
    assert [each.reason for each in found.dropped] == [
        "Object missing required field id, at $.findings[1].",
        "Nothing of it can be seen, at $.findings[2].id.",
        "Invalid enum value 'Do', at $.findings[3].recommended_action.",
        "A list is needed, at $.residual_risks.",
        "A text of 1 to 20,000 characters is needed, at $.deferred_questions[0].",
    ]
    assert {each.reviewer for each in found.dropped} == {""}


def test_second_finding_with_the_same_id_is_dropped() -> None:
    """What is decided about an id is decided about one finding."""
    found = parse_findings(encode({"findings": [MERGED, {**MERGED, "title": "Another"}]}))
    assert found.merged is not None
    assert [each.title for each in found.merged] == [MERGED["title"]]
    assert [each.reason for each in found.dropped] == [
        'The id "F1" stands there a second time, at $.findings[1].id.'
    ]
