"""opencode, by its HTTP interface: its questions and permissions in everybody's inbox."""
