"""What a loop's command is made of; the loop itself is tested as a process, in tests/cli."""

from assent.hosts.loop import substitute


def test_values_are_filled_in_once_and_other_braces_stay() -> None:
    """A model or a prompt that holds the name of another value is not filled in again."""
    values = {"model": "a {prompt} b", "prompt": "{model}", "iteration": "3"}
    assert substitute(["{model}", "{prompt}", "n={iteration}", "{}", "{{model}}", "{other}"], values) == [
        "a {prompt} b",
        "{model}",
        "n=3",
        "{}",
        "{a {prompt} b}",
        "{other}",
    ]
