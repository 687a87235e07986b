"""Stands in for GitHub's `gh` command: takes only what `gh api` takes, and asks the double what it was told to ask.

The double's address is in FAKE_GH_ADDRESS, and the token is in FAKE_GH_TOKEN, as if somebody had logged in. It is
started a thousand times, so it speaks HTTP by hand: the library takes longer to load than all else that happens here.
"""

import os
import re
import socket
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
    sent = body or b""
    told = {**headers, "Authorization": f"Bearer {os.environ['FAKE_GH_TOKEN']}", "Connection": "close"}
    if body is not None:
        told["Content-Length"] = str(len(sent))
    place = os.environ["FAKE_GH_ADDRESS"].removeprefix("http://")
    lines = [f"{method} {path} HTTP/1.1", f"Host: {place}"]
    lines += [f"{name}: {value}" for name, value in told.items()]
    host, _, port = place.partition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=120) as line:
            line.sendall("\r\n".join([*lines, "", ""]).encode() + sent)
            answer = b"".join(iter(lambda: line.recv(1 << 16), b""))
    except OSError:
        answer = b""
    first = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
    if first is None:
        complain("error connecting to api.github.com")
        return 1
    sys.stdout.buffer.write(answer.replace(b"HTTP/1.1", b"HTTP/2.0", 1))
    sys.stdout.buffer.flush()
    status = int(first[1])
    if status < 300:
        return 0
    message = re.search(rb'"message": ?"([^"]*)"', answer)
    complain(f"gh: {message[1].decode() if message else None} (HTTP {status})")
    return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
