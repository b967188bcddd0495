"""PLAN: pure. Specs and facts become steps; nothing is written and no Spark is started."""
