"""AROUND: what a run tells while it works."""
