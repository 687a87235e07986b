"""`assent review`: the findings of a document review, decided one by one, and one report at the end."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import msgspec

from assent.cli.accept import accepting
from assent.cli.exit import DONE, STILL_OPEN, say
from assent.cli.gate_file import FOLDER, read_bounded
from assent.cli.group import PlacedCommand
from assent.cli.json_file import read_json_file
from assent.cli.json_line import echo_json
from assent.cli.place import Place, now
from assent.cli.span import SPAN
from assent.cli.typist import find_typist, who_types
from assent.client.client import Client
from assent.client.identity import agent
from assent.client.place import DocumentPlace, find_document, find_root
from assent.client.review import review
from assent.client.reviewing import hold_review, prepare_review
from assent.effects.applier import Apply, run_applier, walk_through_performers
from assent.flows.step import Ask as Step
from assent.flows.synthesis.parse import parse_findings
from assent.flows.synthesis.synthesis import render_synthesis, synthesise
from assent.flows.walk_through.block import handle_of
from assent.flows.walk_through.headless import COMPLETE, render_envelope
from assent.flows.walk_through.next_step import DocumentType
from assent.flows.walk_through.report import render_report, report_json
from assent.hub.hub import Hub
from assent.protocol.applier_file import MAX_APPLIER_FILE_BYTES, parse_applier
from assent.protocol.ask import Ask
from assent.protocol.canonical import Json, convert, digest, parse_json
from assent.protocol.decision import CompletionReport, NextStep
from assent.protocol.display import display, quote
from assent.protocol.error import AssentError, EffectError, FlowTakenError, StillOpen
from assent.protocol.finding import MAX_FINDINGS_BYTES, AutofixClass, Finding, Intake, RawFinding
from assent.protocol.primer import Primer
from assent.protocol.words import count
from assent.surfaces.card import short_id
from assent.surfaces.progress import Progress
from assent.surfaces.race import answer_here
from assent.surfaces.talk import Talk
from assent.surfaces.terminal import TerminalSurface

__all__ = ["APPLIER_FILE", "command"]

APPLIER_FILE = f"{FOLDER}/review.toml"


@click.command("review", cls=PlacedCommand)
@click.argument("file", metavar="FINDINGS.json")
@click.option("--document", metavar="DOC.md", help="The document that was reviewed.")
@click.option(
    "--durable",
    is_flag=True,
    help="Make each question an ask that can be answered from anywhere; the same command goes on where it stopped.",
)
@click.option("--headless", is_flag=True, help="Ask nobody: apply safe fixes, print the rest.")
@click.option("--synthesize-only", is_flag=True, help="Print the merged findings as JSON, and do nothing.")
@click.option(
    "--applier",
    metavar="COMMAND",
    help="Works a fix in words into the document: gets both as JSON on standard input, prints the new document.",
)
@click.option("--primer", metavar="REPORT.json", help="The report of the round before, as --json printed it.")
@click.option(
    "--document-type",
    type=click.Choice([kind.value for kind in DocumentType]),
    default=DocumentType.OTHER.value,
    help="Says which stage comes next. [default: other]",
)
@click.option("--run-id", metavar="ID", help="With --durable: another id is another review of the same.")
@click.option("--as", "asker", metavar="NAME", help="The name of the agent that asks.")
@click.option(
    "--wait", type=SPAN, metavar="TIME", help="With --durable: wait so long at most for each reply."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_obj
def command(place: Place, /, **given: Any) -> int:
    """Go through the findings of a document review with a person, and print what came of it.

    FINDINGS.json is one reviewer's output, a list of them, or a merged set; docs/reference/findings.md describes it.
    Replies are read here, from a terminal or from a pipe with a reply a line. Fixes are applied at the very end, in one
    pass; only deferred findings are written into the document's Open Questions as it goes. Whoever leaves before the
    end has applied nothing, and nothing of it is stored, unless it is --durable.

    \b
      assent review findings.json --document plan.md
      assent review findings.json --document plan.md --durable
      assent review findings.json --document plan.md --headless
      assent review findings.json --synthesize-only > merged.json

    Exit status: 0 the report is out, 3 no decision, 4 a question was declined, 5 a question was withdrawn.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    modes = [name for name in ("durable", "headless", "synthesize_only") if given[name]]
    if len(modes) > 1:
        raise click.UsageError("Give one of --durable, --headless and --synthesize-only.")
    if given["document"] is None and not given["synthesize_only"]:
        raise click.UsageError("Which document? As in: assent review FINDINGS.json --document PLAN.md")
    if not given["durable"] and (given["wait"] is not None or given["run_id"] is not None):
        raise click.UsageError("--wait and --run-id say how a --durable review goes; this is none.")
    intake = read_json_file(given["file"], parse_findings, MAX_FINDINGS_BYTES)
    primer = Primer() if given["primer"] is None else read_json_file(given["primer"], _read_primer)
    if given["synthesize_only"]:
        return _synthesise(intake, given["document"], primer)
    with TerminalSurface(now, place.environ) as terminal, ExitStack() as opened:
        seat = _Seat(place, find_document(Path(given["document"])), terminal, opened, given)
        return seat.run(intake, primer)


