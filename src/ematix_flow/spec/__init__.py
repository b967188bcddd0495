"""DECLARE: what a user can say, as frozen values. Nothing here acts."""
