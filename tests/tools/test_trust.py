"""Certificates that a person named for one program are handed to the others."""

from pathlib import Path

import pytest

from tools.trust import trust

__all__: list[str] = []


@pytest.fixture(name="bundle")
def _bundle(tmp_path: Path) -> str:
    made = tmp_path / "company.pem"
    made.write_text("")
    return str(made)


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_file_that_is_named_for_one_program_is_named_for_all(name: str, bundle: str) -> None:
    """Under the name that uv and urllib read, the one that pip reads, and the one that Node and npm read."""
    environ = {name: bundle}
    told = {**environ, **trust(environ)}
    assert [told[each] for each in ("SSL_CERT_FILE", "PIP_CERT", "NODE_EXTRA_CA_CERTS")] == [bundle] * 3


def test_file_of_pips_configuration_is_named_for_all(bundle: str) -> None:
    """It is as good as a variable, which comes first."""
    assert trust({}, bundle)["SSL_CERT_FILE"] == bundle


def test_folder_is_named_for_whoever_reads_folders(tmp_path: Path) -> None:
    """That is uv and urllib; Node reads files alone."""
    assert trust({"REQUESTS_CA_BUNDLE": str(tmp_path)}) == {"SSL_CERT_DIR": str(tmp_path)}


def test_what_is_set_stays(bundle: str) -> None:
    """Whoever names two means two."""
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "PIP_CERT", "NODE_EXTRA_CA_CERTS"):
        assert name not in trust({name: "other", "REQUESTS_CA_BUNDLE": bundle})
    assert "SSL_CERT_FILE" not in trust({"SSL_CERT_DIR": "other", "PIP_CERT": bundle})


def test_authority_that_is_added_for_node_replaces_nobody_elses(bundle: str) -> None:
    """Node adds it to what it trusts; uv and pip would trust it alone."""
    assert trust({"NODE_EXTRA_CA_CERTS": bundle}) == {}


def test_file_that_is_not_there_is_handed_to_nobody(tmp_path: Path) -> None:
    """Its owner learns of it from the program that it was named for."""
    assert trust({"PIP_CERT": str(tmp_path / "gone.pem")}) == {}
