"""A small GitHub on this machine, which takes no request that the real one's published schema does not have.

It keeps one pull request with its files, reviews and comments, and obeys the rules that matter here: a person has at most
one draft of a review, replies are refused while there is one, comments stand on lines of the diff, nobody judges their
own pull request, texts have a limit. What it answers is checked against the schema, too.

A request that does not fit is answered with 400 and written down; the fixture fails the test for it at its end.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jsonschema

from tests.patience import PATIENCE

__all__ = ["HEAD", "TOKEN", "Double", "Fault", "serve"]

TOKEN = "ghp_double"
HEAD = "c0ffee" + "0" * 34
_LIMIT = 65_536
_SCHEMA = json.loads((Path(__file__).parent / "schema.json").read_text())

Answer = tuple[int, Any]


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    """An answer that says no."""

    def __init__(self, status: int, message: str, *errors: object) -> None:
        self.answer = {"message": message, **({"errors": list(errors)} if errors else {})}
        self.status = status
        super().__init__(message)


@dataclass
class Fault:
    """What goes wrong with the next requests that it fits."""

    method: str
    path: str
    """A pattern for the end of the path."""
    status: int | None
    """None: the connection is dropped without an answer."""
    message: str = "Server Error"
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1
    is_done: bool = False
    """It is done all the same, and only the answer is lost."""


class Operation:
    """One entry of the schema."""

    def __init__(self, entry: dict[str, Any]) -> None:
        self.entry = entry
        self.method: str = entry["method"]
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", entry["path"])
        self.fits = re.compile(pattern).fullmatch

    def check(self, values: dict[str, str], query: list[tuple[str, str]], body: Any) -> None:
        """Raise where a request does not fit."""
        by_name = {each["name"]: each for each in self.entry["parameters"]}
        given = [(name, value, "path") for name, value in values.items()]
        given += [(name, value, "query") for name, value in query]
        for name, value, where in given:
            if name not in by_name or by_name[name]["in"] != where:
                raise ValueError(f"no {where} parameter {name}")
            schema = by_name[name].get("schema", {})
            typed: object = int(value) if schema.get("type") == "integer" and value.isdecimal() else value
            _validate(typed, schema)
        if len({name for name, _, _ in given}) != len(given):
            raise ValueError("a parameter twice")
        missing = [
            name
            for name, each in by_name.items()
            if each.get("required") and name not in {g[0] for g in given}
        ]
        if missing:
            raise ValueError(f"no {missing}")
        if body is None:
            if self.entry["is_body_required"]:
                raise ValueError("no body")
        elif self.entry["body"] is None:
            raise ValueError("takes no body")
        else:
            _validate(body, self.entry["body"])

    def check_answer(self, status: int, answer: Any) -> None:
        """Raise where the double itself answers what GitHub would not."""
        if answer is None and str(status) in self.entry["empty"]:
            return
        _validate(answer, self.entry["answers"][str(status)])


_OPERATIONS = [Operation(entry) for entry in _SCHEMA["operations"]]


def _validate(value: object, schema: dict[str, Any]) -> None:
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    jsonschema.Draft202012Validator(schema, format_checker=checker).validate(value)


class Double:
    """The small GitHub."""

    def __init__(self) -> None:
        self.me = "robo-ana"
        """Whose token it is."""
        self.author = "carl"
        """Who opened the pull request."""
        self.head = HEAD
        self.pull: dict[str, Any] = {}
        """What else it says of the pull request."""
        self.files: list[dict[str, Any]] = []
        self.lines: set[tuple[str, str, int]] = set()
        """File, side and line of all that can take a comment."""
        self.reviews: list[dict[str, Any]] = []
        self.threads: list[dict[str, Any]] = []
        """Comments on lines, and their replies."""
        self.comments: list[dict[str, Any]] = []
        self.permissions: dict[str, str] = {}
        self.numbers: dict[str, int] = {}
        """Whose number a login is now."""
        self.reactions: list[tuple[int, str]] = []
        self.faults: list[Fault] = []
        self.log: list[tuple[str, str, Any]] = []
        self.complaints: list[str] = []
        self.address = ""
        self._last_id = 1_000
        self._seconds = 0
        self._lock = threading.Lock()

    # What tests look at and change

    @property
    def drafts(self) -> list[dict[str, Any]]:
        """Reviews that nobody submitted."""
        return [review for review in self.reviews if review["state"] == "PENDING"]

    @property
    def submitted(self) -> list[dict[str, Any]]:
        """Reviews that people see."""
        return [review for review in self.reviews if review["state"] != "PENDING"]

    def writes(self) -> list[str]:
        """Return the requests that changed something."""
        return [f"{method} {path}" for method, path, _ in self.log if method != "GET"]

    def new_id(self) -> int:
        """Return a number that no other thing has."""
        self._last_id += 1
        return self._last_id

    def now(self) -> str:
        """Return a moment after the last one."""
        self._seconds += 1
        return f"2030-01-01T{self._seconds // 3600:02}:{self._seconds // 60 % 60:02}:{self._seconds % 60:02}Z"

    def number_of(self, login: str) -> int:
        """Return the number of whoever has a login now."""
        return self.numbers.setdefault(login, 9_000 + len(self.numbers))

    def register_again(self, login: str) -> None:
        """Have somebody else take a login."""
        self.numbers[login] = 90_000 + len(self.numbers)

    def say(
        self, login: str, body: str, *, kind: str = "User", app: object = None, is_edited: bool = False
    ) -> int:
        """Have somebody write a comment; return its id."""
        moment = self.now()
        identity = self.new_id()
        comment = {
            "id": identity,
            "body": body,
            "created_at": moment,
            "updated_at": self.now() if is_edited else moment,
            "user": {"login": login, "id": self.number_of(login), "type": kind},
            "performed_via_github_app": app,
        }
        self.comments.append(comment)
        return identity

    # What is asked of it

    def answer(
        self, method: str, target: str, headers: dict[str, str], text: bytes
    ) -> tuple[int, Any, dict[str, str]]:
        """Return status, body and headers; raise ConnectionAbortedError where the answer is lost."""
        split = urlsplit(target)
        with self._lock:
            body = json.loads(text) if text else None
            self.log.append((method, split.path, body))
            try:
                operation, values = self._check(method, split.path, split.query, headers, body)
            except (ValueError, jsonschema.ValidationError) as error:
                complaint = f"{method} {target}: {str(error).splitlines()[0]}"
                self.complaints.append(complaint)
                return 400, {"message": complaint}, {}
            fault = self._fault(method, split.path)
            if fault is not None and not fault.is_done:
                return self._fail(fault)
            try:
                status, answer = self._do(operation, values, dict(parse_qsl(split.query)), body)
                operation.check_answer(status, answer)
            except Refused as refused:
                return refused.status, refused.answer, {}
            return (status, answer, {}) if fault is None else self._fail(fault)

    def _check(
        self, method: str, path: str, query: str, headers: dict[str, str], body: Any
    ) -> tuple[Operation, dict[str, str]]:
        expected = {
            "authorization": f"Bearer {TOKEN}",
            "accept": "application/vnd.github+json",
            "x-github-api-version": "2022-11-28",
        }
        for name, value in expected.items():
            if headers.get(name) != value:
                raise ValueError(f"header {name} is {headers.get(name)}")
        for operation in _OPERATIONS:
            found = operation.fits(path)
            if found and operation.method == method:
                pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
                operation.check(found.groupdict(), pairs, body)
                return operation, found.groupdict()
        raise ValueError("no such operation")

    def _fault(self, method: str, path: str) -> Fault | None:
        for fault in self.faults:
            if fault.times and fault.method == method and re.search(f"{fault.path}$", path):
                fault.times -= 1
                return fault
        return None

    def _fail(self, fault: Fault) -> tuple[int, Any, dict[str, str]]:
        if fault.status is None:
            raise ConnectionAbortedError
        return fault.status, {"message": fault.message}, fault.headers

    def _do(self, operation: Operation, values: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        numbers = [int(values.get(name, 7)) for name in ("pull_number", "issue_number")]
        if (values["owner"], values["repo"]) != ("acme", "shop") or numbers != [7, 7]:
            raise Refused(404, "Not Found")
        name = f"{operation.method} {operation.entry['path'].removeprefix('/repos/{owner}/{repo}')}"
        doing: dict[str, Callable[[dict[str, str], dict[str, str], Any], Answer]] = {
            "GET /pulls/{pull_number}": lambda *_: (200, {"head": {"sha": self.head}, **self.pull}),
            "GET /pulls/{pull_number}/files": lambda _, query, __: (200, _page(self.files, query)),
            "GET /pulls/{pull_number}/comments": lambda _, query, __: (200, _page(self.threads, query)),
            "POST /pulls/{pull_number}/comments/{comment_id}/replies": self._reply,
            "GET /pulls/{pull_number}/reviews": self._list_reviews,
            "POST /pulls/{pull_number}/reviews": self._create,
            "GET /pulls/{pull_number}/reviews/{review_id}": lambda values, *_: (
                200,
                _show(self._find(values)),
            ),
            "DELETE /pulls/{pull_number}/reviews/{review_id}": self._delete,
            "POST /pulls/{pull_number}/reviews/{review_id}/events": self._submit,
            "GET /issues/{issue_number}/comments": self._list_comments,
            "POST /issues/{issue_number}/comments": self._comment,
            "GET /issues/comments/{comment_id}": lambda values, *_: (200, self._find_comment(values)),
            "PATCH /issues/comments/{comment_id}": self._edit,
            "POST /issues/comments/{comment_id}/reactions": self._react,
            "GET /collaborators/{username}/permission": self._permission,
        }
        return doing[name](values, query, body)

    # Reviews

    def _own_draft(self) -> dict[str, Any] | None:
        return next((draft for draft in self.drafts if draft["user"]["login"] == self.me), None)

    def _list_reviews(self, _: dict[str, str], query: dict[str, str], __: Any) -> Answer:
        # GitHub shows a draft to nobody but its author.
        seen = [
            review for review in self.reviews if review["state"] != "PENDING" or review is self._own_draft()
        ]
        return 200, _page([_show(review) for review in seen], query)

    def _find(self, values: dict[str, str]) -> dict[str, Any]:
        for review in self.reviews:
            if review["id"] == int(values["review_id"]):
                return review
        raise Refused(404, "Not Found")

    def _create(self, _: dict[str, str], __: dict[str, str], body: Any) -> Answer:
        if self._own_draft():
            raise Refused(
                422, "Unprocessable Entity", "User can only have one pending review per pull request"
            )
        if "event" in body:
            raise Refused(422, "Unprocessable Entity", "this double wants a draft first")
        comments = body.get("comments", [])
        for comment in comments:
            if (comment["path"], comment.get("side", "RIGHT"), comment.get("line")) not in self.lines:
                raise Refused(422, "Unprocessable Entity", "Line could not be resolved")
            _check_length(comment["body"])
        _check_length(body.get("body", ""))
        identity = self.new_id()
        review = {
            "id": identity,
            "state": "PENDING",
            "body": body.get("body", ""),
            "html_url": f"https://github.com/acme/shop/pull/7#pullrequestreview-{identity}",
            "user": {"login": self.me, "type": "User"},
            "comments": comments,
            "commit_id": body["commit_id"],
        }
        self.reviews.append(review)
        return 200, _show(review)

    def _delete(self, values: dict[str, str], _: dict[str, str], __: Any) -> Answer:
        review = self._find(values)
        if review["state"] != "PENDING":
            raise Refused(422, "Validation Failed", "Can not delete a non-pending pull request review")
        self.reviews.remove(review)
        return 200, _show(review)

    def _submit(self, values: dict[str, str], _: dict[str, str], body: Any) -> Answer:
        review, event = self._find(values), body["event"]
        if review["state"] != "PENDING":
            raise Refused(422, "Unprocessable Entity", "Can not submit a submitted review")
        if self.author == self.me and event != "COMMENT":
            verb = {"APPROVE": "approve", "REQUEST_CHANGES": "request changes on"}[event]
            raise Refused(422, "Unprocessable Entity", f"Review Can not {verb} your own pull request")
        if event != "APPROVE" and not body.get("body"):
            raise Refused(422, "Unprocessable Entity", "Body can't be blank")
        _check_length(body.get("body", ""))
        states = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}
        review.update(state=states[event], body=body.get("body", ""))
        return 200, _show(review)

    def _reply(self, values: dict[str, str], _: dict[str, str], body: Any) -> Answer:
        if self._own_draft():
            raise Refused(
                422,
                "Validation Failed",
                {"message": "user_id can only have one pending review per pull request"},
            )
        thread = int(values["comment_id"])
        if not any(comment["id"] == thread and "in_reply_to_id" not in comment for comment in self.threads):
            raise Refused(404, "Not Found")
        _check_length(body["body"])
        reply = {"id": self.new_id(), "body": body["body"], "in_reply_to_id": thread}
        self.threads.append(reply)
        return 201, {"id": reply["id"], "body": reply["body"]}

    # Comments

    def _list_comments(self, _: dict[str, str], query: dict[str, str], __: Any) -> Answer:
        since = query.get("since", "")
        return 200, _page([each for each in self.comments if each["updated_at"] >= since], query)

    def _find_comment(self, values: dict[str, str]) -> dict[str, Any]:
        for comment in self.comments:
            if comment["id"] == int(values["comment_id"]):
                return comment
        raise Refused(404, "Not Found")

    def _comment(self, _: dict[str, str], __: dict[str, str], body: Any) -> Answer:
        _check_length(body["body"])
        self.say(self.me, body["body"])
        return 201, self.comments[-1]

    def _edit(self, values: dict[str, str], _: dict[str, str], body: Any) -> Answer:
        _check_length(body["body"])
        comment = self._find_comment(values)
        comment.update(body=body["body"], updated_at=self.now())
        return 200, comment

    def _react(self, values: dict[str, str], _: dict[str, str], body: Any) -> Answer:
        comment = self._find_comment(values)
        self.reactions.append((comment["id"], body["content"]))
        return 201, {"id": self.new_id(), "content": body["content"]}

    def _permission(self, values: dict[str, str], _: dict[str, str], __: Any) -> Answer:
        role = self.permissions.get(values["username"])
        if role is None:
            raise Refused(404, "Not Found")
        # The older word knows no maintainers and no triage.
        known = {"maintain": "write", "triage": "read"}.get(role, role)
        user = {"login": values["username"], "id": self.number_of(values["username"])}
        return 200, {"permission": known, "role_name": role, "user": user}


def _check_length(text: str) -> None:
    if len(text) > _LIMIT:
        raise Refused(422, "Validation Failed", {"message": "body is too long (maximum is 65536 characters)"})


def _show(review: dict[str, Any]) -> dict[str, Any]:
    return {name: review[name] for name in ("id", "state", "body", "html_url", "user")}


def _page(entries: list[Any], query: dict[str, str]) -> list[Any]:
    size, number = min(int(query.get("per_page", 30)), 100), int(query.get("page", 1))
    return entries[(number - 1) * size : number * size]


@contextmanager
def serve() -> Iterator[Double]:
    """Run a double until the block ends; fail where it was sent what it does not take."""
    double = Double()

    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30

        def _answer(self) -> None:
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            try:
                status, answer, more = double.answer(self.command, self.path, headers, text)
            except ConnectionAbortedError:
                self.close_connection = True
                return
            shown = b"" if answer is None else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {
                **more,
                "Content-Type": "application/json",
                "Content-Length": str(len(shown)),
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(shown)

        do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _answer  # noqa: N815 - the server's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the server's name
            """Keep the tests' output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    server.daemon_threads = True
    double.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield double
    finally:
        server.shutdown()
        thread.join(PATIENCE)
        server.server_close()
    assert double.complaints == []
