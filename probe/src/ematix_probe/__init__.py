"""Data probes that need no pipeline around them."""

from ematix_probe._version import __version__

__all__ = ["__version__"]
