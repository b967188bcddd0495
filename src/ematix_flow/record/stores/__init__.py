"""Where runs are remembered, one module per kind of store."""
