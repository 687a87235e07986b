"""The agent `deployer`: wants to do things that cannot be undone, shows exactly what, and does nothing without a yes."""

from __future__ import annotations

from datetime import timedelta
from itertools import cycle
from typing import Any

import assent
from assent.cli.demo_world.stage import Stage

__all__ = ["play"]

_DEADLINE = timedelta(minutes=12)

_DROP = """\
--- /dev/null
+++ b/migrations/0063_drop_device_tokens.sql
@@ -0,0 +1,4 @@
+SET lock_timeout = '3s';
+DROP INDEX IF EXISTS sessions_device_token_idx;
+ALTER TABLE sessions DROP COLUMN device_token;
+ANALYZE sessions;
"""
_MODEL = """\
--- a/edge/session.py
+++ b/edge/session.py
@@ -12,6 +12,5 @@ class Session(Table):
     id = Column(Integer, primary_key=True)
     user_id = Column(Integer, nullable=False)
-    device_token = Column(Text)
-    last_seen = Column(DateTime)
+    last_seen = Column(DateTime, nullable=False)
     country = Column(Text)
     created = Column(DateTime, nullable=False)
"""
_ZONE = """\
--- a/dns/edge.zone
+++ b/dns/edge.zone
@@ -3,5 +3,4 @@
 $TTL 300
 edge      IN A      192.0.2.10
-edge      IN A      192.0.2.11
-edge-old  IN CNAME  edge
+edge      IN A      198.51.100.7
 status    IN A      192.0.2.20
"""

_WISHES: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    (
        "Drop the column sessions.device_token in production",
        {
            "command": 'psql "$PRIMARY_URL" --single-transaction --file migrations/0063_drop_device_tokens.sql',
            "files": [
                {"path": "migrations/0063_drop_device_tokens.sql", "diff": _DROP},
                {"path": "edge/session.py", "diff": _MODEL},
            ],
        },
        (
            "No service has read `device_token` since release 209; the last read was **38 days** ago. The column holds"
            " 1.4 million values that exist nowhere else. The table is locked for less than three seconds, or nothing"
            " happens."
        ),
        "The column is gone. Shall I also remove the backup of the table after a week?",
    ),
    (
        "Point edge.example.com at the new site, and let go of the old one",
        {
            "command": "edgectl zone apply dns/edge.zone && edgectl site delete old-fra",
            "files": [{"path": "dns/edge.zone", "diff": _ZONE}],
        },
        (
            "The new site has served half of all requests for nine days. Deleting the old one frees its addresses, and"
            " somebody else may get them within the hour."
        ),
        "The old site is gone. Shall I lower the time to live from five minutes to one for a day?",
    ),
)


def play(stage: Stage) -> None:
    """Ask for one thing after the other."""
    for title, action, body, next_question in cycle(_WISHES):
        if _may(stage, title, action, body):
            stage.ask(next_question, ["Yes", "No"], body="What was approved has been done, once.")
        stage.pause()


def _may(stage: Stage, title: str, action: dict[str, Any], body: str) -> bool:
    """Ask for an approval, and spend it on exactly this action; a no and a deadline that passed are the same."""
    try:
        receipt = stage.client.approve(
            title,
            action=action,
            category="scopeChanges",
            risk="irreversible",
            body=body,
            deadline=_DEADLINE,
            consequence=assent.Consequence.DENY,
        )
    except assent.NoAnswer:
        stage.rest()
        return False
    stage.rest()
    stage.client.redeem(receipt.receipt_id, action)
    return True
