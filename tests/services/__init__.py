"""Real servers for the test-suite, started without containers.

`plugin.py` is what tests use; `python -m tests.services` is what developers use. Both go through
`supervisor.py`, which starts each server once, reuses it, and talks to no server it did not start.
"""
