"""A project's own gates, as `.assent/gates.toml` has them. Read and checked whole, before any of them opens.

    [[gate]]
    name = "Deploy"
    options = ["Ship it", "Ship to one region", "Stop"]
    commands = ["discard", "note: {text}", "deselect {IDs}"]

    [gate.checks]
    discard = "This will drop all {N} findings. Proceed? [y/n]"

    [deep-dive]
    command = ["python", "look.py"]

Rule 1: nothing is left out in silence. A key, a placeholder or a check that means nothing is an error.
Rule 2: a gate of a project can neither be taken for a standard one, nor its labels for numbers or commands.
Rule 3: every error is one sentence that names the file, the gate by its position and name, and the reason.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

from assent.protocol.command import parse_command
from assent.protocol.display import fold, is_blank, quote, skeleton
from assent.protocol.error import BadRequestError
from assent.protocol.gate import CONTEXTS, TODO, Check, Context, Gate, check_question, slug
from assent.protocol.prompt import check_prompt
from assent.protocol.toml_file import Fail, Table, check_visible, load_toml, read_command, read_texts

__all__ = ["MAX_GATE_FILE_BYTES", "parse_contexts", "parse_deep_dive"]

MAX_GATE_FILE_BYTES = 64 << 10
_MAX_GATES = 100
_MAX_OPTIONS = 20

_GATES, _DEEP_DIVE = "gate", "deep-dive"
_KEYS = ("name", "options", "commands", "checks")
_PLACEHOLDERS = ("text", "ID", "IDs", "N", "area")
_COUNT = "{N}"
_YES_OR_NO = "[y/n]"
_A_NUMBER = "1000000"
_SAMPLE_ID = "H1"

_placeholders = re.compile(r"\{([^{}]*)\}").findall
_starts_like_a_number = re.compile(r"\d+\s*[.)]").match


def parse_contexts(text: bytes, name: str) -> dict[str, Context]:
    """Return the gates that a project adds to the standard ones, by name. `name` is the file's, for messages.

    Raises:
        BadRequestError: the file cannot be read, or one of its gates could not be shown or answered.
    """
    loaded = _load(text, name)
    _read_deep_dive(loaded, name)
    gates = loaded.get(_GATES, [])
    if not isinstance(gates, list) or not all(isinstance(gate, dict) for gate in gates):
        raise BadRequestError(f"{quote(name)}: each gate begins with [[gate]].")
    if len(gates) > _MAX_GATES:
        raise BadRequestError(f"{quote(name)}: there are at most {_MAX_GATES} gates, not {len(gates)}.")
    taken = {skeleton(slug(context)): f'the standard gate "{context}"' for context in CONTEXTS}
    contexts: dict[str, Context] = {}
    for position, gate in enumerate(gates, start=1):
        context = _read_gate(gate, name, position)
        shape = skeleton(slug(context.name))
        if shape in taken:
            raise _at(name, position, context.name)(f"it goes by the name of {taken[shape]}")
        taken[shape] = f'gate {position} "{quote(context.name)}"'
        contexts[context.name] = context
    return contexts


def parse_deep_dive(text: bytes, name: str) -> tuple[str, ...] | None:
    """Return the program that looks deeper into a finding, with its arguments; nothing if the file names none.

    Raises:
        BadRequestError: the file cannot be read, or what it names is no command.
    """
    return _read_deep_dive(_load(text, name), name)


# The file


def _load(text: bytes, name: str) -> Table:
    loaded = load_toml(text, name, MAX_GATE_FILE_BYTES)
    for key in loaded:
        if key not in (_GATES, _DEEP_DIVE):
            raise BadRequestError(
                f'{quote(name)}: "{quote(key)}" is not known; there are [[gate]] and [deep-dive].'
            )
    return loaded


def _read_deep_dive(loaded: Table, name: str) -> tuple[str, ...] | None:
    given = loaded.get(_DEEP_DIVE)
    if given is None:
        return None

    def fail(reason: str) -> BadRequestError:
        return BadRequestError(f"{quote(name)}, [deep-dive]: {reason}.")

    if not isinstance(given, dict):
        raise fail('it is a table, as in [deep-dive] with command = ["program", "argument"]')
    for key in given:
        if key != "command":
            raise fail(f'"{quote(key)}" is not known; there is only "command"')
    return read_command(given.get("command"), fail)


# One gate


def _read_gate(gate: Table, file: str, position: int) -> Context:
    name = gate.get("name")
    fail = _at(file, position, name if isinstance(name, str) else "")
    for key in gate:
        if key not in _KEYS:
            raise fail(f'"{quote(key)}" is not known; there are {", ".join(_KEYS)}')
    if not isinstance(name, str) or is_blank(name):
        raise fail("it has no name")
    check_visible(name, "the name", fail)
    if not slug(name):
        raise fail("its name has neither a letter nor a digit, so nobody could type it")
    options = tuple(_read_options(gate.get("options"), fail))
    commands = tuple(_read_commands(gate.get("commands", []), fail))
    context = Context(name.strip(), options, commands)
    # With an id to name as well: what can only be mistaken once there are findings is found now.
    for sample in (Gate(context, "x"), Gate(context, "x", (_SAMPLE_ID,), 1)):
        _try(lambda sample=sample: check_prompt(sample.prompt), fail)  # type: ignore[misc]
    checks = tuple(_read_checks(gate.get("checks", {}), commands, fail))
    return Context(context.name, options, commands, checks=checks)


def _read_options(given: object, fail: Fail) -> Iterator[str]:
    if given is None:
        raise fail("it has no options")
    labels = read_texts(given, "options", fail)
    if not 1 <= len(labels) <= _MAX_OPTIONS:
        raise fail(f"it has 1 to {_MAX_OPTIONS} options, not {len(labels)}")
    for label in labels:
        if is_blank(label):
            raise fail("one of its options shows nothing")
        drawn = unicodedata.normalize("NFKC", label).strip()
        has_only_digits = any(map(str.isdigit, drawn)) and not any(map(str.isalpha, drawn))
        if has_only_digits or _starts_like_a_number(drawn):
            raise fail(f'the option "{quote(label)}" reads like a number')
        yield label.strip()


def _read_commands(given: object, fail: Fail) -> Iterator[str]:
    for spec in read_texts(given, "commands", fail):
        for placeholder in _placeholders(spec):
            if placeholder not in _PLACEHOLDERS:
                known = ", ".join(f"{{{known}}}" for known in _PLACEHOLDERS)
                raise fail(f'"{quote(spec)}" has {{{quote(placeholder)}}}, and there are only {known}')
        if spec.strip().startswith("{"):
            raise fail(f'the command "{quote(spec)}" has no word to begin with')
        if "`" in spec:
            raise fail(f'the command "{quote(spec)}" has a backtick in it')
        yield " ".join(spec.split())


def _read_checks(given: object, commands: tuple[str, ...], fail: Fail) -> Iterator[Check]:
    if not isinstance(given, dict):
        raise fail("its checks are a table, as in [gate.checks]")
    heads = {_head(command) for command in commands}
    seen: set[str] = set()
    for command, question in given.items():
        words = fold(command)
        if words == TODO:
            raise fail(f'"{TODO}:" keeps a task and changes nothing, so it has no check')
        if words not in heads:
            raise fail(f'there is a check for "{quote(command)}", which is none of its commands')
        if words in seen:
            raise fail(f'"{quote(command)}" has two checks')
        seen.add(words)
        yield Check(words, _read_question(command, question, fail))


def _read_question(command: str, question: object, fail: Fail) -> str:
    if not isinstance(question, str):
        raise fail(f'the check of "{quote(command)}" is a text')
    check_visible(question, f'the check of "{quote(command)}"', fail)
    text = question.strip()
    if not text.endswith(_YES_OR_NO) or is_blank(text.removesuffix(_YES_OR_NO)):
        raise fail(f'the check of "{quote(command)}" is a question that ends in {_YES_OR_NO}')
    if any(sign in text.replace(_COUNT, "") for sign in "{}"):
        raise fail(f'the check of "{quote(command)}" knows no placeholder but {_COUNT}')
    _try(lambda: check_prompt(check_question(text.replace(_COUNT, _A_NUMBER))), fail)
    return text


def _head(spec: str) -> str:
    """Return the words of a command that was found to be one. What its placeholder stands for does not matter."""
    words, _, name = spec.partition("{")
    return parse_command(spec).head if name == "text}" or not name else fold(words)


# For all of them


def _at(file: str, position: int, name: str) -> Fail:
    named = f' "{quote(name)}"' if not is_blank(name) else ""

    def fail(reason: str) -> BadRequestError:
        return BadRequestError(f"{quote(file)}, gate {position}{named}: {reason}.")

    return fail


def _try(check: Callable[[], object], fail: Fail) -> None:
    try:
        check()
    except BadRequestError as refusal:
        reason = refusal.message.removesuffix(".")
        raise fail(f"{reason[:1].lower()}{reason[1:]}") from None
