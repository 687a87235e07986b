"""Gates through selection tools that are as strict as the real ones: the same inputs, the same result as in plain text."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from assent.client.drive import Surface, drive
from assent.effects.performer import Performers
from assent.flows.gate import AddTodo, pass_gate
from assent.flows.question import Answers, Questions, question_round
from assent.flows.step import Ask, Ended
from assent.protocol.block import render_brief
from assent.protocol.capability import CAPABILITIES, Capability, FreeText
from assent.protocol.dialog import Dialog, Given
from assent.protocol.error import AssentError, StillOpen
from assent.protocol.gate import CHUNK_LOOP, CONTEXTS, PHASE_GATE, SYNTHESIS, Choice, Context, Gate
from assent.protocol.prompt import Field, Option, Prompt, question
from assent.surfaces.tool import FallbackSurface, Select, ToolFailedError, ToolSurface
from tests.proves import proves

__all__: list[str] = []

IDS = ("H1", "M1", "L1")
