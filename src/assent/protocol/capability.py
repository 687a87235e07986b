"""Table of what each surface can show and take in: the only one. Folding, forms, doctor and the reference read it.

Rule 1: a record says what presenting has to know and nothing else. How a host keys its answers is its adapter's matter.
Rule 2: a limit that a host only advises is kept as if it were enforced; replies are read as if no limit was.
Rule 3: None is "no limit".
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from assent.protocol.error import BadRequestError

__all__ = ["CAPABILITIES", "LEAST_HEADER", "LEAST_LABEL", "LEAST_TEXT", "Capability", "FreeText"]

LEAST_TEXT, LEAST_LABEL, LEAST_HEADER = 500, 40, 4
"""With less room no text could say what was left out, no label be told from the next, no header hold `Q50`."""
_LEAST_OPTIONS = 2
"""One to choose, and one to see the others."""


class FreeText(StrEnum):
    """Whether a person can type a reply beside choosing one."""

    ALWAYS = "always"
    """The surface adds a row for it to every question."""
    OPTIONAL = "optional"
    """The surface adds it where it is told to."""
    NEVER = "never"


class Capability(msgspec.Struct, frozen=True):
    """What one kind of surface accepts."""

    name: str
    """What it goes by."""
    free_text: FreeText
    """Whether a reply can be typed."""
    allows_multiple: bool = False
    """Several options of one question can be chosen."""
    max_questions: int | None = 1
    """So many can be asked in one go."""
    min_options: int = 1
    """A question with options has so many at least."""
    max_options: int | None = None
    """And so many at most; None is no limit, here and below."""
    allows_no_options: bool = False
    """A question may have no options at all: the reply is typed."""
    shows_descriptions: bool = True
    """An option can carry a line about it."""
    header_max: int | None = None
    """Characters of a header."""
    label_max: int | None = None
    """Characters of an option's label."""
    text_max: int | None = None
    """Characters of the question together with all that stands above it."""
    tool: str = ""
    """The host's own tool that asks a person and blocks until they answered."""
    loader: str = ""
    """The tool by which that one is looked up where it is not loaded from the start (W3)."""

    @property
    def query(self) -> str:
        """What the loader is asked for."""
        return f"select:{self.tool}"

    def __post_init__(self) -> None:
        """Refuse a record that no prompt could be folded for."""
        limits = (
            (self.max_questions, 1),
            (self.min_options, 1),
            (self.max_options, _LEAST_OPTIONS),
            (self.header_max, LEAST_HEADER),
            (self.label_max, LEAST_LABEL),
            (self.text_max, LEAST_TEXT),
        )
        is_narrow = any(limit is not None and limit < least for limit, least in limits)
        if is_narrow or self.min_options > _LEAST_OPTIONS:
            raise BadRequestError(f'Nothing can be asked on a surface like "{self.name}".')

    @property
    def allows_text(self) -> bool:
        """A reply can be typed."""
        return self.free_text is not FreeText.NEVER


CAPABILITIES: dict[str, Capability] = {
    capability.name: capability
    for capability in (
        Capability(
            "claude-code",  # AskUserQuestion; it refuses what is over, but for the header, which it only advises
            FreeText.ALWAYS,
            allows_multiple=True,
            max_questions=4,
            min_options=2,
            max_options=4,
            header_max=12,
            text_max=5_000,  # the longest that is known to be accepted
            tool="AskUserQuestion",
            loader="ToolSearch",
        ),
        Capability(
            "codex",  # request_user_input; advises all of it
            FreeText.ALWAYS,
            max_questions=3,
            min_options=2,
            max_options=3,
            header_max=12,
            tool="request_user_input",
        ),
        Capability(
            "gemini",  # ask_user; a question of the type `text` has no options
            FreeText.ALWAYS,
            allows_multiple=True,
            max_questions=4,
            min_options=2,
            max_options=4,
            allows_no_options=True,
            header_max=16,
            tool="ask_user",
        ),
        Capability(
            "opencode",
            FreeText.OPTIONAL,
            allows_multiple=True,
            max_questions=None,
            allows_no_options=True,
            header_max=30,
        ),
        Capability(
            "vscode",  # askQuestions; its header is cut at 75, and should have 50
            FreeText.OPTIONAL,
            allows_multiple=True,
            max_questions=None,
            min_options=2,
            allows_no_options=True,
            header_max=50,
        ),
        Capability(
            "mcp-form",  # an option has a title and nothing else
            FreeText.OPTIONAL,
            allows_multiple=True,
            max_questions=None,
            allows_no_options=True,
            shows_descriptions=False,
            text_max=20_000,  # no host has a limit; the surfaces of the hub have all of a longer text
        ),
        Capability(
            "mcp-form-2025-06",  # as it was before 2025-11-25: no lists, so several are typed
            FreeText.OPTIONAL,
            max_questions=None,
            allows_no_options=True,
            shows_descriptions=False,
            text_max=20_000,
        ),
        Capability("acp-permission", FreeText.NEVER, shows_descriptions=False),
        Capability(
            "acp-form",
            FreeText.OPTIONAL,
            allows_multiple=True,
            max_questions=None,
            allows_no_options=True,
            shows_descriptions=False,
        ),
        Capability(
            "pi",  # over its RPC an option is a plain text
            FreeText.OPTIONAL,
            allows_multiple=True,
            allows_no_options=True,
            shows_descriptions=False,
        ),
        Capability(
            "github-comment",
            FreeText.ALWAYS,
            allows_multiple=True,
            max_questions=None,
            allows_no_options=True,
            text_max=65_000,  # of 65,536; the rest is for what we hide in it
        ),
        Capability(
            "stdio",
            FreeText.ALWAYS,
            allows_multiple=True,
            max_questions=None,
            allows_no_options=True,
        ),
    )
}
"""By name: the hosts and channels that are known."""
