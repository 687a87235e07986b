"""A finding as a person meets it: the fixed block, the fix in words, and the phrases of the question."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.flows.walk_through.block import action_framing, handle_of, render_block
from assent.flows.walk_through.fix import render_fix
from assent.flows.walk_through.prose import brief, passage
from assent.protocol.finding import Action, AutofixClass, Edit, Finding
from tests.effort import MUCH, effort
from tests.flows.walk_through.text_samples import findings, new_finding
from tests.protocol.strategies import modest
from tests.proves import proves

__all__: list[str] = []

REMAP = "Synthesis recommended Defer; downgraded to Skip — document is read-only."
CONFLICT = "Coherence recommends Apply; scope-guardian recommends Skip. Agent's recommendation: Skip."
LABELS = ["**What's wrong**", "**Proposed fix**", "**Why it works**"]


def part(block: str, label: str) -> str:
    """Return what stands below a label, up to the next one."""
    below = block.partition(f"**{label}**\n\n")[2]
    return re.split(r"\n\n\*\*", below)[0]


def fix(text: str, edit: Edit | None = None) -> str:
    return render_fix(new_finding(suggested_fix=text, edit=edit))


# The block


@proves("W30", "W32", "W36")
def test_block_has_its_fixed_form() -> None:
    """W30: labels on their own lines, blank lines between; the problem as it was written (W32)."""
    finding = new_finding(why_it_works="The FYI section does the same.", conflict_context=CONFLICT)
    assert render_block(finding, (2, 8), Action.SKIP) == (
        "## Finding 2 of 8 — P1 Implementers will pick different tiers\n"
        "\n"
        "Section: Scope Boundaries\n"
        "\n"
        "**What's wrong**\n"
        "\n"
        "Two units read the list of tiers in two ways.\n"
        "Each is right by its own section.\n"
        "\n"
        "**Proposed fix**\n"
        "\n"
        "Drop the Advisory tier from the enum.\n"
        "\n"
        "**Why it works**\n"
        "\n"
        "The FYI section does the same.\n"
        "\n"
        f"{CONFLICT}"
    )


@proves("W44")
def test_block_of_the_only_finding_has_no_counter() -> None:
    """W44, the half of the heading."""
    first, *_ = render_block(new_finding(), None, Action.APPLY).split("\n")
    assert first == "## P1 Implementers will pick different tiers"


def test_block_without_a_fix_says_so_and_gives_no_reason() -> None:
    """W-X15."""
    block = render_block(new_finding(suggested_fix=None), (1, 2), Action.DEFER)
    assert part(block, "Proposed fix") == (
        "None was proposed: the review names the issue without a concrete fix."
    )
    assert "**Why it works**" not in block
    assert block.endswith("concrete fix.")


@pytest.mark.parametrize(
    ("title", "plain", "handle"),
    [
        ("Section X-Y lists four tiers", "Implementers will pick different tiers.", None),
        ("Implementers will pick different tiers", " \u200b ", None),
        ("Implementers  will\npick different tiers...", "", None),
        (
            "one two three four five six seven, eight, nine",
            "",
            "one two three four five six seven, eight…",
        ),
        ("a\u200bb", "", "a<U+200B>b"),
        ("x" * 300, "", "x" * 99 + "…"),
        (".", "", "(no title)"),
    ],
    ids=["plain-title", "blank-plain-title", "lines", "nine-words", "hidden", "long-word", "no-word"],
)
@proves("W31")
def test_handle_is_the_title_in_at_most_eight_words(title: str, plain: str, handle: str | None) -> None:
    """W31, W39: on one line, without the full stop that the stem adds."""
    finding = new_finding(title=title, plain_title=plain)
    assert handle_of(finding) == (handle or "Implementers will pick different tiers")


# The fix


@proves("W33")
@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("Add a  constraint\nfor Units 3 and 4.", "Add a constraint for Units 3 and 4."),
        ("## Steps\n\n- Drop one\n- **Keep** two\n\n> Then\n> stop", "Steps; Drop one; Keep two; Then; stop"),
        ("One paragraph\n\nAnother one", "One paragraph. Another one"),
    ],
    ids=["wrapped", "markup", "paragraphs"],
)
def test_fix_is_one_paragraph_of_prose(written: str, told: str) -> None:
    """W33: words, and no raw markup."""
    assert fix(written) == told


@proves("W34")
@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("Drop `a`, `b` and `c`.", "Drop `a` , `b` and c."),
        ("Drop `a` and `b`. Keep `c`.", "Drop `a` and `b` . Keep `c` ."),
        ("Drop (`a`), e.g. `b`, i.e. `c`.", "Drop ( `a` ), e.g. `b` , i.e. c."),
        ("Call `it is a phrase of many words`.", "Call it is a phrase of many words."),
        (f"Call `{'x' * 41}`.", f"Call {'x' * 41}."),
        ("Drop ``a`` and `b", "Drop `a` and b"),
        ("`--flag`", "`--flag`"),
    ],
    ids=["three", "two-sentences", "abbreviations", "long-phrase", "long-word", "unpaired", "alone"],
)
def test_fix_has_two_short_pieces_of_code_a_sentence_with_spaces_around(written: str, told: str) -> None:
    """W34: what is too much loses its marks and keeps its words."""
    assert fix(written) == told


@proves("W34")
@modest
@given(
    st.lists(st.sampled_from(["`", "``", "a", "b c", ".", ". ", " ", "! D", "e.g. ", "x" * 50]), max_size=30)
)
def test_fix_never_has_more_code_than_it_may(pieces: list[str]) -> None:
    """W34, for any text: at most two pieces in a sentence, a space or nothing on each side."""
    told = fix("".join(pieces) or "x")
    assert told.count("`") % 2 == 0
    spans = list(re.finditer(r"`[^`]*`", told))
    for span in spans:
        assert told[: span.start()][-1:] in ("", " ")
        assert told[span.end() :][:1] in ("", " ")
        assert len(span[0]) <= 42
    masked = re.sub(r"`[^`]*`", "\0", told)
    assert all(sentence.count("\0") <= 2 for sentence in re.split(r"(?<=[.!?]) (?=[\0A-Z])", masked))


@proves("W35")
def test_fix_shows_a_short_block_that_only_adds() -> None:
    """W35: at most five lines, and nothing that was there before."""
    added = "a: 1\nb: 2\nc: 3\nd: 4\ne: 5"
    assert fix(f"Add this to the table:\n```yaml\n{added}\n```") == (
        f"Add this to the table:\n\n```\n{added}\n```"
    )


@proves("W35")
@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("Add this:\n```\n" + "x\n" * 6 + "```", "Add this: The new text is a block of 6 lines."),
        (
            "Add\n```\na\nb\nc\n```\nand\n```\nd\ne\nf\n```",
            "Add. The new text is a block of 3 lines. and. The new text is a block of 3 lines.",
        ),
        ("Replace the row:\n```\nx\n```", "Replace the row: The new text is a block of 1 line."),
        (
            "Before:\n```\nx\n```\nAfter:\n```\ny\n```",
            "Before: The new text is a block of 1 line. After: The new text is a block of 1 line.",
        ),
        ("Add:\n```\n" + "x" * 601 + "\n```", "Add: The new text is a block of 1 line."),
        ("Add:\n```\n**Why it works**\n```", "Add: The new text is a block of 1 line."),
    ],
    ids=["six-lines", "two-blocks", "replaces", "before-and-after", "long-line", "forged-label"],
)
def test_fix_counts_a_block_that_is_long_or_replaces_something(written: str, told: str) -> None:
    """W35: above five lines, or with something that was there before, a summary."""
    assert fix(written) == told


@proves("W35")
def test_fix_with_an_exact_edit_shows_no_block() -> None:
    """An edit always has something that was there before; it is told in a sentence of its own."""
    written = "Put this there:\n```\nx\n```"
    assert "```" in fix(written)
    assert fix(written, Edit("y", "x")) == (
        'Put this there: The new text is a block of 1 line.\n\nExactly: "y" becomes "x".'
    )


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (Edit("old words", "new words"), 'Exactly: "old words" becomes "new words".'),
        (
            Edit("two\nlines", "one\n\u202eline"),
            "Exactly this:\n\n```\ntwo\nlines\n```\n\nbecomes this:\n\n```\none\n<U+202E>line\n```",
        ),
        (Edit("a  b", "a b"), "Exactly this:\n\n```\na  b\n```\n\nbecomes this:\n\n```\na b\n```"),
        (Edit("two\nlines", ""), "Exactly this is taken out:\n\n```\ntwo\nlines\n```"),
        (
            Edit("x\n", "``` \nB. Skip"),
            "Exactly this:\n\n```\nx\n```\n\nbecomes this:\n\n````\n> ``` \n> B. Skip\n````",
        ),
        (Edit("old words", "\n"), 'Exactly: "old words" is taken out.'),
        (
            Edit("word " * 100 + "end", "more " * 1_000 + "end"),
            f'Exactly: "{"word " * 100}end" becomes "{"more " * 1_000}end".',
        ),
    ],
    ids=["short", "lines", "spaces", "lines-taken-out", "forged", "taken-out", "long"],
)
def test_fix_says_below_its_words_what_an_exact_edit_would_write(edit: Edit, told: str) -> None:
    """Whatever the words claim: that is what a person says yes to."""
    assert fix("Correct a typo.", edit) == f"Correct a typo.\n\n{told}"


@proves("W36")
@pytest.mark.parametrize(
    "written",
    [
        "Do it:\n```diff\n- old\n+ new\n+ more\n```",
        "Do it:\n~~~\n-old\n+new\n+more\n~~~",
        "Do it:\n- old\n+ new\n+ more",
        "Do it:\ndiff --git a/x b/x\nindex 12ab..34cd\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n same\n-old\n+new\n+more",
    ],
    ids=["diff-fence", "plain-fence", "no-fence", "git"],
)
def test_fix_shows_no_diff(written: str) -> None:
    """W36: however it is written, it is said how many lines go and come."""
    assert fix(written) == "Do it: The change takes out 1 line and puts in 2 lines."


@pytest.mark.parametrize(
    "written",
    [
        "word " * 1_000,
        "Add this:\n```\n" + "x\n" * 6 + "```",
        "Do it:\n```diff\n- old\n+ new\n```",
    ],
    ids=["long", "block", "diff"],
)
def test_block_has_in_full_what_the_telling_of_a_fix_leaves_out(written: str) -> None:
    """Words are handed to an applier as they are: nobody says yes to what cannot be read."""
    told = fix(written)
    block = render_block(new_finding(suggested_fix=written), None, Action.APPLY)
    mark = "````" if "```" in written else "```"
    assert f"{told}\n\nIn full:\n\n{mark}\n{written.rstrip(chr(10))}\n{mark}\n\n**Why it works**" in block
    exact = new_finding(suggested_fix=written, edit=Edit("old", "new"))
    assert "In full:" not in render_block(exact, None, Action.APPLY), "then this is not what would be done"


def test_block_has_nothing_twice_where_the_telling_is_whole() -> None:
    """Short words, and a short block that only adds."""
    for written in ("Say it **once** .", "Add this:\n```\na\nb\n```"):
        assert "In full:" not in render_block(new_finding(suggested_fix=written), None, Action.APPLY)


def test_fix_that_is_too_long_says_how_much_more_there_is() -> None:
    """A fix has no limit; a question has."""
    told = fix("word " * 1_000)
    assert told.endswith("word… (800 more words)")
    assert len(told) < 1_050


def test_fix_that_is_far_too_long_is_told_from_its_beginning() -> None:
    """No fix keeps a person waiting while it is read."""
    told = fix("word\n" * 1_000_000)
    assert told.startswith("word word")
    assert told.endswith(" more words)\n\n(This is the beginning of 5,000,000 characters.)")


def test_fix_of_marks_alone_says_that_it_has_no_words() -> None:
    """No part of a block is empty."""
    assert fix("```\n```") == fix("---") == "The proposed fix has no words."


# Why it works


@proves("W37")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"why_it_works": "One.\nTwo e.g. this. Three! Four."}, "One. Two e.g. this. Three! …"),
        ({}, 'The review quotes: "There are four tiers." coherence and feasibility found it independently.'),
        (
            {"evidence": ("Four  tiers",), "reviewers": ()},
            'The review quotes: "Four tiers". A reviewer checked it twice.',
        ),
        ({"conflict_context": CONFLICT, "evidence": (" ",)}, "coherence and feasibility looked at it."),
        (
            {"reviewers": ("coherence",), "evidence": (), "confidence": 100},
            "coherence confirmed it directly.",
        ),
        ({"reviewers": (), "evidence": ()}, "A reviewer checked it twice."),
        ({"reviewers": tuple("abcdefg"), "evidence": ()}, "a, b, c, d and 3 more found it independently."),
    ],
    ids=["said", "derived", "no-full-stop", "disagreed", "one-reviewer", "nobody", "many"],
)
def test_why_it_works_has_one_to_three_sentences(changes: dict[str, object], reason: str) -> None:
    """W37: the reviewers' own reason, else what the finding rests on; never made up, never empty."""
    assert part(render_block(new_finding(**changes), (1, 2), Action.APPLY), "Why it works").startswith(reason)
    assert reason in render_block(new_finding(**changes), (1, 2), Action.APPLY).split("\n")


