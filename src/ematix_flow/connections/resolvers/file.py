"""`${file:path}`: a file that holds one secret, as container platforms mount them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ematix_flow.connections.resolvers.port import ResolverContext, Secret, unresolved


@dataclass(frozen=True, slots=True)
class FileResolver:
    """Files; relative paths are relative to the project."""

    context: ResolverContext

    def fetch(self, reference: str) -> Secret:
        """Return the file's text without its last line break."""
        try:
            file = self.context.base / Path(reference).expanduser()
        except RuntimeError:
            why = "begins with the home of a user who is not known here"
            raise unresolved("file", reference, why) from None
        try:
            value = file.read_text(encoding="utf-8").rstrip("\r\n")
        except OSError as error:
            why = f"cannot be read: {error.strerror}"
            raise unresolved("file", reference, why, where=str(file)) from error
        except UnicodeDecodeError:
            # Without its cause: that holds the bytes.
            raise unresolved("file", reference, "is not UTF-8 text", where=str(file)) from None
        except ValueError as error:  # a NUL in the path
            raise unresolved("file", reference, f"cannot be read: {error}") from None
        return Secret(value=value, source=f"file {file}")
