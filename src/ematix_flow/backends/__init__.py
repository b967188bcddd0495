"""READ and WRITE: everything that opens a data connection, one folder per kind in `impl/`."""
