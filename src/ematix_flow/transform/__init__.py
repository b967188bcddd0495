"""TRANSFORM: frames become frames. Nothing here knows a backend."""
