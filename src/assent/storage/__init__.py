"""What is remembered: rows, and the append-only log beside them, behind one small port.

Rule 1: knows `protocol`, never `engine`: it keeps what it is given and decides nothing.
Rule 2: no success leaves a store before a full-sync commit.
"""
