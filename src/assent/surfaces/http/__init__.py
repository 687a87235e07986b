"""The server: everything that a client can do, over HTTP and WebSocket. Needs the extra `server`."""
