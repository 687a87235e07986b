"""Agents that speak the Agent Client Protocol: a run that people steer, whose questions and approvals they get."""
