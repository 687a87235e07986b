"""What a session shows at its gates: overview, plan, findings, a finding in full. Plain text that is good Markdown, too.

Text of reviewers is on one line here, with every hidden character made visible; a finding in full has it behind `> `.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assent.flows.session.finding import ChunkStatus, Held, Part, Session
from assent.protocol.display import display, quote
from assent.protocol.review import BADGES, PREFIXES, Severity
from assent.protocol.words import count

__all__ = [
    "render_chunk",
    "render_findings",
    "render_full",
    "render_marks",
    "render_overview",
    "render_plan",
    "render_progress",
    "render_tally",
]

_LINES_A_MINUTE, _LEAST_MINUTES = 60, 2
QUICK_BELOW, MANY_FILES = 100, 50
"""Fewer changed lines suggest the quick mode; so many files are a warning (G-U5)."""
_TITLE = 100
_DESCRIPTION, _DESCRIPTIONS = 600, 100_000
"""So many characters of one description, and of all in one gate: a prompt has its limit."""


def _files(session: Session) -> int:
    return len({file for part in session.parts for file in part.chunk.files})


def render_overview(session: Session) -> str:
    """Return what is reviewed, and how large it is."""
    lines = sum(part.chunk.lines for part in session.parts)
    files = _files(session)
    pull = session.pull_request
    title = f": {quote(pull.title)}" if pull.title else ""
    sizes = [
        (files, "file"),
        (lines, "changed line"),
        (session.commits, "commit"),
        (len(session.parts), "chunk"),
    ]
    shown = [
        f"{pull}{title}",
        ", ".join(count(number, noun) for number, noun in sizes) + ".",
    ]
    if session.focus:
        shown.append(f"Focus: {session.focus}.")
    if session.self_review:
        shown.append("Self-review: minor findings are left out.")
    if lines < QUICK_BELOW:
        shown.append(f"Fewer than {QUICK_BELOW} changed lines: quick mode will do.")
    if files >= MANY_FILES:
        shown.append(f"Warning: {files:,} files are a lot for one review.")
    return "\n".join(shown)


def render_plan(session: Session) -> str:
    """Return the chunks with their size, the time they may take, and comments that are there already."""
    return "\n".join(_plan_line(session, part) for part in session.parts)


def _plan_line(session: Session, part: Part) -> str:
    chunk = part.chunk
    minutes = max(_LEAST_MINUTES, -(-chunk.lines // _LINES_A_MINUTE))
    comments = sum(1 for comment in session.comments if comment.file in chunk.files)
    status = "" if part.status is ChunkStatus.PENDING else f", {part.status}"
    said = f", {count(comments, 'comment')}" if comments else ""
    return (
        f"- Chunk {part.number}: {quote(chunk.label)} ({count(len(chunk.files), 'file')}, "
        f"{count(chunk.lines, 'line')}, about {minutes} min{said}{status})"
    )


def render_progress(session: Session) -> str:
    """Return how far a session has come."""
    done = [part for part in session.parts if part.status is ChunkStatus.REVIEWED]
    return (
        f"{len(done)} of {count(len(session.parts), 'chunk')} reviewed, "
        f"{count(len(session.held), 'finding')}, {len(session.marked)} marked"
    )


def render_chunk(session: Session, part: Part) -> str:
    """Return where a chunk stands and what was found in it."""
    held = session.of_chunk(part.number)
    chunk = part.chunk
    head = (
        f"Chunk {part.number} of {len(session.parts)}, {quote(chunk.label)}. {count(len(held), 'finding')} "
        f"in {count(len(chunk.files), 'file')}, {count(chunk.lines, 'line')}."
    )
    return "\n".join([head, *_with_descriptions(held)])


def _with_descriptions(held: Sequence[Held]) -> Iterator[str]:
    """Yield findings with what they say: a person who goes on here has seen what will be posted."""
    width = max((len(each.finding_id) for each in held), default=0)
    room = min(_DESCRIPTION, _DESCRIPTIONS // len(held)) if held else 0
    for each in held:
        yield _finding_line(each, width)
        text = " ".join(each.finding.description.split())
        more = []
        if len(text) > room:
            more.append("more to read")
        if each.finding.suggestion:
            more.append(f"a suggestion of {count(each.finding.suggestion.count(chr(10)) + 1, 'line')}")
        said = f" ({' and '.join(more)}: deep-dive {each.finding_id})" if more else ""
        yield f"  > {quote(text, room)}{said}"


def render_findings(held: Sequence[Held]) -> str:
    """Return findings one a line; a box says whether it will be posted."""
    width = max((len(each.finding_id) for each in held), default=0)
    return "\n".join(_finding_line(each, width) for each in held)


def _finding_line(held: Held, width: int) -> str:
    finding = held.finding
    place = quote(f"{finding.file}:{finding.line}", _TITLE)
    box = "[x]" if held.is_marked else "[ ]"
    return f"- {box} {held.finding_id.ljust(width)} {quote(finding.title, _TITLE)}  {place}"


def render_marks(held: Iterable[Held]) -> str:
    """Return what remains marked."""
    marked = [each.finding_id for each in held if each.is_marked]
    if not marked:
        return "Nothing is marked for posting."
    return f"Marked for posting: {', '.join(marked)}."


def render_tally(held: Sequence[Held]) -> str:
    """Return how many findings of each severity there are."""
    shown = []
    for severity in Severity:
        of_it = [each for each in held if each.finding.severity is severity]
        if of_it:
            shown.append(f"{len(of_it)} {BADGES[severity]} ({PREFIXES[severity]})")
    marked = sum(1 for each in held if each.is_marked)
    return f"{', '.join(shown)}; {marked} marked for posting." if shown else "No findings."


def render_full(held: Held) -> str:
    """Return all of a finding."""
    finding = held.finding
    said = finding.description
    if finding.suggestion:
        said += f"\n\nSuggestion:\n{finding.suggestion}"
    quoted = "\n".join(f"> {line}".rstrip() for line in display(said).split("\n"))
    return (
        f"{held.finding_id} {quote(finding.title, _TITLE)}\n"
        f"{BADGES[finding.severity]}, {finding.category}, confidence {finding.confidence}, "
        f"{quote(f'{finding.file}:{finding.line}', _TITLE)}\n{quoted}"
    )
