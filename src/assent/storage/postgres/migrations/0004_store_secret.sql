-- What ids are derived from beside the sender's own idempotency key, as SQLite has it at its schema 11.

CREATE TABLE store_secret (secret bytea NOT NULL);
INSERT INTO store_secret VALUES (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));
