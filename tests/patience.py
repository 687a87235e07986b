"""The one bound on waiting: no test knows how fast the machine is.

A test waits for an event, and the bound is there so that one that never comes is told as a failure. It is never near
what anything takes, not even beside six busy processes.
"""

__all__ = ["PATIENCE"]

PATIENCE = 120.0
"""Seconds that anything may take before a test gives up."""
