"""The walk over the steps of a batch plan."""
