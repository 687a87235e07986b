"""Writes tests/github/schema.json from the published description of GitHub's REST API:
`python -m tools.github_schema PACKAGE.tgz`, where the package is @octokit/openapi.

Kept of an operation are its parameters, the body that it takes, and of its answers the fields that the code reads. Words
for people are left out: what remains is small, and only facts.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tarfile
from pathlib import Path
from typing import Any

__all__ = ["OPERATIONS", "extract", "main"]

TARGET = Path(__file__).parents[1] / "tests" / "github" / "schema.json"
_DESCRIPTION = "package/generated/api.github.com.json"
_REPOSITORY = "/repos/{owner}/{repo}"
_PULL = f"{_REPOSITORY}/pulls/{{pull_number}}"
_ISSUE = f"{_REPOSITORY}/issues"
_REVIEW_FIELDS = ("id", "state", "body", "html_url", "user", "login", "type")
_COMMENT_FIELDS = (
    "id",
    "body",
    "created_at",
    "updated_at",
    "user",
    "login",
    "type",
    "performed_via_github_app",
)

OPERATIONS: dict[tuple[str, str], tuple[str, ...]] = {
    ("GET", _PULL): ("head", "sha"),
    ("GET", f"{_PULL}/files"): ("filename", "patch"),
    ("GET", f"{_PULL}/comments"): ("id", "body", "in_reply_to_id"),
    ("POST", f"{_PULL}/comments/{{comment_id}}/replies"): ("id", "body"),
    ("GET", f"{_PULL}/reviews"): _REVIEW_FIELDS,
    ("POST", f"{_PULL}/reviews"): _REVIEW_FIELDS,
    ("GET", f"{_PULL}/reviews/{{review_id}}"): _REVIEW_FIELDS,
    ("DELETE", f"{_PULL}/reviews/{{review_id}}"): _REVIEW_FIELDS,
    ("POST", f"{_PULL}/reviews/{{review_id}}/events"): _REVIEW_FIELDS,
    ("GET", f"{_ISSUE}/{{issue_number}}/comments"): _COMMENT_FIELDS,
    ("POST", f"{_ISSUE}/{{issue_number}}/comments"): _COMMENT_FIELDS,
    ("GET", f"{_ISSUE}/comments/{{comment_id}}"): _COMMENT_FIELDS,
    ("PATCH", f"{_ISSUE}/comments/{{comment_id}}"): _COMMENT_FIELDS,
    ("POST", f"{_ISSUE}/comments/{{comment_id}}/reactions"): ("id", "content"),
    ("GET", f"{_REPOSITORY}/collaborators/{{username}}/permission"): ("permission", "role_name"),
}
"""The requests that are made, and the fields of their answers that are read, at any depth."""

_WORDS = frozenset(
    {
        "description",
        "example",
        "examples",
        "summary",
        "title",
        "externalDocs",
        "deprecated",
        "x-github",
        "x-multi-segment",
    }
)
_NAMES = frozenset({"properties"})
"""Below these stand names of fields, and a field may well be called `description`."""


class _Reader:
    def __init__(self, whole: dict[str, Any]) -> None:
        self._whole = whole

    def schema(self, node: Any, *, are_names: bool = False) -> Any:
        """Return `node` with every reference resolved, and without words for people."""
        if isinstance(node, list):
            return [self.schema(each) for each in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return self.schema(self._resolve(node["$ref"]))
        kept = {
            key: self.schema(value, are_names=key in _NAMES and not are_names)
            for key, value in node.items()
            if are_names or key not in _WORDS
        }
        # OpenAPI 3.0 says `nullable` where JSON Schema says it with the type.
        if not are_names and kept.pop("nullable", False):
            kept = {"anyOf": [kept, {"type": "null"}]}
        return kept

    def _resolve(self, reference: str) -> Any:
        node: Any = self._whole
        for name in reference.removeprefix("#/").split("/"):
            node = node[name.replace("~1", "/").replace("~0", "~")]
        return node

    def fields(self, node: Any, kept: tuple[str, ...]) -> Any:
        """Return the shape of an answer with those fields only, each closed to any other."""
        if "$ref" in node:
            return self.fields(self._resolve(node["$ref"]), kept)
        for way in ("allOf", "anyOf", "oneOf"):
            if way in node:
                shapes = [self.fields(each, kept) for each in node[way]]
                return {"anyOf": shapes}
        if "items" in node:
            return {"type": "array", "items": self.fields(node["items"], kept)}
        if "properties" in node:
            named = {
                name: self.fields(each, kept) for name, each in node["properties"].items() if name in kept
            }
            shape: Any = {"type": "object", "properties": named, "additionalProperties": False}
            return {"anyOf": [shape, {"type": "null"}]} if node.get("nullable") else shape
        return self.schema(node)


def _close(node: Any) -> Any:
    """Return the shape of a body that takes no field but those it names: GitHub would not say that it ignores one."""
    if isinstance(node, list):
        return [_close(each) for each in node]
    if not isinstance(node, dict):
        return node
    closed = {key: _close(value) for key, value in node.items()}
    if isinstance(node.get("properties"), dict) and node.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed


def extract(whole: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the operations that are used, of the description of all."""
    reader = _Reader(whole)
    found = []
    for (method, path), kept in OPERATIONS.items():
        operation = whole["paths"][path][method.lower()]
        parameters = [reader.schema(each) for each in operation.get("parameters", [])]
        body = operation.get("requestBody")
        answers = {
            status: reader.fields(content["application/json"]["schema"], kept)
            for status, answer in operation["responses"].items()
            if status.startswith("2") and (content := answer.get("content"))
        }
        found.append(
            {
                "method": method,
                "path": path,
                "parameters": [
                    {name: each[name] for name in ("name", "in", "required", "schema") if name in each}
                    for each in parameters
                ],
                "body": None
                if body is None
                else _close(reader.schema(body["content"]["application/json"]["schema"])),
                "is_body_required": bool(body and body.get("required")),
                "answers": answers,
                "empty": [
                    status
                    for status, answer in operation["responses"].items()
                    if status.startswith("2") and not answer.get("content")
                ],
            }
        )
    return found


def main(arguments: list[str]) -> int:
    """Write the file from a package."""
    (place,) = arguments
    packed = Path(place).read_bytes()
    with tarfile.open(place) as package:
        description, about = (package.extractfile(name) for name in (_DESCRIPTION, "package/package.json"))
        if description is None or about is None:
            print("This is not the package.", file=sys.stderr)
            return 1
        whole, package_json = json.load(description), json.load(about)
    written = {
        "source": {
            "package": package_json["name"],
            "version": package_json["version"],
            "sha256": hashlib.sha256(packed).hexdigest(),
        },
        "operations": extract(whole),
    }
    TARGET.write_text(json.dumps(written, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{TARGET.name}: {len(written['operations'])} operations, {TARGET.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
