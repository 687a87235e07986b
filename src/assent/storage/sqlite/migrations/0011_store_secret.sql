-- What ids are derived from beside the sender's own idempotency key: no agent can try out which key gives which id.
-- It is of one store, and never leaves it.

CREATE TABLE store_secret (secret BLOB NOT NULL) STRICT;
INSERT INTO store_secret VALUES (randomblob(32));
