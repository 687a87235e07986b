"""How a talk goes: conversations as pure generators that yield steps and receive results.

Rule 1: no clock, no chance, no I/O, no unordered collection: the same inputs and results give the same steps.
Rule 2: a flow goes on only when it has received the result of its step, so nothing passes an open ask.
"""
