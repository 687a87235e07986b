"""Approvals that bind, and credentials, over HTTP."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from assent.client.approving import ApprovalParts, find_receipt, redeem, request_approval
from assent.client.awaiting import await_call
from assent.client.http.translate import token_reply
from assent.client.tokens import create_token, list_tokens, register_token, revoke_token
from assent.protocol.error import BadRequestError
from assent.protocol.receipt import Receipt
from assent.protocol.token import ALL_PROJECTS, Token, check_digest, check_scope
from assent.protocol.wire_ask import ApprovalBody, ApprovalReply
from assent.protocol.wire_record import TokenBody, TokenReply, Tokens
from assent.surfaces.http.asks import check_end_of_run, deadline_of
from assent.surfaces.http.flows import check_key
from assent.surfaces.http.incoming import Endpoint, Incoming

__all__ = ["ENDPOINTS"]


async def _request_approval(request: Incoming) -> ApprovalReply:
    body: ApprovalBody = request.body
    parts: ApprovalParts = {
        "action": body.action,
        "category": body.category,
        "risk": body.risk,
        "body": body.body,
        "key": body.key,
        "task_id": body.task_id,
        "run_id": body.run_id,
        "deadline": deadline_of(body.deadline),
        "consequence": body.consequence,
        "escalate_to": body.escalate_to,
        "again": body.again,
    }
    await check_end_of_run(request, body.consequence, body.run_id)
    await check_key(request, body.key)
    if body.life_seconds is not None:
        parts["life"] = _life(body.life_seconds)
    told = await await_call(
        request_approval(request.calls, body.title, command_id=request.command_id, **parts)
    )
    return ApprovalReply(told) if isinstance(told, Receipt) else ApprovalReply(ask=told)


def _life(seconds: int) -> timedelta:
    try:
        return timedelta(seconds=seconds)
    except OverflowError:
        raise BadRequestError("life_seconds is too long.") from None


async def _show_receipt(request: Incoming) -> Receipt:
    return await await_call(find_receipt(request.calls, request.path["receipt"]))


async def _redeem(request: Incoming) -> Receipt:
    call = redeem(request.calls, request.path["receipt"], request.body.action, command_id=request.command_id)
    return await await_call(call)


async def _list_tokens(request: Incoming) -> Tokens:
    found = await await_call(list_tokens(request.calls))
    return Tokens(tuple(token_reply(_as_seen_by(request.caller.token, token)) for token in found))


def _as_seen_by(caller: Token, token: Token) -> Token:
    """Return a token without the names of projects that are not the caller's."""
    return replace(token, projects=tuple(p for p in token.projects if p == ALL_PROJECTS or caller.reaches(p)))


async def _create_token(request: Incoming) -> TokenReply:
    body: TokenBody = request.body
    check_scope(request.caller.token, body.projects or (request.path["project"],))
    life = None if body.life_seconds is None else _life(body.life_seconds)
    calls, command_id = request.calls, request.command_id
    if body.digest is not None:
        call = register_token(
            calls,
            check_digest(body.digest),
            body.role,
            name=body.name,
            projects=body.projects,
            life=life,
            is_unattended=body.unattended,
            command_id=command_id,
        )
        return token_reply(await await_call(call))
    token, secret = await await_call(
        create_token(
            calls,
            body.role,
            name=body.name,
            projects=body.projects,
            life=life,
            is_unattended=body.unattended,
            command_id=command_id,
        )
    )
    return token_reply(token, secret)


async def _revoke_token(request: Incoming) -> TokenReply:
    call = revoke_token(request.calls, request.path["token"], command_id=request.command_id)
    return token_reply(_as_seen_by(request.caller.token, await await_call(call)))


ENDPOINTS: dict[str, Endpoint] = {
    "request_approval": _request_approval,
    "show_receipt": _show_receipt,
    "redeem_receipt": _redeem,
    "list_tokens": _list_tokens,
    "create_token": _create_token,
    "revoke_token": _revoke_token,
}
