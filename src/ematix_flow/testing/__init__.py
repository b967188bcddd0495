"""Shipped for users: fakes and contract suites for their own backends and projects."""
