"""Stands in for GitHub's `gh` command: takes only what `gh api` takes, and asks the double what it was told to ask.

The double's address is in FAKE_GH_ADDRESS, and the token is in FAKE_GH_TOKEN, as if somebody had logged in.
"""

import http.client
import json
import os
import sys

__all__: list[str] = []


def complain(text: str) -> None:
    """Say what is wrong, as people see it."""
    sys.stderr.write(f"{text}\n")


def main(arguments: list[str]) -> int:
    """Do as `gh api --method M --include --header … [--input -] PATH` does."""
    if arguments[:1] != ["api"]:
        complain(f"unknown command {arguments[:1]}")
        return 1
    rest, options, headers, is_included = arguments[1:], {}, {}, False
    while rest and rest[0].startswith("-"):
        flag = rest.pop(0)
        if flag == "--include":
            is_included = True
        elif flag == "--header":
            name, _, value = rest.pop(0).partition(": ")
            headers[name] = value
        elif flag in ("--method", "--input"):
            options[flag] = rest.pop(0)
        else:
            complain(f"unknown flag: {flag}")
            return 1
    if len(rest) != 1 or not is_included or options.get("--input", "-") != "-":
        complain(f"accepts 1 arg(s), received {rest}")
        return 1
    if os.environ.get("GH_PROMPT_DISABLED") != "1" or "GH_DEBUG" in os.environ:
        complain("this would prompt, or print more than the answer")
        return 1
    if "FAKE_GH_TOKEN" not in os.environ:
        complain("To get started with GitHub CLI, please run:  gh auth login")
        return 4
    return ask(
        options["--method"], rest[0], headers, sys.stdin.buffer.read() if "--input" in options else None
    )


def ask(method: str, path: str, headers: dict[str, str], body: bytes | None) -> int:
    """Ask the double, and print what it says."""
    headers["Authorization"] = f"Bearer {os.environ['FAKE_GH_TOKEN']}"
    connection = http.client.HTTPConnection(os.environ["FAKE_GH_ADDRESS"].removeprefix("http://"), timeout=20)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read()
    except (OSError, http.client.HTTPException):
        complain("error connecting to api.github.com")
        return 1
    finally:
        connection.close()
    out = sys.stdout.buffer
    out.write(f"HTTP/2.0 {answer.status} {answer.reason}\r\n".encode())
    for name, value in answer.getheaders():
        out.write(f"{name}: {value}\r\n".encode())
    out.write(b"\r\n" + text)
    out.flush()
    if answer.status < 300:
        return 0
    complain(f"gh: {json.loads(text).get('message')} (HTTP {answer.status})")
    return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
