"""A code review, from its first gate to its last comment (G-U1 to G-U14).

finding   what a session holds: findings with ids and marks, chunks with their status, and how they change
state     the same as a file that people can read, and back
todo      the list of tasks as a file
table     findings, overview and verdict as text
posting   what will be posted, and with which verdict
session   the conversation itself
"""
