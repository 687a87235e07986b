"""`assent review`: the findings of a document review, decided one by one, and one report at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import msgspec

from assent.cli.accept import accepting
from assent.cli.applier import find_applier, given_applier
from assent.cli.exit import DONE, STILL_OPEN, say
from assent.cli.group import PlacedCommand
from assent.cli.json_file import read_json_file
from assent.cli.json_line import echo_json
from assent.cli.place import Place, now
from assent.cli.span import SPAN
from assent.cli.typist import find_typist, tell_waiting, who_types
from assent.client.client import Client
from assent.client.door import Door
from assent.client.identity import agent
from assent.client.place import DocumentPlace, find_document
from assent.client.review import is_over, review
from assent.client.reviewing import hold_review, prepare_review
from assent.effects.applier import Apply, walk_through_performers
from assent.flows.step import Ask as Step
from assent.flows.synthesis.parse import parse_findings
from assent.flows.synthesis.route import Route, route_of
from assent.flows.synthesis.synthesis import render_synthesis, synthesise
from assent.flows.walk_through.block import handle_of
from assent.flows.walk_through.headless import COMPLETE, render_envelope
from assent.flows.walk_through.next_step import DocumentType
from assent.flows.walk_through.report import render_report, report_json
from assent.protocol.ask import Ask
from assent.protocol.canonical import convert, parse_json
from assent.protocol.decision import CompletionReport, NextStep
from assent.protocol.display import display
from assent.protocol.error import AssentError, FlowTakenError, NoAnswer, StillOpen
from assent.protocol.finding import MAX_FINDINGS_BYTES, Finding, Intake
from assent.protocol.primer import Primer
from assent.surfaces.card import lay_out_markdown, short_id
from assent.surfaces.progress import Progress
from assent.surfaces.race import answer_here
from assent.surfaces.talk import Talk
from assent.surfaces.terminal import TerminalSurface

__all__ = ["command"]


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
    text = None if document is None else _read_text(find_document(Path(document)))
    echo_json(render_synthesis(synthesise(intake, text, primer)))
    return DONE


def _read_text(place: DocumentPlace) -> str:
    return (place.root / place.path).read_text(encoding="utf-8", errors="replace")


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
        self._is_applying = False
        """A pass of fixes has begun, and nobody was asked anything since."""
        self._takes_pipe = "-" not in (given["file"], given["primer"])  # what was read from it is no reply
        self._progress = Progress(terminal)

    def run(self, intake: Intake, primer: Primer) -> int:
        """Go through it to its report, or to where nobody answers."""
        if not self._given["durable"] and not self._given["headless"] and not self._can_type:
            say("No reply is read here, so nothing was begun.")
            say("Let others answer with --durable, or ask nobody with --headless.")
            return self._stay_open(None)
        apply = self._applier(intake, primer)
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
            report = self._report  # what was decided is done; what comes next, nobody said
        return self._close(report)

    def _hold(self, intake: Intake, primer: Primer, apply: Apply | None) -> CompletionReport:
        is_headless = self._given["headless"]
        inputs = prepare_review(intake, self._document, now(), primer, is_headless=is_headless)
        performers = walk_through_performers(self._document.root, apply, self._show_progress)
        talk = _Sitting(self._terminal, self._rest)
        return hold_review(inputs, talk, performers, self._tell, self._document_type)

    @cached_property
    def _can_type(self) -> bool:
        return who_types(self._place, takes_pipe=self._takes_pipe) is not None

    def _rest(self) -> None:
        self._is_applying = False

    def _hold_durably(self, intake: Intake, primer: Primer, apply: Apply | None) -> CompletionReport:
        typist = find_typist(self._place, self._door, takes_pipe=self._takes_pipe)
        wait = None if self._given["wait"] is None else self._given["wait"].total_seconds()

        def present(ask: Ask) -> None:
            self._ask = ask
            if typist is not None:
                self._ask = answer_here(self._terminal, typist, ask, wait)
            elif wait != 0:
                tell_waiting(self._place, self._terminal, ask)

        inputs = prepare_review(intake, self._document, now(), primer)
        if is_over(self._asker, inputs, self._document, self._given["run_id"]):
            say("This review came to its end before, and this is its report. --run-id ID begins another one.")
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
        except NoAnswer:
            say("The review is over without a report, and none of its decisions was applied.")
            say("Safe fixes and deferred findings stay in the document. The same command begins a new one.")
            raise
        except FlowTakenError as taken:
            raise FlowTakenError(
                f"This review goes on already ({taken.driver}). Answer it there, or from the inbox: assent inbox"
            ) from None

    @property
    def _document_type(self) -> DocumentType:
        return DocumentType(self._given["document_type"])

    @cached_property
    def _door(self) -> Door:
        return self._opened.enter_context(self._place.door())

    @cached_property
    def _asker(self) -> Client:
        return self._place.client(self._door, agent(self._place.environ, self._given["asker"]))

    # Fixes in words

    def _applier(self, intake: Intake, primer: Primer) -> Apply | None:
        environ = self._place.environ
        if self._given["applier"] is not None:
            return given_applier(self._given["applier"], environ)
        may_apply = {Route.SILENT} if self._given["headless"] else {Route.SILENT, Route.WALK}
        merged = synthesise(intake, _read_text(self._document), primer).findings
        needed = [finding for finding in merged if route_of(finding) in may_apply]
        return find_applier(needed, environ, self._accept)

    def _accept(self, file: str, digest: str, commands: Mapping[str, Sequence[str]]) -> None:
        typist = None if self._given["headless"] else find_typist(self._place, self._door)
        accepting(self._asker, typist, self._terminal, file, digest, commands, self._place.environ)()

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
        self._terminal.say("")
        if self._given["as_json"]:
            self._terminal.tell(render_report(report))
        else:
            room = self._terminal.room if sys.stdout.isatty() else None
            click.echo("\n".join(lay_out_markdown(render_report(report), room)))

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
        if report.next_step is None and self._ask is not None and self._is_open(self._ask):
            say(
                f"What comes next is still asked. Answer it with: assent answer {short_id(self._ask.ask_id)} …"
            )
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
        else:
            if self._ask is not None and self._is_open(self._ask):
                ask_id = self._ask.ask_id
                say(f"The question stays open. Answer it with: assent answer {short_id(ask_id)} …")
            say("The same command goes on where it stopped.")
        return self._stay_open(ask_id)

    def _stay_open(self, ask_id: str | None) -> int:
        """Say it to a program, too: nobody decided."""
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

    def __init__(self, terminal: TerminalSurface, rest: Callable[[], None]) -> None:
        super().__init__(terminal)
        self._rest = rest

    def present(self, ask: Step) -> None:
        """Show what is asked."""
        self._rest()
        super().present(ask)
