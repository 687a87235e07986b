"""The page of a document review: what is read, what becomes of it, what stands in the document, what is returned."""

from __future__ import annotations

from datetime import date

from msgspec.structs import fields

from assent.flows.synthesis.candidate import Contribution, gather
from assent.flows.synthesis.chain import MAX_DEPENDENTS
from assent.flows.synthesis.route import Route, route_of, settle_class
from assent.flows.walk_through.report import report_json
from assent.protocol.decision import (
    CompletionReport,
    Coverage,
    Decision,
    Failure,
    NextStep,
    PersonaCount,
    Verb,
    Verdict,
    Way,
)
from assent.protocol.deferral import SECTION, append_deferral
from assent.protocol.finding import (
    MAX_FINDINGS_BYTES,
    MAX_RECORDS,
    Action,
    AutofixClass,
    Edit,
    Finding,
    FindingType,
    Promotion,
    RawFinding,
    ReviewerOutput,
    Severity,
)
from assent.protocol.primer import Primer, PrimerEntry
from tools.reference_shape import note_of, render_shape
from tools.source import table

__all__ = ["render_findings"]

_NOTES = {
    ("ReviewerOutput", "reviewer"): "What it calls itself: its persona, as in `coherence`",
    ("ReviewerOutput", "findings"): "What it found; may be empty",
    ("ReviewerOutput", "residual_risks"): "What it worries about and nobody has to decide; may be empty",
    ("ReviewerOutput", "deferred_questions"): "What it could not find out; may be empty",
    (
        "RawFinding",
        "title",
    ): "What it is. At most ten words and 100 characters are asked for; longer ones are taken",
    ("RawFinding", "severity"): "How bad it is, worst first",
    ("RawFinding", "section"): "The heading that it stands under",
    ("RawFinding", "why_it_matters"): "What goes wrong for whoever reads or builds it",
    ("RawFinding", "finding_type"): "Something is wrong, or something is missing",
    (
        "RawFinding",
        "autofix_class",
    ): "The class of fix: how much of a person it needs; [the classes](#classes-of-fix)",
    ("RawFinding", "confidence"): "The [anchor](#anchors): how sure it is",
    ("RawFinding", "suggested_fix"): "What to do about it, in words. Without it there is nothing to apply",
    ("RawFinding", "stance"): "[Judgement](#judgement): whether the passage is to be changed or kept",
    ("RawFinding", "premise"): "[Judgement](#judgement): what it rests on",
    (
        "RawFinding",
        "challenges",
    ): "[Judgement](#judgement): the component that should not be there, as `storage/cache`",
    (
        "RawFinding",
        "concerns",
    ): "[Judgement](#judgement): the component whose root it falls with, spelled as in `challenges`",
    ("RawFinding", "is_low_confidence"): "[Judgement](#judgement): its own reviewer doubts it",
    ("RawFinding", "is_tradeoff"): "[Judgement](#judgement): a fix is named, but which way to go is open",
    ("RawFinding", "promotion"): "[Judgement](#judgement): why it needs less than a `manual` one does",
    ("Edit", "before"): "The passage as it stands in the document, exactly once",
    ("Edit", "after"): "What it becomes; empty takes it out",
    (
        "Finding",
        "finding_id",
    ): "By what the others name it; synthesis makes it of section and title. One of a kind in a set",
    ("Finding", "title"): "As above",
    ("Finding", "severity"): "As above",
    ("Finding", "section"): "As above",
    ("Finding", "why_it_matters"): "As above",
    ("Finding", "finding_type"): "As above",
    ("Finding", "autofix_class"): "As above",
    ("Finding", "confidence"): "As above",
    ("Finding", "evidence"): "As above",
    ("Finding", "suggested_fix"): "As above",
    ("Finding", "edit"): "As above",
    ("Finding", "plain_title"): "As above",
    ("Finding", "why_it_works"): "As above",
    ("Finding", "reviewers"): "Everybody who found it",
    ("Finding", "recommended_action"): "What is marked as recommended. It is never computed again",
    ("Coverage", "personas"): "What each reviewer contributed",
    ("Coverage", "roots"): "Findings that others fall with",
    ("Coverage", "dependents"): "Findings that fall with a root",
    (
        "Coverage",
        "suppressed",
    ): "Titles of findings that were decided against in an earlier round; nobody is asked again",
    (
        "Coverage",
        "not_landed",
    ): "Titles of findings that were applied in an earlier round, and are found again",
    ("PersonaCount", "reviewer"): "Its name",
    ("PersonaCount", "status"): "`done`, or `failed`: what it handed in cannot be read",
    ("PersonaCount", "findings"): "All of its findings: `auto` + `proposed` + `decisions` + `fyi`",
    ("PersonaCount", "auto"): "Safe fixes, applied before anybody is asked",
    ("PersonaCount", "proposed"): "Fixes to sign off",
    ("PersonaCount", "decisions"): "What takes judgement",
    ("PersonaCount", "fyi"): "What is only told",
    ("PersonaCount", "residual"): "Residual risks that repeat no finding",
    ("PrimerEntry", "section"): "Of the finding",
    ("PrimerEntry", "title"): "Of the finding",
    ("PrimerEntry", "action"): "What became of it",
    ("PrimerEntry", "reviewers"): "Of the finding",
    ("PrimerEntry", "confidence"): "Of the finding",
    ("PrimerEntry", "reason"): "Why, or where it stands",
    ("Primer", "applied"): "Findings whose fix was applied",
    ("Primer", "rejected"): "Findings that were skipped, deferred or acknowledged",
}

