"""A project's name can be typed, shown and told apart."""

import doctest

import pytest

import assent.protocol.project
from assent.protocol.error import BadRequestError
from assent.protocol.project import MAX_PROJECT, check_project

__all__: list[str] = []


def test_examples_in_docstrings_hold() -> None:
    """A reader copies them."""
    outcome = doctest.testmod(assent.protocol.project)
    assert (outcome.failed, outcome.attempted > 0) == (0, True)


@pytest.mark.parametrize("name", ["shop", "a b", "магазин", "...", "p" * MAX_PROJECT, "*"])
def test_name_that_can_be_seen_is_a_projects(name: str) -> None:
    """Of any script; what it means elsewhere is for others to say."""
    assert check_project(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        " shop",
        "shop ",
        "a/b",
        "sh\u200bop",
        "a\nb",
        "\x1b[2J",
        "\ud800",
        "p" * (MAX_PROJECT + 1),
        ".",
        "..",
    ],
    ids=[
        "empty",
        "before",
        "after",
        "slash",
        "hidden",
        "lines",
        "escape",
        "half_pair",
        "long",
        "here",
        "above",
    ],
)
def test_name_that_is_not_what_it_looks_like_is_refused_in_one_line(name: str) -> None:
    """And the sentence holds nothing that a terminal would obey."""
    with pytest.raises(BadRequestError, match="is not a project's name") as caught:
        check_project(name)
    assert caught.value.message.isprintable()
