-- An action that a person said no to is found by its digest, and how much one asker has open is counted by its name.
-- `action_digest` is NULL where nothing is approved, and in asks that are older than this; `again` is the earlier no.

ALTER TABLE asks ADD COLUMN action_digest TEXT;
ALTER TABLE asks ADD COLUMN again BLOB;

CREATE INDEX asks_action ON asks (project_number, action_digest, sequence)
WHERE action_digest IS NOT NULL AND state IN ('answered', 'declined');
CREATE INDEX asks_asker ON asks (project_number, asker) WHERE state = 'open';
