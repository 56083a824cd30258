"""Duties: what every server does by itself, one file each, all of one shape.

A duty keeps one invariant, says which in its docstring, and has `run_once()`, which returns counts. Any server does
any duty at any time; the database's row locks decide who wins.
"""
