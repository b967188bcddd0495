"""What this machine has: cores, memory, Java, packages, and where we may keep things."""
