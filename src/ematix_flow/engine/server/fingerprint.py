"""What a warm server was started with, and whether that suits a run."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ematix_flow._version import __version__
from ematix_flow.engine.host.java import Java
from ematix_flow.engine.spark.classic_conf import ClassicConf


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """Versions, conf and jars of one Spark. Two that agree run a pipeline alike."""

    ematix_flow: str
    pyspark: str
    python: str
    java: str
    conf: str
    extensions: tuple[str, ...] = ()
    jars: Mapping[str, str] = field(default_factory=dict)
    additions: Mapping[str, str] = field(default_factory=dict)

    def differences(self, wanted: Fingerprint) -> tuple[str, ...]:
        """Say what keeps a server with this fingerprint from running *wanted*; () if nothing."""
        found = [
            f"{name} is {mine}, not {theirs}"
            for name, mine, theirs in (
                ("ematix-flow", self.ematix_flow, wanted.ematix_flow),
                ("pyspark", self.pyspark, wanted.pyspark),
                ("Python", self.python, wanted.python),
                ("Java", self.java, wanted.java),
            )
            if mine != theirs
        ]
        if self.conf != wanted.conf:
            found.append("Spark's start-up settings changed")
        if not (
            wanted.jars.items() <= self.jars.items()
            and wanted.additions.items() <= self.additions.items()
            and set(wanted.extensions) <= set(self.extensions)
        ):
            found.append("it lacks connectors of this run, or their jars changed")
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """Return it as the server's state file holds it."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Fingerprint:
        """Read it back; a file of another version lacks fields, and then differs."""
        text = {
            name: str(data.get(name, ""))
            for name in ("ematix_flow", "pyspark", "python", "java", "conf")
        }
        return cls(
            **text,
            extensions=tuple(data.get("extensions", ())),
            jars=dict(data.get("jars", {})),
            additions=dict(data.get("additions", {})),
        )


def fingerprint_of(conf: ClassicConf, java: Java) -> Fingerprint:
    """Return the fingerprint of a Spark that this process would start with *conf*."""
    import pyspark

    fixed = json.dumps({"master": conf.master, **conf.fixed}, sort_keys=True)
    return Fingerprint(
        ematix_flow=__version__,
        pyspark=pyspark.__version__,
        python=f"{platform.python_version()} ({sys.executable})",
        java=f"{java.version} ({java.home})",
        conf=hashlib.sha256(fixed.encode()).hexdigest()[:16],
        extensions=tuple(sorted(conf.extensions)),
        jars=dict(conf.jars),
        additions=dict(conf.additions),
    )
