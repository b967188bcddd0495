"""WRITE: rows become durable, then land in one commit."""