_CLASSES = {
    AutofixClass.SAFE_AUTO: ("One clear right fix", "needed"),
    AutofixClass.GATED_AUTO: ("A concrete fix that touches meaning: somebody signs it off", "needed"),
    AutofixClass.MANUAL: ("It needs judgement", "where there is one"),
}
_ANCHORS = {
    100: "Directly confirmed",
    75: "Checked twice, and will be hit in practice",
    50: "Real but minor",
    25: "Not verified",
    0: "A false positive",
}
_ROUTES = {
    Route.SILENT: "applied before anybody is asked",
    Route.FYI: "told in the report (FYI)",
    Route.OUT: "dropped, and counted",
}
_SHOWN_AS = {AutofixClass.GATED_AUTO: "asked, as a proposed fix", AutofixClass.MANUAL: "asked, as a decision"}

_PROMOTIONS = {
    Promotion.EXISTING_PATTERN: "The document or the code does it elsewhere already",
    Promotion.FACTUAL_ERROR: "Plainly wrong, and what is right is known",
    Promotion.MISSING_CONTROL: "A standard control that is missing",
    Promotion.FRAMEWORK_NATIVE: "The framework has it built in",
    Promotion.MECHANICAL: "It follows from what stands there",
}

_WAYS = {
    Way.WALK_THROUGH: "One by one, all of them",
    Way.LFG_THE_REST: "One by one, and the rest together",
    Way.LFG: "All as recommended, after a bulk preview",
    Way.APPEND: "All into the document's Open Questions, after a bulk preview",
    Way.REPORT_ONLY: "Nothing was decided",
    Way.NOTHING_TO_DECIDE: "No finding needed a person",
    Way.HEADLESS: "Nobody was asked",
}
_VERDICTS = {
    Verdict.NOT_READY: "A fix failed, or a finding of severity P0 or P1 is open",
    Verdict.READY_WITH_FIXES: "Only findings of severity P2 or P3 are open",
    Verdict.READY: "Nothing is open",
}
_STEPS = {
    NextStep.GO_ON: "Proceed to the next stage",
    NextStep.REVIEW_AGAIN: "Another round",
    NextStep.STOP: "Stop; also where no answer came",
}
_REPORT = {
    "document": "Its path",
    "way": "How it went; [the ways](#ways)",
    "verdict": "What it comes to; [the verdicts](#verdicts)",
    "round": "Which round of the review it was, from 1",
    "counts": "How many findings were `applied`, `deferred`, `skipped`, `acknowledged`",
    "applied": "The [entries](#entries) of findings that a person decided to apply, and that are in the document now",
    "deferred": "Those that were deferred",
    "skipped": "Those that were skipped",
    "acknowledged": "Those that were acknowledged: Apply was picked, and there was no fix",
    "failures": "What was decided and could not be done: findings with `what` (`Apply` or `Append`) and `reason`. A fix that "
    "failed stands here and nowhere else; a deferral that could not be appended is among `deferred` or `skipped` as well",
    "undecided": "Findings that nobody decided about",
    "fixes": "Findings whose safe fix was applied before anybody was asked",
    "fyi": "Findings that are only told",
    "residual_risks": "Texts",
    "deferred_questions": "Texts",
    "coverage": "[Coverage](#coverage)",
    "primer": "What the next round has to know; `--primer` reads it",
    "next_step": "What a person chose after the report; null where they were not asked, or have not said yet",
}
_ENTRY = {
    "id": "Of the finding",
    "title": "Of the finding",
    "severity": "Of the finding",
    "section": "Of the finding",
    "confidence": "Of the finding",
    "reviewers": "Of the finding",
    "note": "How it came to that, as in `cascaded from …`",
    "append_location": "Where the entry of a deferred finding stands",
    "recorded_only": "Deferred, but not in the document: the append failed",
    "reason": "Why it was skipped or acknowledged, or stands in the report only",
}


