"""What `flow bench` runs. Empty until the benchmark issue."""
