"""One folder per kind: `__init__` (what it can do, no driver), `read`, `write`, `types`."""