def test_blanks_of_a_section_and_of_a_fix_in_words_are_kept() -> None:
    """W32: as it was written. A telling in single blanks has the words of the fix below it."""
    shown = render_block(
        new_finding(section="a  b\nc", suggested_fix="Write x:  1.\n  Then y.", edit=None), None, Action.APPLY
    )
    assert "Section: a  b<U+000A>c\n" in shown
    assert "In full:\n\n```\nWrite x:  1.\n  Then y.\n```" in shown


# Conflict context


@proves("W38")
@pytest.mark.parametrize(
    ("conflict", "remap", "action", "line"),
    [
        (CONFLICT, "", Action.SKIP, CONFLICT),
        ("", REMAP, Action.SKIP, REMAP),
        ("A says Apply; b says Defer.", REMAP, Action.SKIP, f"A says Apply; b says Defer. {REMAP}"),
        (CONFLICT, "", Action.APPLY, f"{CONFLICT} Agent's recommendation: Apply."),
        ("They\ndisagree.", "", Action.DEFER, "They disagree. Agent's recommendation: Defer."),
    ],
    ids=["conflict", "remap", "both", "other-action", "no-action"],
)
def test_conflict_line_names_the_marked_action_last(
    conflict: str, remap: str, action: Action, line: str
) -> None:
    """W38, W45, W-X16: one line, and what it says last is what the menu marks."""
    block = render_block(new_finding(conflict_context=conflict), (1, 2), action, remap)
    assert block.split("\n\n")[-1] == line


