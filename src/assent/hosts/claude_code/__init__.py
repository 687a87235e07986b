"""Claude Code: its hooks carry questions and permissions to the inbox, and the answers back."""
