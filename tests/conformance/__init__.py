"""Which tests prove which promise: marks on tests become docs/conformance.md."""
