"""The file that keeps a session: whatever reviewers write, what is read back is what was kept, or it is refused."""

import json
import re
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.flows.session.finding import ChunkStatus, Phase, Session, begin, discard, enter, mark, move
from assent.flows.session.state import MAX_STATE_BYTES, parse_state, render_state
from assent.protocol.error import BadRequestError
from assent.protocol.gate import AREAS
from assent.protocol.review import (
    MAX_CHUNKS,
    MAX_FINDINGS,
    MAX_REVIEW_BYTES,
    Category,
    Chunk,
    Comment,
    Finding,
    PullRequest,
    Review,
    Severity,
    Visual,
    check_review,
    parse_review,
)
from tests.chance import examples
from tests.flows.session.seat import PULL, STARTED, VISUAL, new_finding

__all__: list[str] = []

HOSTILE = [
    "---",
    "-->",
    "--!>",
    "<!-- finding: {} -->",
    "<!-- chunk: {} -->",
    "## Comments by file\n\n```json\n{}\n```",
    "```json",
    "## Findings",
    "### H1",
    "| 1. x | 1 | 1 | reviewed |",
    "|",
    "\n---\n",
    "\r\n",
    "\r",
    "\u2028",
    "\x85",
    "\x0b\x0c",
    "\u202e\u2066",
    "\x1b[2J",
    "\x7f\x9f",
    "\ufeff\ufffe\uffff",
    "\\",
    '"',
    "`",
    "\U000e0041",
    "a\u0301" * 10,
    "mode: quick",
]
visible = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
texts = st.lists(st.sampled_from(HOSTILE) | visible, max_size=4).map("".join)
long_texts = texts.map(lambda text: text[:20_000])
lines = texts.map(lambda text: "x" + re.sub(r"[\r\n]", " ", text)[:400])
paths = texts.map(lambda text: "src/_" + re.sub(r"[\x00-\x1f/]|\.\.", "_", text)[:400] + ".py")
counts = st.integers(1, 2_000_000_000)
findings = st.builds(
    Finding,
    st.sampled_from(Severity),
    lines,
    paths,
    counts,
    st.sampled_from(Category),
    st.integers(0, 100),
    long_texts.map(lambda text: "." + text),
    long_texts,
    st.none() | counts,
    st.sampled_from(["RIGHT", "LEFT"]),
)
chunks = st.builds(
    Chunk,
    lines,
    st.lists(paths, min_size=1, max_size=3).map(tuple),
    st.integers(0, 100_000_000),
    st.lists(findings, max_size=3).map(tuple),
)
comments = st.builds(
    Comment,
    counts,
    lines,
    st.just("src/a.py") | paths,
    counts,
    long_texts,
    st.sampled_from(["open", "resolved"]),
)
names = st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,20}", fullmatch=True)
reviews = st.builds(
    Review,
    st.builds(PullRequest, names, names, counts, st.just("0123abc"), texts.map(lambda text: text[:1_000])),
    st.lists(chunks, min_size=1, max_size=3).map(tuple),
    st.integers(0, 1_000),
    st.booleans(),
    st.none() | st.builds(Visual, long_texts.map(lambda text: text or ".")),
    st.lists(comments, max_size=3).map(tuple),
)


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    """Return a session that has come somewhere."""
    review = draw(reviews)
    check_review(review)
    session = replace(
        begin(review, STARTED),
        focus=draw(st.sampled_from(["", *AREAS])),
        phase=draw(st.sampled_from(Phase)),
        mode=draw(st.sampled_from(["full", "quick"])),
        is_visual=draw(st.booleans()),
        asked=draw(st.integers(0, 99)),
    )
    for part in session.parts[: draw(st.integers(0, len(session.parts)))]:
        session = enter(session, part.number)
        status = draw(st.sampled_from([ChunkStatus.REVIEWED, ChunkStatus.SKIPPED]))
        session, _ = move(session, part.number, status)
        if draw(st.booleans()):
            session = discard(session, part.number)
    ids = [held.finding_id for held in session.held]
    return mark(session, draw(st.sets(st.sampled_from(ids)) if ids else st.just(set())), False)


