"""DECLARE: where data lives. Models per kind, and the order in which they are found."""
