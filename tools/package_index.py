"""Where packages come from: the settings that a person made for pip and uv, read without either of them.

Rule 1: only the standard library, for this runs before anything is installed.
Rule 2: nothing here names an index. Where nobody named one, pip and uv know their own default.
Rule 3: a file that cannot be read or parsed is passed over; the program that it was written for will say so.
"""

from __future__ import annotations

import configparser
import os
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.trust import trust

__all__ = ["IndexSettings", "read_settings", "uv_environ"]

SYSTEM = Path("/etc")


@dataclass(frozen=True)
class IndexSettings:
    """What one program was told about indexes; empty where it was told nothing."""

    index: str = ""
    """The index in place of the default one."""
    extra: tuple[str, ...] = ()
    """Indexes beside it."""
    find_links: tuple[str, ...] = ()
    """Folders and pages with links to packages."""
    no_index: bool = False
    """Nothing but `find_links` is asked."""
    cert: str = ""
    """The file with the certificate authorities."""
    proxy: str = ""
    """The proxy that is asked for everything."""
    trusted: tuple[str, ...] = ()
    """Hosts whose certificates are not checked."""

    @property
    def places(self) -> tuple[str, ...]:
        """The indexes that may be asked, in order."""
        return () if self.no_index else tuple(place for place in (self.index, *self.extra) if place)


def read_settings(environ: Mapping[str, str]) -> tuple[IndexSettings, IndexSettings]:
    """Return what uv was told and what pip was told."""
    return read_uv(environ), read_pip(environ)


def uv_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables to add so that uv asks the index that pip would ask, and trusts whom pip trusts."""
    uv, pip = read_settings(environ)
    added = trust(environ, pip.cert)
    if pip.proxy and not any(name.lower() in ("https_proxy", "all_proxy") for name in environ):
        added |= {"HTTPS_PROXY": pip.proxy, "HTTP_PROXY": pip.proxy}
    if pip.trusted and not environ.get("UV_INSECURE_HOST"):
        added["UV_INSECURE_HOST"] = " ".join(pip.trusted)
    if uv != IndexSettings():
        return added
    # pip passes over a folder that is not there; uv refuses it.
    links = [link for link in pip.find_links if "://" in link or Path(link).is_dir()]
    if links:
        added["UV_FIND_LINKS"] = ",".join(links)
    if pip.no_index:
        added["UV_NO_INDEX"] = "1"
    elif pip.index:
        added["UV_DEFAULT_INDEX"] = pip.index
        # The default index has all that the locks name; the others matter where it was replaced. As with pip the
        # best match of all counts, and the locks say by hash what is taken.
        if pip.extra:
            added |= {"UV_INDEX": " ".join(pip.extra), "UV_INDEX_STRATEGY": "unsafe-best-match"}
    return added


def read_pip(environ: Mapping[str, str]) -> IndexSettings:
    """Read pip's configuration files in pip's order, then its variables; what comes later wins."""
    told: dict[str, str] = {}
    for path in pip_files(environ):
        # pip reads [global], and then the section of its command.
        parser = configparser.RawConfigParser()
        try:
            parser.read(path)
        except (OSError, UnicodeError, configparser.Error):
            continue
        for section in ("global", "install"):
            if parser.has_section(section):
                told |= {name.replace("_", "-"): value for name, value in parser.items(section)}
    for name in ("index-url", "extra-index-url", "find-links", "no-index", "cert", "proxy", "trusted-host"):
        value = environ.get("PIP_" + name.upper().replace("-", "_"))
        if value:
            told[name] = value
    return IndexSettings(
        index=told.get("index-url", ""),
        extra=tuple(told.get("extra-index-url", "").split()),
        find_links=tuple(told.get("find-links", "").split()),
        no_index=is_yes(told.get("no-index", "")),
        cert=told.get("cert", ""),
        proxy=told.get("proxy", ""),
        trusted=tuple(told.get("trusted-host", "").split()),
    )


def pip_files(environ: Mapping[str, str]) -> list[Path]:
    """List the configuration files of pip, the weakest first."""
    named = environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return []
    home = Path(environ.get("HOME") or Path.home())
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    shared = [Path(place) for place in environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":") if place]
    library = "Library/Application Support"
    found = [
        *(folder / "pip" / "pip.conf" for folder in shared),
        *([Path("/", library, "pip", "pip.conf")] if sys.platform == "darwin" else []),
        SYSTEM / "pip.conf",
        home / ".pip" / "pip.conf",
        config / "pip" / "pip.conf",
        *([home / library / "pip" / "pip.conf"] if sys.platform == "darwin" else []),
        Path(sys.prefix) / "pip.conf",
        *([Path(named)] if named else []),
    ]
    return [path for path in found if path.is_file()]


def read_uv(environ: Mapping[str, str]) -> IndexSettings:
    """Read uv's configuration file, then its variables."""
    told: dict[str, Any] = {}
    for path in uv_files(environ):
        try:
            written = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeError, tomllib.TOMLDecodeError):
            continue
        told |= {**written, **table(written.get("pip"))}
    listed = [entry for entry in told.get("index") or [] if isinstance(entry, dict) and "url" in entry]
    defaults = [entry["url"] for entry in listed if entry.get("default")]
    others = [entry["url"] for entry in listed if not entry.get("default")]
    indexes = [url_of(word) for word in environ.get("UV_INDEX", "").split()]
    return IndexSettings(
        index=url_of(environ.get("UV_DEFAULT_INDEX", ""))
        or environ.get("UV_INDEX_URL", "")
        or str(defaults[0] if defaults else told.get("index-url", "")),
        extra=(
            *indexes,
            *environ.get("UV_EXTRA_INDEX_URL", "").split(),
            *map(str, others),
            *map(str, told.get("extra-index-url") or []),
        ),
        find_links=(
            *(link for link in environ.get("UV_FIND_LINKS", "").split(",") if link),
            *map(str, told.get("find-links") or []),
        ),
        no_index=is_yes(environ.get("UV_NO_INDEX", "")) or told.get("no-index") is True,
    )


def uv_files(environ: Mapping[str, str]) -> list[Path]:
    """List the configuration files of uv, the weakest first."""
    named = environ.get("UV_CONFIG_FILE")
    if named:
        return [Path(named)]
    if is_yes(environ.get("UV_NO_CONFIG", "")):
        return []
    home = Path(environ.get("HOME") or Path.home())
    return [
        SYSTEM / "uv" / "uv.toml",
        Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "uv" / "uv.toml",
    ]


def table(value: object) -> dict[str, Any]:
    """Return a table of a TOML file; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def url_of(word: str) -> str:
    """Return the address of an index that uv may know by a name, as in `name=https://…`."""
    name, sign, rest = word.partition("=")
    return rest if sign and name.replace("-", "").replace("_", "").isalnum() else word


def is_yes(text: str) -> bool:
    """Tell whether a setting is switched on."""
    return text.strip().lower() in ("1", "true", "yes", "on", "t", "y")
