"""Certificate authorities of a company proxy, handed to each program under the name that it reads.

A person names the file once, for pip, curl, Node or OpenSSL. uv and Python's own urllib read SSL_CERT_FILE and
SSL_CERT_DIR, pip reads PIP_CERT, and Node and npm read NODE_EXTRA_CA_CERTS.

Rule 1: only the standard library, for this runs before anything is installed.
Rule 2: a variable that is set is never changed.
"""

from collections.abc import Mapping
from pathlib import Path

__all__ = ["trust"]

# Each of these replaces all that is trusted. NODE_EXTRA_CA_CERTS adds to it and often holds one authority alone, so the
# others are never set from it.
_NAMES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def trust(environ: Mapping[str, str], named: str = "") -> dict[str, str]:
    """Return the variables to add to an environment; `named` is the file that pip's configuration names."""
    found = [Path(place) for place in (*(environ.get(name, "") for name in _NAMES), named) if place]
    file = next((place for place in found if place.is_file()), None)
    folder = next((place for place in found if place.is_dir()), None)
    added = {}
    if not environ.get("SSL_CERT_FILE") and not environ.get("SSL_CERT_DIR"):
        if file is not None:
            added["SSL_CERT_FILE"] = str(file)
        elif folder is not None:
            added["SSL_CERT_DIR"] = str(folder)
    if file is not None:
        added |= {name: str(file) for name in ("PIP_CERT", "NODE_EXTRA_CA_CERTS") if not environ.get(name)}
    return added
