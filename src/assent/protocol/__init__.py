"""What is said: prompts, replies, answers, outcomes, errors, and their text and JSON forms.

Rule 1: nothing here imports another room of ours.
Rule 2: no I/O, no clock, no chance.

The values are trees that nothing refers back into, so the garbage collector need not look at them (`gc=False`): with
many callers it would cost a tenth of the time.
"""