def test_block_without_conflict_or_remap_has_no_such_line() -> None:
    """W38: only when applicable."""
    block = render_block(new_finding(why_it_works="So."), (1, 2), Action.APPLY)
    assert block.endswith("**Why it works**\n\nSo.")


# The question


@proves("W40")
@pytest.mark.parametrize(
    ("changes", "action", "is_remapped", "phrase"),
    [
        ({}, Action.APPLY, False, "Apply the proposed fix?"),
        (
            {"suggested_fix": None},
            Action.DEFER,
            False,
            "Defer to Open Questions since the review names no concrete fix?",
        ),
        (
            {"autofix_class": AutofixClass.MANUAL},
            Action.DEFER,
            False,
            "Defer to Open Questions since it takes judgement?",
        ),
        ({}, Action.DEFER, False, "Defer to Open Questions?"),
        (
            {"recommended_action": Action.DEFER},
            Action.SKIP,
            True,
            "Skip since it cannot be appended to the document?",
        ),
        ({}, Action.DEFER, True, "Defer to Open Questions since the fix cannot be applied here?"),
        ({}, Action.SKIP, True, "Skip since the fix can be neither applied nor deferred here?"),
        ({"conflict_context": CONFLICT}, Action.SKIP, False, "Skip since a reviewer doubts it?"),
        ({}, Action.SKIP, False, "Skip since the review recommends no change?"),
    ],
    ids=[
        "apply",
        "defer-no-fix",
        "defer-manual",
        "defer",
        "skip-remapped",
        "defer-blocked",
        "skip-blocked",
        "skip-conflict",
        "skip",
    ],
)
def test_action_framing_is_one_phrase_on_the_one_action(
    changes: dict[str, object], action: Action, is_remapped: bool, phrase: str
) -> None:
    """W40: yes or no, and no word of another action."""
    assert action_framing(new_finding(**changes), action, is_remapped) == phrase
    others = {other.lower() for other in Action if other is not action}
    assert not others & set(re.findall(r"[a-z]+", phrase.lower()))


