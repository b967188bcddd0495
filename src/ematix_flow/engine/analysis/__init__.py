"""What Spark would make of a query or a function, learnt without reading a row."""
