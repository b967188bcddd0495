"""The warm server: a local Spark that outlives its runs."""
