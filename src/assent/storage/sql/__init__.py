"""What both SQL stores share: rows and their values, transactions, reads. Each dialect has its own queries by these names.

Rule 1: nothing here knows a driver; a `Session` runs the named queries.
"""
