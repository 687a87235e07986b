"""The door to a server: the same calls as on a file, as HTTP requests that may be sent again."""
