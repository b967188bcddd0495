"""What the runs of the tests have shown, kept between processes in one file per engine."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Proofs:
    """For each rule the tests that passed, and what each ran on."""

    tests: dict[str, dict[str, set[str]]] = field(default_factory=dict)

    def add(self, rule: str, test: str, places: Iterable[str]) -> None:
        """Note that *test* passed; its parameters are one test on several places."""
        self.tests.setdefault(rule, {}).setdefault(test.partition("[")[0], set()).update(places)

    def join(self, other: Proofs) -> None:
        """Take in what another process has shown."""
        for rule, tests in other.tests.items():
            for test, places in tests.items():
                self.add(rule, test, places)

    def write(self, file: Path) -> None:
        """Keep them for the process that writes the page."""
        file.parent.mkdir(parents=True, exist_ok=True)
        plain = {
            rule: {test: sorted(places) for test, places in tests.items()}
            for rule, tests in self.tests.items()
        }
        file.write_text(json.dumps(plain, indent=1, sort_keys=True), encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Proofs:
        """Return what another process kept."""
        kept = json.loads(file.read_text(encoding="utf-8"))
        return cls(
            {
                rule: {test: set(places) for test, places in tests.items()}
                for rule, tests in kept.items()
            }
        )