def _sample(**changes: object) -> Finding:
    known = {
        "finding_id": "retention: two numbers",
        "title": "Two numbers for the retention",
        "severity": Severity.P1,
        "section": "Retention",
        "why_it_matters": "Whoever writes the job picks one, and support promises the other.",
        "finding_type": FindingType.ERROR,
        "autofix_class": AutofixClass.MANUAL,
        "confidence": 100,
        "recommended_action": Action.APPLY,
        "evidence": ('Files are kept for "30 days".',),
        "reviewers": ("coherence", "feasibility"),
        "suggested_fix": "Say 30 days.",
    }
    return Finding(**(known | changes))  # type: ignore[arg-type]  # checked where it is read: by the page


def _routing() -> str:
    def cell(anchor: int, kind: AutofixClass) -> str:
        finding = settle_class(_sample(confidence=anchor, autofix_class=kind))
        route = route_of(finding)
        return _SHOWN_AS[finding.autofix_class] if route is Route.WALK else _ROUTES[route]

    rows = [(str(anchor), *(cell(anchor, kind) for kind in AutofixClass)) for anchor in _ANCHORS]
    return table(("anchor", *(f"`{kind}`" for kind in AutofixClass)), rows)


def _raised(reason: Promotion) -> AutofixClass:
    finding = RawFinding(
        "Title",
        Severity.P1,
        "Section",
        "Why.",
        FindingType.ERROR,
        AutofixClass.MANUAL,
        100,
        ("Quote.",),
        suggested_fix="Fix.",
        promotion=reason,
    )
    raised = gather([Contribution("coherence", finding, 0)]).raised_class
    assert raised is not None, reason
    return raised


def _entry_text() -> str:
    day = date(2026, 11, 16).isoformat()
    return append_deferral(b"# Plan\n", _sample(), day).content.decode().partition("# Plan\n\n")[2].rstrip()


