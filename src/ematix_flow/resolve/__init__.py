"""RESOLVE: names become things, and pipelines get their order."""
