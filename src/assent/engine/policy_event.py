"""What can happen to a policy: its one event, as the log keeps it. The tag is the event's type on the wire."""

from __future__ import annotations

from datetime import datetime

import msgspec

from assent.protocol.kind import Kind
from assent.protocol.policy import Policy
from assent.protocol.principal import Assurance

__all__ = ["PolicySet"]


class PolicySet(msgspec.Struct, frozen=True, tag="policy.set"):
    """The policy is another one now."""

    before: Policy
    """As it was read then: of a project without one, all categories require approval."""
    after: Policy
    at: datetime
    by: str
    assurance: Assurance
    is_unattended: bool = False
    command_id: str = ""
    assurances: dict[Kind, tuple[Assurance, ...]] = {}
    """Per kind of ask, the assurances that suffice from now on; a kind that is not named has the default."""
