"""How every command answers: text for people, JSON for programs.

Results go to stdout; errors and progress go to stderr, so that
`flow ... --format json | jq` always works.
"""

from __future__ import annotations

import json
import re
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, TextIO

from ematix_flow._base.redact import redact, redact_data
from ematix_flow.errors import FlowError

JSON_VERSION = 1
_NUMBER = re.compile(r"[\d,.]+")
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where and how a command speaks."""

    format: str = "text"
    verbose: bool = False
    stdout: TextIO = field(default_factory=lambda: sys.stdout)

    @property
    def is_json(self) -> bool:
        """Tell whether a program is listening."""
        return self.format == "json"

    def emit(self, data: Mapping[str, object], text: str) -> None:
        """Print the result once: *data* as versioned JSON, or *text*."""
        if self.is_json:
            self._write(json.dumps(redact_data({"version": JSON_VERSION, **data}), indent=2))
        else:
            self._write(redact(text))

    def emit_table(
        self, data: Mapping[str, object], columns: list[str], rows: list[list[str]], *, empty: str
    ) -> None:
        """Print the result once: *data* as versioned JSON, or the rows as a table."""
        if self.is_json or not rows:
            self.emit(data, empty)
        else:
            self._write_table(columns, rows)

    def tell(self, text: str) -> None:
        """Print a line for people before the result is there; programs wait for the result."""
        if not self.is_json:
            self._write(redact(text))

    def tell_table(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str] = ()
    ) -> None:
        """Print a table for people before the result is there.

        :param styles: What colours each row on a terminal, such as `green`; may be left out.
        """
        if not self.is_json:
            self._write_table(columns, rows, styles)

    def _write_table(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str] = ()
    ) -> None:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
            numbers = all(not cell or _NUMBER.fullmatch(cell) for cell in cells)
            is_id = all(map(_ID.fullmatch, cells))
            table.add_column(
                column,
                overflow="fold",
                justify="right" if numbers else "left",
                min_width=len(cells[0]) if is_id else None,
                no_wrap=is_id,
            )
        for row, style in zip_longest(rows, styles):
            table.add_row(*(Text(redact(cell)) for cell in row), style=style)
        # Ids are copied from the screen, so they are not folded. Beside them a narrow terminal has
        # no room for columns: it had better break whole lines itself.
        fits = self.stdout.isatty() and not any(column.no_wrap for column in table.columns)
        width = None if fits else 160
        Console(file=self.stdout, width=width).print(table)

    def error(self, error: FlowError) -> None:
        """Print what went wrong, with no stack of ours unless asked."""
        if self.is_json:
            body: dict[str, Any] = {"version": JSON_VERSION, "error": error.to_json()}
            sys.stderr.write(json.dumps(body, indent=2) + "\n")
        else:
            sys.stderr.write(f"Error: {error}\n")
        if self.verbose:
            sys.stderr.write(redact("".join(traceback.format_exception(error))))

    def _write(self, text: str) -> None:
        self.stdout.write(text + "\n")
