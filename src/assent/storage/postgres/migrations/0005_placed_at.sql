-- Where the clock ran back, as SQLite has it at its schema 12.

ALTER TABLE events ADD COLUMN placed_at bigint;