def _check_names() -> None:
    """A name that the program prints and the page does not explain fails the page, and not the reader."""
    finding = _sample()
    report = CompletionReport(
        "plan.md",
        Way.WALK_THROUGH,
        Verdict.NOT_READY,
        (Decision(finding, Verb.APPLIED),),
        (Failure(finding, Action.APPLY, ""),),
    )
    printed = report_json(report)
    entries, failures = printed["applied"], printed["failures"]
    assert isinstance(entries, list)
    assert isinstance(failures, list)
    assert list(printed) == list(_REPORT), "the report"
    assert [list(entry) for entry in entries if isinstance(entry, dict)] == [list(_ENTRY)], "an entry"
    names = [set(failure) - set(_ENTRY) for failure in failures if isinstance(failure, dict)]
    assert names == [{"what"}], "a failure"


def _meanings(told: dict[str, str], head: str = "field") -> str:
    return table((head, "meaning"), [(f"`{name}`", meaning) for name, meaning in told.items()])


def _fields(struct: type[Coverage | PersonaCount | Primer | PrimerEntry]) -> str:
    return _meanings({field.encode_name: note_of(struct, field.name, _NOTES) for field in fields(struct)})


def render_findings() -> str:
    """Return the page."""
    _check_names()
    return "\n".join(
        [
            _HEAD.format(findings=f"{MAX_RECORDS:,}", megabytes=MAX_FINDINGS_BYTES >> 20),
            *(render_shape(struct, _NOTES) for struct in (ReviewerOutput, RawFinding, Edit)),
            _EDIT,
            "### Anchors\n",
            table(("anchor", "meaning"), [(str(anchor), meaning) for anchor, meaning in _ANCHORS.items()]),
            _ANCHOR,
            "### Classes of fix\n",
            table(
                ("`autofix_class`", "meaning", "`suggested_fix`"),
                [(f"`{kind}`", *told) for kind, told in _CLASSES.items()],
            ),
            _JUDGEMENT.format(dependents=MAX_DEPENDENTS),
            table(
                ("`promotion`", "meaning", "becomes"),
                [(f"`{kind}`", meaning, f"`{_raised(kind)}`") for kind, meaning in _PROMOTIONS.items()],
            ),
            _MERGED,
            render_shape(Finding, _NOTES),
            _SYNTHESIS.format(dependents=MAX_DEPENDENTS),
            _routing(),
            _ROUTING,
            _DEFERRAL.format(section=SECTION, entry=_entry_text()),
            _OPTIONS,
            _meanings(_REPORT),
            _ENTRIES,
            _meanings(_ENTRY),
            "### Ways\n",
            _meanings({way.value: meaning for way, meaning in _WAYS.items()}, "`way`"),
            "### Verdicts\n",
            _meanings({verdict.value: meaning for verdict, meaning in _VERDICTS.items()}, "`verdict`"),
            _VERDICT,
            _meanings({step.value: meaning for step, meaning in _STEPS.items()}, "`next_step`"),
            "### Coverage\n",
            _fields(Coverage),
            "A persona in it has:\n",
            _fields(PersonaCount),
            _PRIMER,
            _fields(Primer),
            "An entry of it has:\n",
            _fields(PrimerEntry),
            _ENDINGS,
        ]
    )


_HEAD = """\
# Findings of a document review

What `assent review` reads, what it makes of it, and what it returns. How to use it:
[review a document](../how-to/review-a-document.md). Why it is like that: [why findings wait](../explanation/why-findings-wait.md).

## Input

FINDINGS.json is one of these:

- one [reviewer's output](#reviewer-output),
- a list of them,
- [a merged set](#a-merged-set), which is used as it is.

There is [an example](findings-example.json) and [a JSON Schema](findings.schema.json) to give to whoever writes such a file.
Reviewers only read: nothing that they hand in changes anything by itself.

A field that is not known is passed over. A finding that lacks something, or says what no finding can say, is left out and
counted, and the others stay. A reviewer whose output cannot be read is told as `failed` and stops nobody, as long as there is
another. Only a text of which nothing can be used is refused, with exit status 2; so are more than {findings} findings, residual
risks or deferred questions from all reviewers together, and more than {megabytes} MiB.
"""

