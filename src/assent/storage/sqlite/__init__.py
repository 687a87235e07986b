"""The store in one file: SQLite through apsw, WAL, full sync, one writer at a time across processes."""
