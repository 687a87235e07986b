"""The programs that agents live in. A host knows the client, and neither surfaces nor anything behind the client."""
