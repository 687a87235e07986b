-- Who wrote each entry of a journal: whoever drives a flow believes its own entries and people's, and no other agent's.

ALTER TABLE steps ADD COLUMN by TEXT NOT NULL DEFAULT '';
