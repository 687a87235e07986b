"""What touches the world: performs what flows name. Every path and address that is touched is checked here."""
