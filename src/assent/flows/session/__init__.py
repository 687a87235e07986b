"""A code review, from its first gate to its last comment (G-U1 to G-U14).

finding   what a session holds: findings with ids and marks, chunks with their status, and how they change
effect    what it wants done to the world
state     the session as a file that people can read, and back
todo      the list of tasks as a file
table     overview, plan and findings as text
posting   what will be posted, and with which verdict
talk      what all phases use: gates, pausing, saving
opening   which session it is, and the gates before the first chunk
loop      the chunks, and the look into a finding
closing   posted, saved or discarded
session   all of them, in order
"""
