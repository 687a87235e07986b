"""What makes it move: `handle(command)` takes the project's head, decides, reacts, writes, commits, rings.

Rule 1: one transaction a command; nothing is told before it is committed.
Rule 2: `clock` is the only file that reads the time, `ids` the only one that mints ids.
Rule 3: `authorise` is the one check, and every command passes it.
"""
