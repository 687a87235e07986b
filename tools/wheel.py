"""Fetches a locked wheel from a simple index with the standard library alone, for a Python without pip.

Rule 1: only the standard library.
Rule 2: a wheel is believed by its hash in the lock, whoever handed it over.
Rule 3: a name and a password go to the host that they were written for, and to no other.
"""

from __future__ import annotations

import base64
import hashlib
import netrc
import os
import platform
import re
import ssl
import sys
import sysconfig
import urllib.request
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.error import URLError
from urllib.parse import unquote, urldefrag, urljoin, urlsplit, urlunsplit

from tools.package_index import IndexSettings

__all__ = ["WheelError", "fetch_wheel"]

FETCH_SECONDS = 300
_PIN = re.compile(r"^(?P<name>[a-z0-9-]+)==(?P<version>[^ ;\\]+)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


class WheelError(Exception):
    """Why a wheel could not be had, in one sentence."""


def fetch_wheel(lock: Path, settings: IndexSettings, environ: Mapping[str, str]) -> bytes:
    """Return the wheel of the one package that a lock names, for this machine.

    Raises:
        WheelError: no place has it, or what they have is not what is locked.
    """
    text = lock.read_text()
    pin = _PIN.search(text)
    assert pin is not None, f"{lock.name} names no package."
    hashes = set(_HASH.findall(text))
    reasons = []
    for place in (
        *settings.find_links,
        *(f"{index.rstrip('/')}/{pin['name']}/" for index in settings.places),
    ):
        try:
            for link in links_at(place, environ):
                if fits(file_of(link), pin["name"], pin["version"]):
                    content = read(link, environ)
                    if hashlib.sha256(content).hexdigest() in hashes:
                        return content
                    reasons.append(f"{file_of(link)} at {shown(place)} is not the file that is locked")
        except (OSError, URLError, ValueError) as error:
            reasons.append(f"{shown(place)} cannot be read ({getattr(error, 'reason', None) or error})")
    told = "; ".join(reasons) or "no place that is named has it for this machine"
    raise WheelError(f"{pin['name']} {pin['version']} cannot be had: {told}.")


def links_at(place: str, environ: Mapping[str, str]) -> list[str]:
    """List the addresses of the files that a folder holds or a page links to."""
    folder = folder_of(place)
    if folder is None:
        return list(anchors(read(place, environ, "text/html").decode(errors="replace"), place))
    index = folder / "index.html"
    if index.is_file():
        return list(anchors(index.read_text(errors="replace"), index.as_uri()))
    return sorted(path.as_uri() for path in folder.resolve().iterdir())


def folder_of(place: str) -> Path | None:
    """Return the folder that a place names; None for an address elsewhere, or a page."""
    parts = urlsplit(place)
    if parts.scheme == "file":
        found = Path(unquote(parts.path))
    elif parts.scheme:
        return None
    else:
        found = Path(place).expanduser()
    return found if found.suffix != ".html" else None


def anchors(page: str, address: str) -> Iterator[str]:
    """Give the addresses that a page links to, without fragments; on its own host with its name and password."""
    netloc = urlsplit(address).netloc
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            target = dict(attributes).get("href")
            if tag == "a" and target:
                found.append(target)

    reader = Reader()
    reader.feed(page)
    reader.close()
    for target in found:
        link = urlsplit(urldefrag(urljoin(address, target)).url)
        is_own = link.netloc == netloc.rpartition("@")[2]
        yield urlunsplit(link._replace(netloc=netloc)) if is_own else urlunsplit(link)


def file_of(address: str) -> str:
    return unquote(urlsplit(address).path).rpartition("/")[2]


def fits(file: str, name: str, version: str) -> bool:
    """Tell whether a file is the wheel of this version for this machine."""
    parts = file.removesuffix(".whl").split("-")
    if not file.endswith(".whl") or len(parts) != 5 or parts[:2] != [name.replace("-", "_"), version]:
        return False
    return any(fits_machine(tag) for tag in parts[4].split("."))


def fits_machine(tag: str) -> bool:
    """Tell whether a platform tag, as `manylinux_2_17_x86_64`, is one that runs here."""
    if tag == "any":
        return True
    machine = platform.machine().lower()
    if sys.platform == "darwin":
        found = re.fullmatch(r"macosx_(\d+)_(\d+)_(\w+)", tag)
        here = tuple(map(int, platform.mac_ver()[0].split(".")[:2]))
        return bool(found and found[3] in (machine, "universal2") and (int(found[1]), int(found[2])) <= here)
    machine = sysconfig.get_platform().partition("-")[2] or machine  # a small Python may run on a wide kernel
    libc, _, version = libc_version().partition(" ")
    found = re.fullmatch(r"(many|musl)linux_(\d+)_(\d+)_(\w+)", tag)
    if not found or found[4] != machine:
        return False
    if libc != "glibc":
        return found[1] == "musl"
    ours = tuple(int(part) for part in version.split(".")[:2])
    return found[1] == "many" and (int(found[2]), int(found[3])) <= ours


def libc_version() -> str:
    """Name the C library of this machine, as `glibc 2.36`; nothing for another."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, ValueError, OSError):
        return ""


def read(address: str, environ: Mapping[str, str], accept: str = "*/*") -> bytes:
    """Read what an address holds; only a file of this machine or something on the web."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https", "file"):
        raise ValueError(f"{parts.scheme or 'nothing'} is no way to fetch a file")
    host = parts.netloc.rpartition("@")[2]
    request = urllib.request.Request(
        urlunsplit(parts._replace(netloc=host)), headers={"Accept": accept, "User-Agent": "assent-setup"}
    )
    allowed = credentials(parts.username, parts.password, parts.hostname or "")
    if allowed:
        request.add_unredirected_header("Authorization", allowed)
    context = ssl.create_default_context(
        cafile=environ.get("SSL_CERT_FILE") or None, capath=environ.get("SSL_CERT_DIR") or None
    )
    with urllib.request.urlopen(request, timeout=FETCH_SECONDS, context=context) as reply:
        content: bytes = reply.read()
    return content


def credentials(user: str | None, password: str | None, host: str) -> str:
    """Return the header for a name and a password, from the address or from the person's netrc."""
    if user is None:
        try:
            found = netrc.netrc().authenticators(host)
        except (OSError, netrc.NetrcParseError):
            found = None
        if not found:
            return ""
        user, password = found[0], found[2]
    words = f"{unquote(user)}:{unquote(password or '')}"
    return "Basic " + base64.b64encode(words.encode()).decode()


def shown(place: str) -> str:
    """Return an address without name and password."""
    parts = urlsplit(place)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
