"""The JVM connectors: which, from where, and that they are what they say."""
