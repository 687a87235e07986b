"""Measures Assent beside the raw floor, in the same run: `python -m bench`.

Rule 1: ours and the floor take turns within every repetition, since a disk's speed drifts by a factor of two
        within minutes; what counts is the ratio of a repetition, and the median of those.
Rule 2: our side is used as users use it, through the public client; a floor has no logic at all.
Rule 3: a figure stands beside its goal and says whether it was reached; no timing decides an exit status.
"""
