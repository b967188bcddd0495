"""AROUND: the web UI. Empty until the web issue; it will never hold a Spark session."""
