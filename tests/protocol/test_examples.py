"""The examples in the docstrings of this room are true."""

import doctest
import importlib
import pkgutil

import pytest

import assent.protocol

MODULES = [f"assent.protocol.{found.name}" for found in pkgutil.iter_modules(assent.protocol.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name: str) -> None:
    """A reader copies them."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0
