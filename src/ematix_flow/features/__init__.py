"""AROUND: feature views, training sets, online serving. Empty until the feature store issue."""
