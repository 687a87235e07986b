"""The settings that a person made for pip and uv are read without pip, and handed on to uv."""

import os
from pathlib import Path

import pytest

from tools import package_index
from tools.package_index import IndexSettings, read_pip, read_uv, uv_environ

__all__: list[str] = []

MIRROR, OTHER = "https://mirror.example/simple", "https://other.example/simple"


@pytest.fixture(name="home")
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Give an environment whose home is empty, on a machine without settings of its own."""
    monkeypatch.setattr(package_index, "SYSTEM", tmp_path / "etc")
    return {"HOME": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path)}


def write(home: dict[str, str], place: str, text: str) -> str:
    """Write a configuration file into the home."""
    path = Path(home["HOME"]) / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def test_index_of_pips_variable_and_of_its_file_reaches_uv(home: dict[str, str]) -> None:
    """The variable comes first, as with pip."""
    assert uv_environ(home) == {}
    home["PIP_CONFIG_FILE"] = write(home, "pip.conf", f"[global]\nindex_url = {MIRROR}\n")
    assert uv_environ(home) == {"UV_DEFAULT_INDEX": MIRROR}
    assert uv_environ({**home, "PIP_INDEX_URL": OTHER}) == {"UV_DEFAULT_INDEX": OTHER}


def test_section_of_the_command_overrules_the_general_one(home: dict[str, str]) -> None:
    """In one file; a file that cannot be parsed is passed over."""
    both = f"[install]\nindex-url = {OTHER}\n[global]\nindex-url = {MIRROR}\nextra-index-url =\n  {MIRROR}\n  {OTHER}\n"
    home["PIP_CONFIG_FILE"] = write(home, "pip.conf", both)
    assert read_pip(home) == IndexSettings(index=OTHER, extra=(MIRROR, OTHER))
    home["PIP_CONFIG_FILE"] = write(home, "pip.conf", "index-url with no section")
    assert read_pip(home).index == ""


def test_files_are_read_in_pips_order(home: dict[str, str]) -> None:
    """The user's own after the old place of it; none at all where a person asked for none."""
    write(home, ".pip/pip.conf", f"[global]\nindex-url = {OTHER}\n")
    assert read_pip(home).index == OTHER
    write(home, ".config/pip/pip.conf", f"[global]\nindex-url = {MIRROR}\n")
    assert read_pip(home).index == MIRROR
    assert read_pip({**home, "PIP_CONFIG_FILE": os.devnull}) == IndexSettings()


def test_other_indexes_reach_uv_where_the_default_one_was_replaced(home: dict[str, str]) -> None:
    """Elsewhere the default index has all that is locked, and uv would fail at one that is not there."""
    assert uv_environ({**home, "PIP_EXTRA_INDEX_URL": OTHER}) == {}
    told = uv_environ({**home, "PIP_INDEX_URL": MIRROR, "PIP_EXTRA_INDEX_URL": OTHER})
    assert told == {
        "UV_DEFAULT_INDEX": MIRROR,
        "UV_INDEX": OTHER,
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


def test_machine_without_a_network_hands_its_folder_on(home: dict[str, str], tmp_path: Path) -> None:
    """A folder that is not there is passed over, as pip does."""
    links = f"{tmp_path} {tmp_path / 'gone'}"
    told = uv_environ({**home, "PIP_NO_INDEX": "1", "PIP_INDEX_URL": MIRROR, "PIP_FIND_LINKS": links})
    assert told == {"UV_FIND_LINKS": str(tmp_path), "UV_NO_INDEX": "1"}


def test_proxy_certificates_and_trusted_hosts_of_pip_reach_uv(home: dict[str, str], tmp_path: Path) -> None:
    """What uv has of its own stays."""
    bundle = tmp_path / "company.pem"
    bundle.write_text("")
    settings = (
        f"[global]\ncert = {bundle}\nproxy = http://proxy.example:3128\ntrusted-host = a.example b.example\n"
    )
    home["PIP_CONFIG_FILE"] = write(home, "pip.conf", settings)
    told = uv_environ(home)
    assert told["SSL_CERT_FILE"] == told["NODE_EXTRA_CA_CERTS"] == str(bundle)
    assert told["HTTPS_PROXY"] == "http://proxy.example:3128"
    assert told["UV_INSECURE_HOST"] == "a.example b.example"
    own = {"https_proxy": "http://own.example:1", "UV_INSECURE_HOST": "c.example"}
    assert {"HTTPS_PROXY", "UV_INSECURE_HOST"}.isdisjoint(uv_environ({**home, **own}))


@pytest.mark.parametrize(
    "text",
    [
        f'[[index]]\nurl = "{OTHER}"\n[[index]]\nurl = "{MIRROR}"\ndefault = true\n',
        f'index-url = "{MIRROR}"\nextra-index-url = ["{OTHER}"]\n',
        f'[pip]\nindex-url = "{MIRROR}"\nextra-index-url = ["{OTHER}"]\n',
    ],
    ids=["tables", "plain", "pip"],
)
def test_uv_that_knows_its_index_is_left_alone(home: dict[str, str], text: str) -> None:
    """Its file is read all the same: without pip the installer itself comes from there."""
    write(home, ".config/uv/uv.toml", text)
    assert read_uv(home) == IndexSettings(index=MIRROR, extra=(OTHER,))
    assert uv_environ({**home, "PIP_INDEX_URL": "https://pip.example/simple"}) == {}


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({"UV_DEFAULT_INDEX": f"mine={MIRROR}"}, IndexSettings(index=MIRROR)),
        ({"UV_INDEX_URL": f"{MIRROR}?a=b"}, IndexSettings(index=f"{MIRROR}?a=b")),
        ({"UV_INDEX": f"{MIRROR} mine={OTHER}"}, IndexSettings(extra=(MIRROR, OTHER))),
        (
            {"UV_NO_INDEX": "true", "UV_FIND_LINKS": "a,b"},
            IndexSettings(find_links=("a", "b"), no_index=True),
        ),
    ],
)
def test_variables_of_uv_are_read(home: dict[str, str], environ: dict[str, str], told: IndexSettings) -> None:
    """With and without the name that an index may have."""
    assert read_uv({**home, **environ}) == told
