"""The OpenAPI document: valid by the standard's own schema, and about this server, all of it and nothing else."""

import re
from typing import Any

import jsonschema
import msgspec
import pytest
import schemathesis
from starlette.routing import Route, WebSocketRoute

from assent.client.embedded import EmbeddedDoor
from assent.client.verbs import VERBS
from assent.protocol.wire import MAX_PAGE
from assent.protocol.wire_error import STATUSES
from assent.surfaces.http.app import ENDPOINTS, build_app
from assent.surfaces.http.openapi import ERRORS, OPEN, ROUTES, render_openapi
from assent.surfaces.http.shell import shell_routes
from assent.surfaces.http.site import Site
from assent.testing import throwaway
from tests.surfaces.http.world import a_world

__all__: list[str] = []

DOCUMENT: dict[str, Any] = msgspec.json.decode(render_openapi("1.2.3"))
PARAMETER = re.compile(r"\{(\w+)(?::path)?\}")


def operations(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the operations of a document by path and method."""
    return {
        (path, method.upper()): told
        for path, methods in document["paths"].items()
        for method, told in methods.items()
    }


def every(value: object, name: str) -> list[object]:
    """Return all that stands under a name, however deep."""
    if isinstance(value, dict):
        found = [value[name]] if name in value else []
        return found + [inner for part in value.values() for inner in every(part, name)]
    return [inner for part in value for inner in every(part, name)] if isinstance(value, list) else []


def check(document: dict[str, Any]) -> None:
    """Compare a document with the OpenAPI 3.1 schema, and its schemas with that of JSON Schema."""
    schemathesis.openapi.from_dict(document).validate()
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    refs = {str(ref) for ref in every(document, "$ref")}
    places = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert refs <= places
    names = every(document["paths"], "operationId")
    assert len(names) == len(set(map(str, names)))


def test_document_is_valid() -> None:
    """By the schemas of the standards; every reference leads somewhere, and no operation's name stands twice."""
    check(DOCUMENT)
    assert DOCUMENT["info"]["version"] == "1.2.3"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("no responses", ValueError),
        ("a loose end", AssertionError),
        ("no schema", jsonschema.SchemaError),
    ],
    ids=["no responses", "a loose end", "no schema"],
)
def test_document_that_is_not_valid_is_found_out(fault: str, error: type[Exception]) -> None:
    """Twin of the test above."""
    broken = msgspec.json.decode(render_openapi("1.2.3"))
    if fault == "no responses":
        broken["paths"]["/healthz"]["get"]["responses"] = []
    elif fault == "a loose end":
        del broken["components"]["schemas"]["Ask"]
    else:
        broken["components"]["schemas"]["Ask"]["type"] = "ask"
    with pytest.raises(error):
        check(broken)


def test_document_has_every_route_and_nothing_else() -> None:
    """Both sets are derived: from the application, and from the document. The files of the page are for browsers."""
    with throwaway() as store:
        app = build_app(Site(EmbeddedDoor(store.hub())))
    files = {route.path for route in shell_routes() if isinstance(route, Route)}
    routes = {
        (PARAMETER.sub(r"{\1}", route.path), method)
        for route in app.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
        if not (route.path in files and method == "GET")
    }
    sockets = {(route.path, "GET") for route in app.routes if isinstance(route, WebSocketRoute)}
    assert len(app.routes) == len(routes) + len(sockets) + len(files)
    assert set(operations(DOCUMENT)) == routes
    assert sockets <= routes  # what is a socket is a stream, too, and told of as such
    assert set(ENDPOINTS) == set(VERBS)


def test_every_operation_declares_every_error_and_its_own_success() -> None:
    """A client can be generated from it that is never surprised."""
    statuses = {str(status) for status in ERRORS}
    assert set(STATUSES.values()) <= set(ERRORS)
    for verb in ROUTES.values():
        told = operations(DOCUMENT)[PARAMETER.sub(r"{\1}", verb.path), verb.method]
        assert set(told["responses"]) == statuses | {str(verb.status)}
        assert told["operationId"] == verb.name
        assert [part["name"] for part in told["parameters"] if part["in"] == "path"] == PARAMETER.findall(
            verb.path
        )
        assert (told.get("security") == []) is (verb.name in OPEN)


def test_document_tells_readers_nothing_about_our_files() -> None:
    """Types that share a name are told apart without the names of modules; there is no Python in it."""
    text = render_openapi("1.2.3").decode()
    assert "assent.protocol" not in text
    assert ">>>" not in text
    assert {"PolicyLevel", "RunLevel"} <= set(DOCUMENT["components"]["schemas"])


def test_document_marks_moments_and_limits() -> None:
    """What is a moment is said to be one, and what the endpoints check of a query is in the document."""
    ask = DOCUMENT["components"]["schemas"]["Ask"]["properties"]
    assert ask["opened_at"] == {"type": "string", "format": "date-time"}
    assert ask["deadline"]["anyOf"][0] == {"type": "string", "format": "date-time"}
    told = operations(DOCUMENT)["/projects/{project}/log", "GET"]["parameters"]
    limit = next(part["schema"] for part in told if part["name"] == "limit")
    assert (limit["minimum"], limit["maximum"]) == (1, MAX_PAGE)


def test_document_is_served_to_anyone() -> None:
    """Without a token, as it is."""
    with a_world() as world:
        reply = world.line.get("/openapi.json")
        assert (reply.status_code, reply.headers["content-type"]) == (200, "application/json")
        assert set(reply.json()["paths"]) == set(DOCUMENT["paths"])


def test_method_that_a_path_does_not_have_is_refused_with_those_that_it_has() -> None:
    """405, in our shape, and `Allow` says what could be done."""
    with a_world() as world:
        reply = world.line.put(
            "/projects/p/tasks", headers={"content-type": "application/json"}, content=b"{}"
        )
        assert reply.status_code == 405
        assert reply.json()["error"]["message"] == "That cannot be done here."
        assert reply.headers["allow"] == "GET, HEAD, POST"
