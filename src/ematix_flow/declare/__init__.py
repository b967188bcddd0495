"""DECLARE: user modules become a Project."""
