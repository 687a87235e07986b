"""`assent pr`: open asks as comments on a pull request, and the replies to them.

What is read from there by this process is on nobody's word but its own, as `declared`: that is enough for everything but
an approval. A server that GitHub delivers comments to looks up by itself who wrote them.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import click
import msgspec

from assent.cli.exit import DONE, STILL_OPEN, say
from assent.cli.find import complete_ask
from assent.cli.gate_file import FOLDER
from assent.cli.group import PlacedGroup
from assent.cli.json_line import echo_json
from assent.cli.place import Place, is_there
from assent.cli.remote import Remote, home_repository, read_notes
from assent.cli.span import SPAN
from assent.client.client import Client
from assent.client.identity import agent
from assent.client.place import find_root
from assent.effects.kept import Kept
from assent.protocol.ask import Ask
from assent.protocol.display import display, quote
from assent.protocol.ending import render_ending
from assent.protocol.error import BadRequestError, GitHubError, InvalidStateError, NotFoundError
from assent.protocol.review import PullRequest
from assent.surfaces.card import render_title, short_id
from assent.surfaces.comment_gate import PostedGate

__all__ = ["DEFAULT_LOOK_SECONDS", "MIN_LOOK_SECONDS", "command"]

MIN_LOOK_SECONDS = 10.0
"""Nobody looks at a pull request more often than that: GitHub counts requests by the hour."""
DEFAULT_LOOK_SECONDS = 30.0
_NO_WAY = "There is no way to GitHub from here: set GH_TOKEN, or install gh and log in."
_is_number = re.compile(
    r"(?:(?P<owner>[A-Za-z0-9_.-]{1,100})/(?P<repo>[A-Za-z0-9_.-]{1,100}))?#?(?P<number>[1-9][0-9]{0,8})"
).fullmatch


@click.group("pr", cls=PlacedGroup)
def command() -> None:
    """Put open asks on a pull request as comments, and take the replies.

    A reply counts if a person with write access wrote it, after the comment, in a comment of their own that was never
    edited, and while the pull request has no newer commit. Bots, apps and the account that posted it never answer.

    \b
      assent pr post k3x9d2 --pr 7
      assent pr collect --watch
      assent pr list
    """  # noqa: D301 - \b is click's mark for lines that stay as they are


_PR = click.option(
    "--pr",
    "name",
    metavar="[OWNER/REPO#]N",
    help="The pull request; of this folder's repository, its number.",
)


@command.command("post")
@click.argument("ask_ids", metavar="ASK...", nargs=-1, required=True, shell_complete=complete_ask)
@_PR
@click.option("--as", "asker", metavar="NAME", help="The name of the agent that asks.")
@click.pass_obj
def _post(place: Place, /, ask_ids: tuple[str, ...], name: str | None, asker: str | None) -> int:
    """Post open asks to a pull request, a comment each.

    An ask that is there already is not posted again. What an approval would let happen is shown whole; where it is too
    long for a comment, it can only be declined there.

    Exit status: 0 posted, 1 GitHub did not take it, 2 no such pull request, 4 the ask has ended, or may not go there.
    """
    if name is None:
        raise click.UsageError("On which pull request? As in: --pr 7")
    pull_request, kept = _parse(place, name), _kept()
    with place.door() as door:
        client = place.client(door, agent(place.environ, asker))
        asks = [_open(client, ask_id) for ask_id in ask_ids]
        remote = Remote(place, client, kept, pull_request)
        if objection := remote.objection():
            raise InvalidStateError(f"{objection}, so nothing is posted there.")
        if not remote.is_reachable:
            raise GitHubError(_NO_WAY)
        for ask in asks:
            _check_place(kept, ask, pull_request)
            if not remote.post_gate(ask):
                raise GitHubError(f"{short_id(ask.ask_id)} was not posted to {pull_request}.")
            click.echo(f"{short_id(ask.ask_id)}  {pull_request}  {render_title(ask)}")
    if place.is_server:
        say(
            "Replies count once GitHub delivers them to the server; assent pr collect writes here how it ended."
        )
    return DONE


@command.command("collect")
@_PR
@click.option("--watch", is_flag=True, help="Look again and again, until nothing waits any more.")
@click.option("--every", type=SPAN, metavar="TIME", help="So often. [default: 30s; 10s at least]")
@click.option("--wait", "wait", type=SPAN, metavar="TIME", help="Watch so long at most.")
@click.pass_obj
def _collect(place: Place, /, **given: Any) -> int:
    """Take the replies to what was posted from here, and write on each comment how its ask ended.

    Exit status: 0 nothing waits there any more, 3 something does.
    """
    every = DEFAULT_LOOK_SECONDS if given["every"] is None else given["every"].total_seconds()
    if every < MIN_LOOK_SECONDS:
        raise click.UsageError(f"GitHub is asked every {MIN_LOOK_SECONDS:g} seconds at most.")
    only = None if given["name"] is None else _parse(place, given["name"])
    kept = _kept()
    until = None if given["wait"] is None else time.monotonic() + given["wait"].total_seconds()
    if not is_there(place.address):  # looking makes no store
        return DONE
    with place.door() as door:
        client = place.client(door, agent(place.environ))
        remotes: dict[str, Remote] = {}
        while True:
            for pull_request in _pull_requests(kept, only):
                remote = remotes.setdefault(str(pull_request), Remote(place, client, kept, pull_request))
                for ask in remote.collect():
                    click.echo(display(f"{short_id(ask.ask_id)}  {render_ending(ask)}", lines=False))
            if not _pull_requests(kept, only):
                return DONE
            left = every if until is None else min(every, until - time.monotonic())
            if not given["watch"] or left <= 0:
                return STILL_OPEN
            time.sleep(left)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help='Print {"posted": […]}.')
@click.pass_obj
def _list(place: Place, /, as_json: bool) -> int:
    """List what was posted from here and is not known to have ended."""
    noted = read_notes(_kept())
    if as_json:
        told = [
            {"ask_id": each.ask_id, "pull_request": str(_pull_of(each)), "comment_id": each.comment_id}
            for each in noted
        ]
        echo_json(msgspec.json.encode({"posted": told}))
        return DONE
    if noted and place.is_there():
        with place.door(reads=True) as door:
            client = place.client(door, agent(place.environ))
            for posted in noted:
                state, title = _look(client, posted)
                line = f"{short_id(posted.ask_id)}  {_pull_of(posted)}  {state}  {title}"
                click.echo(display(line.rstrip(), lines=False))
    else:
        say("Nothing was posted from here.")
    return DONE


def _look(client: Client, posted: PostedGate) -> tuple[str, str]:
    try:
        ask = client.show(posted.ask_id)
    except NotFoundError:
        return "unknown", ""
    return ask.state, render_title(ask)


def _open(client: Client, ask_id: str) -> Ask:
    ask = client.show(ask_id.strip().lower())
    if not ask.is_open:
        raise InvalidStateError(f"{short_id(ask.ask_id)} is not open any more: {render_ending(ask)}")
    return ask


def _check_place(kept: Kept, ask: Ask, pull_request: PullRequest) -> None:
    for posted in read_notes(kept):
        if posted.ask_id == ask.ask_id and not _pull_of(posted).is_same(pull_request):
            raise InvalidStateError(f"{short_id(ask.ask_id)} is a comment on {_pull_of(posted)} already.")


def _parse(place: Place, name: str) -> PullRequest:
    found = _is_number(name.strip())
    if found is None:
        raise BadRequestError(f'"{quote(name)}" is no pull request: say its number, or OWNER/REPO#N.')
    owner, repo = found["owner"], found["repo"]
    if owner is None:
        home = home_repository(place.environ, Path.cwd())
        if home is None or home.count("/") != 1:
            raise BadRequestError("Which repository is it in? Say it as OWNER/REPO#N.")
        owner, repo = home.split("/")
    # Which commit it is at is asked of GitHub when something is posted.
    return PullRequest(owner, repo, int(found["number"]), head_sha="")


def _pull_of(posted: PostedGate) -> PullRequest:
    return PullRequest(posted.owner, posted.repo, posted.number, posted.head_sha)


def _pull_requests(kept: Kept, only: PullRequest | None) -> list[PullRequest]:
    """Return where something waits, each pull request once."""
    found = {str(pull): pull for pull in map(_pull_of, read_notes(kept))}
    return [pull for pull in found.values() if only is None or pull.is_same(only)]


def _kept() -> Kept:
    return Kept(find_root(Path.cwd()) / FOLDER)
