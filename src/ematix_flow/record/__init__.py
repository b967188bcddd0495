"""RECORD: what happened, kept."""