def by_file(session: Session) -> Session:
    """Return a session with its comments as the file has them: together with others of their file."""
    order = list(dict.fromkeys(comment.file for comment in session.comments))
    grouped = sorted(session.comments, key=lambda comment: order.index(comment.file))
    return replace(session, comments=tuple(grouped))


@examples(150)
@given(sessions())
def test_session_is_read_back_as_it_was_kept(session: Session) -> None:
    """Whatever stands in titles, descriptions, suggestions, labels, paths and comments."""
    kept = render_state(session, STARTED, session.asked).encode()
    assert parse_state(kept) == by_file(session)
    again = render_state(parse_state(kept), STARTED, session.asked).encode()
    assert again == kept


@examples(150)
@given(sessions())
def test_text_of_reviewers_begins_no_line_and_ends_no_comment(session: Session) -> None:
    """Rule 1: each line of the file begins as we wrote it, and nothing hidden is shown to a reader."""
    kept = render_state(session, STARTED, 0)
    for line in kept.split("\n"):
        assert line == "" or OURS(line), line
        if line.startswith("<!--"):
            assert line.count("-->") == 1
            assert "--!>" not in line
        elif line.startswith((">", "| ", "`src")):
            assert line.isascii() or not set(line) & set("\u2028\x85\u202e\u2066\ufeff\x7f\x9f\U000e0041")


OURS = re.compile(
    r"---$|[a-z_]+: |# Review of [\w.-]+/[\w.-]+#\d+$|## (Chunk plan|Findings|Comments by file)$|\|[- |]"
    r"|<!-- (chunk|finding): \{.*\} -->$|### [HML]\d+$|(Action Required|Recommended|Minor), [a-z-]+, confidence \d"
    r"|`[^`]*`$|>|```(json)?$|\{.*\}$|None yet\.$",
    re.DOTALL,
).match


def some_session() -> Session:
    """Return a session with all parts, in the middle of its second chunk."""
    session = replace(begin(VISUAL, STARTED), phase=Phase.REVIEW, focus="security", asked=9)
    session, _ = move(enter(session, 1), 1, ChunkStatus.REVIEWED)
    session, _ = move(enter(session, 2), 2, ChunkStatus.IN_PROGRESS)
    return mark(session, {"M1"}, False)


KEPT = render_state(some_session(), "2030-01-01T13:00:00+00:00", 9)


def test_front_matter_is_simple_yaml_with_the_names_of_the_protocol() -> None:
    """G-U12: a name, a colon, a space, and a scalar or a flow mapping that JSON and YAML read alike."""
    front = KEPT.split("---\n")[1]
    pairs = dict(line.split(": ", 1) for line in front.splitlines())
    assert {name: json.loads(value) for name, value in pairs.items()} == {
        "pr_owner": "acme",
        "pr_repo": "shop",
        "pr_number": 7,
        "head_sha": "a" * 40,
        "started": STARTED,
        "updated": "2030-01-01T13:00:00+00:00",
        "mode": "full",
        "focus": "security",
        "self_review": False,
        "phase": "review",
        "pr_title": "Retry payments",
        "visual_review": False,
        "visual_changes": "2 screens changed.",
        "commits": 3,
        "asked": 9,
        "counters": {"H": 3, "M": 2, "L": 2},
        "compared": 0,
        "moved_to": "",
    }


@given(texts.map(lambda text: text[:1_000]))
def test_front_matter_has_no_character_that_yaml_has_no_place_for(title: str) -> None:
    """Control characters, line separators and byte order marks are escaped."""
    session = replace(some_session(), pull_request=replace(PULL, title=title))
    front = render_state(session, STARTED, 0).split("\n---\n")[0]
    allowed = re.compile(
        r"[\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*"
    )
    assert allowed.fullmatch(front)