_EDIT = """\
The fix is told to people by `suggested_fix`, and made by `edit`: give both. What the edit would write is told below the words.
Which of two equal passages was meant is not guessed, so an edit whose `before` stands there twice fails; what the entries in
the document's Open Questions quote does not count. One whose `before` is not there fails, too, unless the change is in the
document already, as after a review that was left: a quote of `evidence` that had `before` in it stands there with `after`. In a
document whose lines all end in CRLF a new line means CRLF.
"""

_ANCHOR = """\
Anchor and severity have nothing to do with each other: a typing error can be sure, and a disaster a guess.
"""

_JUDGEMENT = """\
### Judgement

Some of what synthesis does takes judgement: whether a finding questions a premise, whether it says "leave it". It is never
guessed from prose. A reviewer says it in a field of its own; what is not said is not so.

| field | a reviewer says | and then |
|---|---|---|
| `stance` | `keep`: leave the passage as it is | where another reviewer wants it changed, the two become one finding, a trade-off, for which Skip is recommended |
| `premise` | what the finding rests on, in a few words | of three or more of one reviewer with the same premise the strongest stays, and the others are only told |
| `challenges` | the component or premise that should not be there at all, outermost part first: `storage/cache` | of severity P0 or P1 and class `manual`, it is a [root](#what-synthesis-does) |
| `concerns` | the component that its fix touches, where the finding has no point if the root is turned down. What is a fault in any case is not linked | it is a dependent of the root that questions that component, or what is around it |
| `low_confidence` | it doubts itself | Skip is recommended |
| `open_tradeoff` | there is more than one way to go | of class `manual`, Defer is recommended |
| `promotion` | why it needs less than judgement | a `manual` finding with a fix is raised |

A finding is raised if everybody who calls it `manual` names a reason:
"""

_MERGED = """\
## A merged set

An object with `findings` that carry an `id` and a `recommended_action`, and perhaps `residual_risks` and `deferred_questions`:
what `assent review --synthesize-only` prints, or what an agent of yours merged itself. Nothing in it is computed again. Only
these things happen: findings below anchor 50 are dropped, [the rounds before](#rounds) count, the order is by severity with
roots first, and links to findings that are not there are gone.
"""

_SYNTHESIS = """\
`depends_on` and `dependents` say the same from both ends. Give both: order and overview go by either of them, a cascade by
`dependents`.

## What synthesis does

Step by step. The same input, document and primer always give the same result; nothing depends on the time or on chance.

1. What is no record is left out.
2. Findings below anchor 50 are left out.
3. Findings with the same section and title are one, in any case and without punctuation. It has the worst severity, the
   highest anchor, all quotes and all reviewers; the words are those of whoever found it worst. Of the classes the one counts
   that needs most of a person. Who wants to keep a passage is not merged with who wants to change it.
4. One reviewer's repeats on the same `premise` become FYI.
5. Where two or more reviewers agree, the anchor rises one step: 50 to 75, 75 to 100.
6. Where one reviewer wants the passage changed and another kept, both become one finding: an error, `manual`, told as a
   trade-off with both reasons.
7. Each finding gets one recommended action. What each reviewer implies: Skip if it doubts itself or wants to keep the passage
   of a trade-off; Apply if the class is not `manual`; Defer for an open trade-off; Apply for a fix in words. Of what was implied
   Skip wins over Defer, and Defer over Apply. Nothing was implied, or there is no fix: Defer. Where reviewers disagree, a line
   says who recommends what.
8. What was decided in [an earlier round](#rounds) is left out, or told.
9. Roots and dependents are linked. A root is of severity P0 or P1, `manual`, at anchor 75 or 100, and `challenges` a component. Of
   two roots the one that questions the outer component stands, and the other is its dependent. A dependent `concerns` that
   component or a part of it; a safe fix is never one. It has one root, the closest, and a root has at most {dependents} dependents, the
   worst ones. Linking changes nothing else.
10. `manual` findings with a `promotion` are raised.
11. Each finding goes [where its anchor and class say](#where-a-finding-goes).
12. They are sorted: P0 first, errors before omissions, the surest first, and then as they stand in the document. A root comes
    before its first dependent.
13. Residual risks and deferred questions that only repeat a finding are left out.

`--synthesize-only` does this alone and prints a merged set with its coverage; with `--document` the order in the document counts,
and with `--primer` the rounds before. Read again, that set gives itself.

## Where a finding goes

With a `suggested_fix`:
"""

