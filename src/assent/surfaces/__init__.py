"""Where people meet asks. A surface presents an ask and reads a reply; it never decides what either means."""
