"""`python -m ematix_flow.cli`: the same as `flow`."""

from __future__ import annotations

from ematix_flow.cli.root import main

main()