_ROUTING = """\
Without a `suggested_fix` there is nothing to sign off: the finding is a decision. A safe fix for which something else than Apply
is recommended is asked about as a proposed fix.

## In the document

A deferred finding becomes an entry of the document's Open Questions at once. Nothing else is written before the end, but for
the safe fixes at the very beginning.
"""

_DEFERRAL = """\
```markdown
{entry}
```

- The section is the heading `{section}`, exactly so. It may stand anywhere; there is never a second one. A new one
  stands at the end, above a footer: a last rule with up to five lines below it, and definitions and comments at the end.
- Each day of review has its heading in it, by the calendar where you are.
- An entry is a bullet: title, section, severity, reviewers and anchor; then the whole `why_it_matters`; then its key as a comment.
  The fix and the quotes are not in it. All of it is indented, and what would end the entry, hide something or begin another
  comment is escaped.
- The key is the section and the title, in lower case and without punctuation, and the beginning of the first quote: about 120
  characters, without marks of comments. An entry with the same key under the same day is not written again. Where one of the two
  has no quote, section and title decide; where an entry has lost its comment, its title. Other days are not compared.
- Every other line of the document stays as it is, byte for byte, with the line ends that it has.
- The document is read before each entry. If somebody saved it in the meantime, nothing is appended and a person is asked: retry,
  record it in the report only, or convert it to Skip.
"""

_OPTIONS = """\
## The report as JSON

`assent review --json` prints one object, on one line. Every name is always there. In Python the report is an
`assent.CompletionReport`, in which `decisions` are one list in the order in which they were made;
`assent.flows.walk_through.report.report_json` makes this object of it, and `render_report` there the text.
"""

_ENTRIES = """\
### Entries

`applied`, `deferred`, `skipped` and `acknowledged` hold entries with these fields. Findings elsewhere have the first six of them.
"""

_VERDICT = """\
Open is what was deferred or never decided. What a person skipped or acknowledged is closed: they closed it. FYI observations
and residual risks do not count.
"""

_PRIMER = """\
### Rounds

A round of a review is one set of findings, decided once. `primer` in the report of one round is what the next one is given: the
whole report, or that part of it. A new finding is the same as an earlier one if section and title are the same, more than half
of the words of a quote are, and the old quote is still in the document.

- It was skipped, deferred or acknowledged: it is left out, and its title is in `coverage.suppressed`.
- Its fix was applied: the fix did not land. It is asked about, and its title is in `coverage.not_landed`.

A fix that failed is neither.
"""

_ENDINGS = """\
## How it ends

| exit status | meaning |
|---|---|
| 0 | The report is out, whatever the verdict: read `verdict`, or the line that begins with `Verdict:` |
| 1 | Something else went wrong: there is no such document, it cannot be read, or a link leads out of its project |
| 2 | The command was used wrongly, or nothing in FINDINGS.json can be used |
| 3 | Nobody decided: Ctrl-C, the end of input, or `--wait` lapsed. Where no reply can be read at all, as in a process that an agent runs, a review in memory is not begun. In memory all decisions are gone; with `--durable` the same command goes on. `--json` prints `{"how": "open", "ask_id": "…"}` then, with null in memory |
| 4 | With `--durable`, a person declined a question: that review is over, and the same command begins a new one |
| 5 | With `--durable`, a question was withdrawn |
| 6 | With `--durable`, another process goes through the same review |
"""