def _read_primer(text: bytes) -> Primer:
    """Return what an earlier report hands on; the part of it alone is one, too."""
    read = parse_json(text)
    return convert(read["primer"] if isinstance(read, dict) and "primer" in read else read, Primer)


def _synthesise(intake: Intake, document: str | None, primer: Primer) -> int:
    text = None
    if document is not None:
        place = find_document(Path(document))
        text = (place.root / place.path).read_text(encoding="utf-8", errors="replace")
    echo_json(render_synthesis(synthesise(intake, text, primer)))
    return DONE


class _Seat:
    """A review where it takes place: on which document, at which terminal, with whose help."""

    def __init__(
        self,
        place: Place,
        document: DocumentPlace,
        terminal: TerminalSurface,
        opened: ExitStack,
        given: dict[str, Any],
    ) -> None:
        self._place, self._document, self._terminal, self._given = place, document, terminal, given
        self._opened = opened
        self._ask: Ask | None = None
        self._report: CompletionReport | None = None
        self._can_type = True
        self._is_applying = False
        """A pass of fixes has begun, and nobody was asked anything since."""
        self._takes_pipe = "-" not in (given["file"], given["primer"])  # what was read from it is no reply
        self._progress = Progress(terminal)

    def run(self, intake: Intake, primer: Primer) -> int:
        """Go through it to its report, or to where nobody answers."""
        apply = self._applier(intake)
        try:
            if self._given["durable"]:
                report = self._hold_durably(intake, primer, apply)
            else:
                report = self._hold(intake, primer, apply)
        except (KeyboardInterrupt, EOFError, StillOpen) as left:
            if not isinstance(left, StillOpen):
                say("")  # the prompt's sign stands there alone
            if self._report is None:
                return self._leave()
            report = self._report  # after it, no reply means stop
        return self._close(report)

    def _hold(self, intake: Intake, primer: Primer, apply: Apply | None) -> CompletionReport:
        is_headless = self._given["headless"]
        inputs = prepare_review(intake, self._document, now(), primer, is_headless=is_headless)
        performers = walk_through_performers(self._document.root, apply, self._show_progress)
        self._can_type = not is_headless and who_types(self._place, takes_pipe=self._takes_pipe) is not None
        talk = _Sitting(self._terminal, self._rest, can_type=self._can_type)
        return hold_review(inputs, talk, performers, self._tell, self._document_type)

    def _rest(self) -> None:
        self._is_applying = False

    def _hold_durably(self, intake: Intake, primer: Primer, apply: Apply | None) -> CompletionReport:
        typist = find_typist(self._place, self._hub, takes_pipe=self._takes_pipe)
        wait = None if self._given["wait"] is None else self._given["wait"].total_seconds()

        def present(ask: Ask) -> None:
            self._ask = ask
            if typist is not None:
                self._ask = answer_here(self._terminal, typist, ask, wait)
            elif wait != 0:
                say(f"waiting for an answer: assent answer {short_id(ask.ask_id)} …")

        try:
            return review(
                self._asker,
                intake,
                document=self._document.root / self._document.path,
                durable=True,
                apply=apply,
                primer=primer,
                document_type=self._document_type,
                run_id=self._given["run_id"],
                say=self._terminal.tell,
                present=present,
                tell=self._tell,
                progress=self._show_progress,
                wait=wait,
            )
        except FlowTakenError as taken:
            who = taken.message.removesuffix(" drives this flow.")
            raise FlowTakenError(
                f"This review goes on already ({who}). Answer it there, or from the inbox: assent inbox"
            ) from None

    @property
    def _document_type(self) -> DocumentType:
        return DocumentType(self._given["document_type"])

    @cached_property
    def _hub(self) -> Hub:
        return self._opened.enter_context(self._place.hub())

    @cached_property
    def _asker(self) -> Client:
        return self._place.client(self._hub, agent(self._place.environ, self._given["asker"]))

    # Fixes in words

    def _applier(self, intake: Intake) -> Apply | None:
        """Return what works fixes in words into the document: as said here, or as the project's file has it.

        A command of the project's file is accepted by a person first. That is settled before the first question: after
        the last one it would cost every decision.
        """
        if self._given["applier"] is not None:
            words = _split_command(self._given["applier"])
            return run_applier(words, Path.cwd(), self._place.environ)
        prose = _count_prose(intake, is_headless=self._given["headless"])
        if not prose:
            return None
        root = find_root(Path.cwd())
        file = root / APPLIER_FILE
        text = read_bounded(file, MAX_APPLIER_FILE_BYTES) if file.exists() else b""
        applier = parse_applier(text, APPLIER_FILE)
        if applier is None:
            has = "has its fix" if prose == 1 else "have their fixes"
            say(f"{count(prose, 'finding')} {has} in words only, and no applier is named.")
            say("Applied, such a fix is reported as failed: see --applier in assent review --help.")
            return None
        words = [*(f"{key}={value}" for key, value in applier.env.items()), *applier.command]
        typist = find_typist(self._place, self._hub) if not self._given["headless"] else None
        check = accepting(self._asker, typist, self._terminal, APPLIER_FILE, digest(text), {"applier": words})
        try:
            check()
        except EffectError as error:
            return _refuse(error)
        environ = {**self._place.environ, **applier.env}
        return run_applier(applier.command, root, environ, applier.seconds)

    def _show_progress(self, done: int, total: int, finding: Finding) -> None:
        self._is_applying = True
        self._progress.show("Applying", done + 1, total, handle_of(finding))

    # The end

    def _tell(self, report: CompletionReport) -> None:
        """Print the report; where JSON is printed, the person still reads it."""
        self._progress.close()
        self._report = report
        if self._given["headless"]:
            return
        if self._given["as_json"]:
            self._terminal.tell(render_report(report))
        else:
            self._terminal.say("")
            click.echo(display(render_report(report)))

    def _close(self, report: CompletionReport) -> int:
        if self._given["as_json"]:
            echo_json(msgspec.json.encode(report_json(report)))
        elif self._given["headless"]:
            click.echo(display(render_envelope(report)))
        else:
            click.echo(COMPLETE)
        if report.next_step is NextStep.REVIEW_AGAIN:
            kept = (
                "Keep this report" if self._given["as_json"] else "Only a report in JSON (--json) can be kept"
            )
            say(f"{kept}: --primer REPORT.json tells the next round what was decided in this one.")
        return DONE

    def _leave(self) -> int:
        self._progress.close()
        ask_id = None
        if not self._given["durable"] and self._is_applying:
            # The document is replaced in one move, and nobody can tell whether Ctrl-C came before it or after it.
            say("The review was stopped while fixes were applied, so there is no report.")
            say("Look at the document: all of them that could be made are in it, or none.")
        elif not self._given["durable"]:
            say("The review ends without a report: what was decided is gone, and none of it applied.")
            say("Safe fixes and deferred findings stay in the document.")
            if not self._can_type:
                say("No reply is read here. Let others answer with --durable, or ask nobody with --headless.")
        else:
            if self._ask is not None and self._is_open(self._ask):
                ask_id = self._ask.ask_id
                say(f"The question stays open. Answer it with: assent answer {short_id(ask_id)} …")
            say("The same command goes on where it stopped.")
        if self._given["as_json"]:
            echo_json(msgspec.json.encode({"how": "open", "ask_id": ask_id}))
        return STILL_OPEN

    def _is_open(self, ask: Ask) -> bool:
        """Whether the last question still waits; whoever left may have done so after its answer."""
        with suppress(AssentError):
            ask = self._asker.show(ask.ask_id)
        return ask.is_open


