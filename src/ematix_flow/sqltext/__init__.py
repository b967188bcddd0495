"""DECLARE: all SQL text, as pure functions. Nothing here has a connection."""
