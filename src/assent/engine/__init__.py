"""What a stored record may become: pure state machines, each with a table, `decide`, `evolve` and `deadline`.

Rule 1: no clock, no ids, no I/O, no logging; the moment and new ids come in with the command.
Rule 2: `decide` may refuse by raising; `evolve` never refuses what `decide` produced.
Rule 3: only `reactions` knows two machines.
"""