class _Sitting(Talk):
    """A talk that tells when a person is asked: whatever was under way before is through then."""

    def __init__(self, terminal: TerminalSurface, rest: Callable[[], None], *, can_type: bool) -> None:
        super().__init__(terminal, can_type=can_type)
        self._rest = rest

    def present(self, ask: Step) -> None:
        """Show what is asked."""
        self._rest()
        super().present(ask)


def _split_command(text: str) -> list[str]:
    """Return the words of a command that can be run."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise click.UsageError(f"--applier cannot be read as a command: {error}.") from None
    if not words:
        raise click.UsageError("The applier is a command, as in --applier 'python3 apply.py'.")
    if shutil.which(words[0]) is None:
        raise click.UsageError(f'There is no program "{quote(words[0])}" for --applier.')
    return words


def _count_prose(intake: Intake, *, is_headless: bool) -> int:
    """Return how many findings that may be applied have a fix in words alone; headless, only safe ones may."""
    every: list[RawFinding | Finding] = [*(intake.merged or ())]
    for output in intake.outputs:
        every += output.findings
    if is_headless:
        every = [finding for finding in every if finding.autofix_class is AutofixClass.SAFE_AUTO]
    return sum(bool(finding.suggested_fix) and finding.edit is None for finding in every)


def _refuse(error: EffectError) -> Apply:
    """Return an applier that says why there is none; it is said now, too."""
    say(display(f"{error.message} Fixes in words will be reported as failed.", lines=False))

    def apply(_: dict[str, Json], __: str) -> str:
        raise error

    return apply
