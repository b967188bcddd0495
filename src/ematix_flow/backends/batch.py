"""How many rows travel together."""

# Enough to fill a Parquet row group well, few enough to keep this process small.
BATCH_ROWS = 50_000
