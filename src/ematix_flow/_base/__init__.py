"""Small foundations with no knowledge of pipelines: clock, ids, redaction, files."""
