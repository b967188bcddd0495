"""`flow`: parse, one call to `api`, one answer."""