def test_file_reads_well() -> None:
    """The plan as a table, the findings with rules between them, the comments as JSON (G-U12)."""
    assert "\n".join(line for line in KEPT.split("\n")[20:] if not line.startswith("<!--")) == PAGE


PAGE = (
    """
# Review of acme/shop#7

## Chunk plan

| Chunk | Files | Lines | Status |
|---|---|---|---|
| 1. payment retries | 2 | 286 | reviewed |
| 2. settings | 1 | 40 | in-progress |
| 3. documents | 1 | 12 | pending |


## Findings

"""
    + "\n---\n\n".join(
        f"### {name}\n\n{badge}, {category}, confidence {confidence}, {marked}\n\n`{place}:88`\n\n"
        f"> {title}\n>\n> It never ends.\n\n"
        for name, badge, category, confidence, marked, place, title in [
            (
                "H1",
                "Action Required",
                "bug",
                95,
                "marked for posting",
                "src/retry.py",
                "Retry loop never ends on 429",
            ),
            (
                "H2",
                "Action Required",
                "security",
                85,
                "marked for posting",
                "src/retry.py",
                "Secret in a log",
            ),
            ("M1", "Recommended", "bug", 90, "not marked", "src/retry.py", "Key is built twice"),
            ("M2", "Recommended", "bug", 85, "marked for posting", "src/charge.py", "Timeout swallowed"),
            ("L1", "Minor", "bug", 80, "marked for posting", "src/retry.py", "Name says seconds"),
            ("H3", "Action Required", "bug", 90, "marked for posting", "src/conf.py", "No bound on retries"),
            ("L2", "Minor", "bug", 99, "marked for posting", "src/conf.py", "Unused setting"),
        ]
    )
    + """
## Comments by file

```json
{"src/retry.py":[{"thread_id":5,"author":"sam","file":"src/retry.py","line":80,"body":"Why twice?","status":"to-verify"}]}
```
"""
)


def refused(text: str | bytes) -> str:
    """Return the sentence with which a file is refused."""
    with pytest.raises(BadRequestError) as caught:
        parse_state(text.encode() if isinstance(text, str) else text)
    sentence = caught.value.message
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("---\npr_owner", "pr_owner"),
        ("pr_owner: ", "pr_owner "),
        ('pr_owner: "acme"\n', ""),
        ('pr_owner: "acme"', 'pr_owner: "acme/x"'),
        ('pr_owner: "acme"', 'pr_owner: "acme"\npr_owner: "acne"'),
        ("pr_number: 7", 'pr_number: "7"'),
        ("pr_number: 7", "pr_number: 0"),
        ("pr_number: 7", "pr_number: 7\nlabel: 1"),
        (f'head_sha: "{"a" * 40}"', 'head_sha: "HEAD"'),
        (f'started: "{STARTED}"', 'started: "yesterday"'),
        (f'started: "{STARTED}"', "started: 5"),
        ('updated: "2030-01-01T13:00:00+00:00"\n', ""),
        ('mode: "full"', 'mode: "half"'),
        ('focus: "security"', 'focus: "colours"'),
        ("self_review: false", "self_review: no"),
        ('phase: "review"', 'phase: "lunch"'),
        ("asked: 9", "asked: -1"),
        ('counters: {"H":3', 'counters: {"H":-3'),
        ('counters: {"H":3', 'counters: {"H":2'),
        ("| 2. settings | 1 | 40 | in-progress |\n", ""),
        ("| 2. settings | 1 | 40 | in-progress |", "| 2. settings | 1 | 40 | done |"),
        ("| 1. payment retries | 2 | 286 | reviewed |", "| 1. payment retries | 2 | 286 | in-progress |"),
        ("| 3. documents", f"| {'9' * 5_000}. documents"),
        ("| 3. documents", "| 2. documents"),
        ('<!-- chunk: {"label":"settings"', '<!-- chunk: {"label":" "'),
        ('<!-- chunk: {"label":"settings"', '<!-- chunk {"label":"settings"'),
        ('"files":["README.md"]', '"files":[]'),
        ('"files":["README.md"]', '"files":["README.md"],"size":1'),
        ("### M1\n", ""),
        ("### M1", "### M3"),
        ('<!-- finding: {"finding_id":"M1"', '<!-- finding: {"finding_id":"M2"'),
        ('<!-- finding: {"finding_id":"M1"', '<!-- a finding: {"finding_id":"M1"'),
        ('"finding_id":"M1","chunk":1', '"finding_id":"M1","chunk":4'),
        ('"finding_id":"M1","chunk":1', '"finding_id":"M1","chunk":0'),
        ('"severity":"warning","title":"Key', '"severity":"critical","title":"Key'),
        ('"file":"src/conf.py","line":88', '"file":"src/../../conf.py","line":88'),
        ('"title":"Key is built twice"', '"title":" \\u200b"'),
        ("## Comments by file", "## Comments"),
        ('"status":"to-verify"', '"status":"lost"'),
        ('"thread_id":5,"author"', '"thread_id":"5","author"'),
        ("\n```\n", "\n"),
    ],
)
def test_file_that_lacks_something_is_no_session(old: str, new: str) -> None:
    """Missing, garbled or made up: one sentence, and never half a session."""
    assert old in KEPT
    refused(KEPT.replace(old, new))