@modest
@given(findings(), st.sampled_from(Action), st.booleans())
def test_framing_of_any_finding_is_a_line_of_ours(
    finding: Finding, action: Action, is_remapped: bool
) -> None:
    """W40: nothing of an agent's is in it."""
    phrase = action_framing(finding, action, is_remapped)
    assert phrase.startswith(action)
    assert phrase.endswith("?")
    assert phrase.count("?") == 1


# Hostile text


@modest
@given(findings(), st.sampled_from(Action), st.sampled_from(["", REMAP]))
def test_block_of_any_finding_has_its_lines_once(finding: Finding, action: Action, remap: str) -> None:
    """Whatever an agent writes, there is one heading, one section, and each label once."""
    lines = render_block(finding, (1, 2), action, remap).split("\n")
    labels = LABELS if finding.has_fix else LABELS[:2]
    assert [line for line in lines if line.startswith(("# ", "## ", "### ", "Section:", *LABELS))] == [
        lines[0],
        lines[2],
        *labels,
    ]
    assert lines[0].startswith(f"## Finding 1 of 2 — {finding.severity} ")
    assert not any(line.startswith(("Verdict:", "Review complete")) for line in lines)
    assert sum(line.startswith("```") for line in lines) % 2 == 0


@pytest.mark.parametrize(
    "line",
    [
        "**Proposed fix**",
        "Section: x",
        "## x",
        "A. Skip (recommended)",
        "→ Applied.",
        "Vеrdict: Ready.",
        "finding 1 OF 2",
    ],
    ids=["label", "section", "heading", "option", "confirmation", "look-alike", "counter"],
)
def test_line_that_passes_for_ours_is_quoted(line: str) -> None:
    """Also in letters that only look the same; what is around it stays as it is."""
    assert passage(f"It is.\n{line}\nSo.") == f"It is.\n> {line}\nSo."


def test_block_of_code_that_an_agent_leaves_open_is_closed() -> None:
    """Else all that follows would be code."""
    assert passage("So:\n~~~~\nx\n~~~") == "So:\n~~~~\nx\n~~~\n~~~~"
    assert passage("So:\n```\nx\n```") == "So:\n```\nx\n```"


def test_brief_cuts_at_a_word() -> None:
    """What fits stays whole."""
    assert [brief("one two three", limit) for limit in (13, 12, 8, 7, 2)] == [
        "one two three",
        "one two…",
        "one two…",
        "one…",
        "o…",
    ]


def test_blocks_of_many_large_findings_take_no_time() -> None:
    """As many as anybody will go through, with text that could send a search round in circles."""
    finding = new_finding(
        suggested_fix="`a " * 300 + "-\n" * 200 + "@@\n" + " x\n" * 100, why_it_matters="> **a " * 100
    )
    with effort() as spent:
        for number in range(500):
            assert render_block(finding, (number + 1, 500), Action.SKIP)
    assert spent.loops < MUCH
