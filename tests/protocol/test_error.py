"""The errors: one small tree, a code each, a sentence each."""

import pickle

import pytest

from assent.protocol import error as module
from assent.protocol.error import AssentError, ConflictError, StillOpen

PUBLIC = [getattr(module, name) for name in module.__all__]


def drawn_tree() -> dict[str, tuple[str | None, str]]:
    """Read the tree at the head of the file: name, parent, code."""
    assert module.__doc__
    lines = [
        line for line in module.__doc__.splitlines() if line.startswith(("AssentError", "├", "│", "└", " "))
    ]
    found: dict[str, tuple[str | None, str]] = {}
    above: list[str] = []
    for line in lines:
        name, *rest = line.lstrip("├└│─ ").split()
        depth = (len(line) - len(line.lstrip("├└│─ "))) // 4
        above[depth:] = [name]
        found[name] = (above[depth - 1] if depth else None, rest[0] if rest else "error")
    return found


def public_parent(kind: type[AssentError]) -> str | None:
    parents = [parent.__name__ for parent in kind.__mro__[1:] if parent in PUBLIC]
    return parents[0] if parents else None


def test_tree_at_the_head_of_the_file_is_the_tree_of_the_classes() -> None:
    """Readers trust the drawing."""
    drawn = drawn_tree()
    assert {kind.__name__: public_parent(kind) for kind in PUBLIC} == {
        name: at for name, (at, _) in drawn.items()
    }
    codes = {kind.__name__: kind.code for kind in PUBLIC}
    assert codes | {"NoAnswer": "(the"} == {name: code for name, (_, code) in drawn.items()}


def test_codes_are_unique_and_lower_case() -> None:
    """On the wire a code is all that tells two errors apart."""
    codes = [kind.code for kind in PUBLIC]
    assert len(set(codes)) == len(codes)
    assert all(code.replace("_", "").isalpha() and code.islower() for code in codes)


@pytest.mark.parametrize("kind", PUBLIC)
def test_docstring_is_the_sentence_shown(kind: type[AssentError]) -> None:
    """Raised bare, an error still says something a person can read."""
    assert str(kind()) == kind.__doc__
    assert kind().message.endswith(".")
    assert str(kind("Something else.")) == "Something else."


@pytest.mark.parametrize("kind", PUBLIC)
def test_error_survives_the_way_between_processes(kind: type[AssentError]) -> None:
    """A pool hands errors on by pickling them."""
    copy = pickle.loads(pickle.dumps(kind("Something.")))
    assert type(copy) is kind
    assert copy.message == "Something."


def test_error_about_an_ask_carries_it_or_nothing() -> None:
    """The loser of a race is told who won."""
    assert ConflictError().ask is None
    assert StillOpen("Waiting.", ask=None).message == "Waiting."