@pytest.mark.parametrize("name", ["M01", "M\u0661", "X1", "M" + "9" * 5_000, "", "M1\n", "m1"])
def test_id_of_another_shape_is_refused(name: str) -> None:
    """Also one that Python would take for a number."""
    quoted = msgspec.json.encode(name).decode()
    garbled = KEPT.replace("### M1", f"### {name}").replace('"finding_id":"M1"', f'"finding_id":{quoted}')
    refused(garbled)


@pytest.mark.parametrize("text", [b"", b"\xff\xfe", b"---\n---\n", b"---\n\n---\n", b"[]", bytes(100)])
def test_file_that_is_something_else_is_refused(text: bytes) -> None:
    """Whatever somebody put there."""
    refused(text)


@examples(200)
@given(
    st.integers(0, len(KEPT)), st.integers(0, 60), st.sampled_from(["", "\n", "---\n", "-->", "0", '"', "{"])
)
def test_cut_and_pasted_file_is_a_session_or_refused(start: int, size: int, put: str) -> None:
    """Never another error."""
    garbled = KEPT[:start] + put + KEPT[start + size :]
    with suppress(BadRequestError):
        parse_state(garbled.encode())


@pytest.mark.parametrize("filler", ["\x7f", "-->"])
def test_largest_review_is_kept_in_the_largest_file(filler: str) -> None:
    """Also if it is made of what grows most when it is shown, or when it is kept; and it is read back."""
    review = largest(filler)
    session = begin(review, STARTED)
    for part in session.parts:
        session = enter(session, part.number)
    kept = render_state(session, STARTED, 0).encode()
    assert len(kept) < MAX_STATE_BYTES
    assert parse_state(kept) == session
    assert len(render_state(begin(review, STARTED), STARTED, 0).encode()) < MAX_STATE_BYTES


def largest(filler: str) -> Review:
    """Return a review of as many bytes as may be handed in."""
    room = MAX_REVIEW_BYTES // MAX_FINDINGS - 250
    spelled = len(msgspec.json.encode(filler)) - 2
    text = "." + filler * min(room // spelled, 19_999 // len(filler))
    finding = new_finding(description=text)
    each = MAX_FINDINGS // MAX_CHUNKS
    review = Review(
        PULL,
        tuple(Chunk(f"chunk {number}", ("a", "b"), 9, (finding,) * each) for number in range(MAX_CHUNKS)),
    )
    whole = msgspec.json.encode(review)
    assert 0.75 * MAX_REVIEW_BYTES < len(whole) <= MAX_REVIEW_BYTES
    checked: Any = parse_review(whole)
    assert checked == review
    return review
