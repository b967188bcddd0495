"""AROUND: Spark. The only place that builds a session, and the walk over a plan's steps."""
