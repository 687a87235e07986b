"""What is said: prompts, replies, answers, outcomes, errors, and their text and JSON forms.

Rule 1: nothing here imports another room of ours.
Rule 2: no I/O, no clock, no chance.
"""
