"""Lines that can take a comment are those that a patch shows."""

import pytest

from assent.effects.github.diff import ChangedFile, lines_of, places_of

__all__: list[str] = []


def numbers(patch: str, side: str) -> list[int]:
    """Return the lines of one side."""
    return sorted(line for found, line in lines_of(patch) if found == side)


def test_context_stands_on_both_sides_and_a_change_on_its_own() -> None:
    """As GitHub has it: RIGHT is the new text, LEFT the old one."""
    patch = "@@ -10,3 +20,4 @@ def f():\n same\n-gone\n+new\n+newer\n same"
    assert numbers(patch, "LEFT") == [10, 11, 12]
    assert numbers(patch, "RIGHT") == [20, 21, 22, 23]


@pytest.mark.parametrize(
    ("patch", "left", "right"),
    [
        ("@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file", [], [1, 2]),
        ("@@ -1,2 +0,0 @@\n-a\n-b", [1, 2], []),
        ("@@ -1 +1 @@\n-a\n+b", [1], [1]),
        ("@@ -1 +1,2 @@\n a\n+@@ -9 +9 @@", [1], [1, 2]),
        ("@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n@@ -9 +9 @@\n z", [1, 2, 9], [1, 2, 9]),
        ("", [], []),
        ("no patch at all", [], []),
    ],
    ids=["new", "deleted", "single", "looks-like-a-head", "two-hunks", "empty", "other"],
)
def test_patch_of_any_shape_gives_its_lines(patch: str, left: list[int], right: list[int]) -> None:
    """New and deleted files, hunks of one line, a missing last line break, a line that looks like a hunk's head."""
    assert (numbers(patch, "LEFT"), numbers(patch, "RIGHT")) == (left, right)


def test_file_without_a_patch_is_not_known() -> None:
    """GitHub leaves out what is binary or too large; that does not say that no line takes a comment."""
    assert places_of([ChangedFile("logo.png"), ChangedFile("a", "@@ -1 +1 @@\n a")]) == {
        "logo.png": None,
        "a": frozenset({("LEFT", 1), ("RIGHT", 1)}),
    }
