"""What a typed text is for: the word goes out with the wish for it and comes back with the text.

Rule 1: a purpose that ends with a colon is followed by the number of the field that the text is for.
"""

from __future__ import annotations

__all__ = ["CANCEL", "CHECK", "COMMAND", "DECLINE", "ESCALATE", "FIELD", "FILTER", "PICK", "WITHDRAW"]

FILTER = "filter"
COMMAND = "command"
DECLINE = "decline"
WITHDRAW = "withdraw"
ESCALATE = "escalate"
CANCEL = "cancel"
CHECK = "check"
"""A yes, once more, to what cannot be undone."""
PICK = "pick:"
FIELD = "field:"
