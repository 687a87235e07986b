"""Stands for CrewAI, which is too large for our lock: as much of its documented flows as the example uses."""
