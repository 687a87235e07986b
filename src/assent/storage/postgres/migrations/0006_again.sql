-- An action that a person said no to is found by its digest, and how much one asker has open is counted by its name,
-- as SQLite has it at its schema 12.

ALTER TABLE asks ADD COLUMN action_digest text COLLATE "C";
ALTER TABLE asks ADD COLUMN again bytea;

CREATE INDEX asks_action ON asks (project_number, action_digest, sequence)
WHERE action_digest IS NOT NULL AND state IN ('answered', 'declined');
CREATE INDEX asks_asker ON asks (project_number, asker) WHERE state = 'open';
