"""Fault trials: what is done to Assent on purpose, and the promises that must hold while it is done.

`python -m torture` runs every trial at its full count; `tests/torture` runs the same trials at about a tenth.
Rule 1: a trial that did nothing has not passed. Each prints how much succeeded and how often each fault fired.
Rule 2: each trial has twins. A twin takes one guard away, inside the workers only, and must turn the trial red.
Rule 3: every wait is bounded, every worker is stopped by its pid, and everything lies in a folder of its own.
"""
