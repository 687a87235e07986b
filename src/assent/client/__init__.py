"""The one door: what agents and surfaces call. Sync and async are the same calls, driven in two ways."""
