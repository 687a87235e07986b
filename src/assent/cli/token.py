"""`assent token`: credentials for a server.

Only a person makes and revokes them, and where an agent runs the command it is refused. A token is printed once: standard
output is the secret and nothing else, and no other stream ever has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click
import msgspec

from assent.cli.exit import DONE, say
from assent.cli.group import PlacedGroup
from assent.cli.json_line import echo_json
from assent.cli.place import Place, is_there, now
from assent.cli.span import SPAN
from assent.client.identity import agent_mark, assurance_here, person
from assent.effects.interrupt import uninterrupted
from assent.protocol.display import display, quote
from assent.protocol.ending import render_instant, render_name
from assent.protocol.error import BadRequestError, ForbiddenError, NotFoundError
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.token import ALL_PROJECTS, Token, render_token
from assent.protocol.words import join_words
from assent.surfaces.width import columns, pad

__all__ = ["command", "render_tokens"]

_ROLES = [role.value for role in (Role.AGENT, Role.HUMAN, Role.OPERATOR, Role.OBSERVER)]
_COLUMNS = ("token", "role", "name", "projects", "expires", "state")
_SHORTEST_END = 4
"""So many characters of the end of an id, at least, before a token is found by it."""


@click.group("token", cls=PlacedGroup)
def command() -> None:
    """Make and revoke the credentials with which people and agents come to a server.

    A token stands for a role and a name, in one project or in several. An agent's token can ask and never answer.

    \b
      assent token create --role agent --name ci
      assent token create --role human --name ana --all-projects
      assent token list
      assent token revoke ci
    """  # noqa: D301 - \b is click's mark for lines that stay as they are


@command.command("create")
@click.option("--role", required=True, type=click.Choice(_ROLES), help="What its holder may do.")
@click.option("--name", metavar="NAME", help="Whose it is. [default: yours, or the role of a machine]")
@click.option("--for", "projects", metavar="PROJECT", multiple=True, help="Where it holds. [default: here]")
@click.option("--all-projects", is_flag=True, help="It holds in every project of the store.")
@click.option("--life", metavar="TIME", type=SPAN, help="As in 8h or 90d. [default: 30d, an agent's 24h]")
@click.option("--unattended", is_flag=True, help="Make a person's where no terminal is; the log says so.")
@click.option("--json", "as_json", is_flag=True, help="Print the token with all that is known of it.")
@click.pass_obj
def _create(place: Place, /, **given: Any) -> int:
    """Make a token and print it, once. Nothing keeps it: who loses it makes another.

    A token for a person or an operator takes a terminal, or --unattended.

    Exit status: 0 made, 2 the name, a project or the time cannot be, 4 refused.
    """
    if given["all_projects"] and given["projects"]:
        raise click.UsageError("Say --all-projects or --for, not both.")
    who, assurance = _person(place), assurance_here()
    with place.door() as door, uninterrupted(is_final=True):
        client = place.client(door, who, assurance=assurance)
        try:
            token, secret = client.create_token(
                given["role"],
                name=_usual_name(given["role"], client.principal) if given["name"] is None else given["name"],
                projects=(ALL_PROJECTS,) if given["all_projects"] else given["projects"],
                life=given["life"],
                is_unattended=given["unattended"],
            )
        except ForbiddenError as refusal:
            if given["unattended"] or assurance is not Assurance.DECLARED or place.is_server:
                raise
            raise ForbiddenError(
                f"{refusal.message} --unattended says that you mean it all the same."
            ) from None
    if given["as_json"]:
        echo_json(_encode_made(token, secret))
        return DONE
    click.echo(secret)
    say(
        f"{token.token_id}: {_principal(token)} in {_projects(token)}, until {render_instant(token.expires_at)}."
    )
    say("It is not shown again. It is used so, with the address of your server:")
    address = display(str(place.address), lines=False) if place.is_server else "http://HOST:PORT"
    say(f"ASSENT_STORE={address} ASSENT_TOKEN=THE_TOKEN assent inbox")
    return DONE


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help='Print {"tokens": […]}, without their secrets.')
@click.pass_obj
def _list(place: Place, /, as_json: bool) -> int:
    """List the tokens that were made in this project, newest first."""
    who = _person(place)
    tokens: list[Token] = []
    at = now()
    if place.is_there():  # looking makes no store
        with place.door(reads=True) as door:
            tokens = place.client(door, who).tokens()
            at = door.now()
    if as_json:
        echo_json(msgspec.json.encode({"tokens": [render_token(token) for token in tokens]}))
    elif tokens:
        click.echo("\n".join(render_tokens(tokens, at)))
    else:
        say("There are no tokens here.")
    return DONE


@command.command("revoke")
@click.argument("which", metavar="ID|NAME")
@click.pass_obj
def _revoke(place: Place, /, which: str) -> int:
    """End a token now, by its id, the end of its id, or its name.

    Exit status: 0 revoked, also where it was before; 1 there is none; 2 there are several of that name; 4 refused.
    """
    who = _person(place)
    if not is_there(place.address):
        raise _no_token(which)
    with place.door() as door, uninterrupted(is_final=True):
        client = place.client(door, who, assurance=assurance_here())
        found = _pick(client.tokens(), which, door.now())
        token = client.revoke_token(found.token_id)
    by = render_name(token.revoked_by)
    is_late = found.revoked_at is not None
    click.echo(f"{by} {'had revoked' if is_late else 'revoked'} {token.token_id} ({_principal(token)}).")
    return DONE


def _person(place: Place) -> Principal:
    mark = agent_mark(place.environ)
    if mark is not None:
        raise ForbiddenError(
            f"{mark} is set, so an agent runs this command, and only a person can make, list and revoke tokens. "
            "A person can do it in a terminal of their own: assent token create."
        )
    return person(place.environ)


def _usual_name(role: str, who: Principal) -> str:
    return who.name if role in (Role.HUMAN, Role.OPERATOR) else role


def _encode_made(token: Token, secret: str) -> bytes:
    told = render_token(token)
    names = ("role", "name", "project", "projects", "expires_at")
    made = {"token_id": token.token_id, "token": secret} | {name: told[name] for name in names}
    return msgspec.json.encode(made)


def _pick(tokens: Sequence[Token], which: str, at: datetime) -> Token:
    """Return the one token that is meant: by its id, its name if it is live, or the end of its id.

    Raises:
        NotFoundError: it is none.
        BadRequestError: it could be several.
    """
    by_id = [token for token in tokens if token.token_id == which]
    by_name = [token for token in tokens if which in (token.name, str(token.principal)) and token.is_live(at)]
    is_end = len(which) >= _SHORTEST_END
    by_end = [token for token in tokens if is_end and token.token_id.endswith(which)]
    found = by_id or by_name or by_end
    if not found:
        raise _no_token(which)
    if len(found) > 1:
        ids = join_words(token.token_id for token in found)
        raise BadRequestError(f'"{quote(which, 60)}" could be {ids}: say which by its id.')
    return found[0]


def _no_token(which: str) -> NotFoundError:
    return NotFoundError(f'There is no live token "{quote(which, 60)}" here: assent token list shows them.')


def render_tokens(tokens: Sequence[Token], at: datetime) -> list[str]:
    """Return tokens for people: a line each, its columns under each other."""
    rows = [_COLUMNS, *(_row(token, at) for token in tokens)]
    widths = [max(map(columns, cells)) for cells in zip(*rows, strict=True)]
    return ["  ".join(map(pad, row, widths)).rstrip() for row in rows]


def _row(token: Token, at: datetime) -> tuple[str, ...]:
    state = "revoked" if token.revoked_at is not None else "live" if token.is_live(at) else "expired"
    name = display(token.name, lines=False)
    return (
        token.token_id,
        token.role.value,
        name,
        _projects(token),
        render_instant(token.expires_at),
        state,
    )


def _projects(token: Token) -> str:
    is_everywhere = ALL_PROJECTS in token.projects
    return "all projects" if is_everywhere else display(", ".join(token.projects), lines=False)


def _principal(token: Token) -> str:
    return display(str(token.principal), lines=False)
