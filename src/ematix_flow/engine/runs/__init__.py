"""What a user orders: a run, a replay, a backfill, a preview, a rehearsal."""
