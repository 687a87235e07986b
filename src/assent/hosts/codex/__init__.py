"""Codex, by its app-server: a run that people steer, whose questions and approvals they get."""
