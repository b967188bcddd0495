"""READ: rows come in."""
