"""The conf of a classic Spark: sizing, connectors and the places it may write to.

The embedded session and the warm server are built from the same function, so a
run behaves the same on both.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ematix_flow.engine.host.java import Java
from ematix_flow.engine.jars.store import EXTENSIONS, JarCache
from ematix_flow.engine.spark.archive import archive_options, is_archive_option
from ematix_flow.engine.spark.sizing import JAVA_OPTIONS, Sizing

JARS = "spark.jars"
WAREHOUSE = "spark.sql.warehouse.dir"
_DERBY_HOME = "-Dderby.system.home="
_OUR_WAREHOUSE = "unused-warehouse"
_CRASH_FILE = "-XX:ErrorFile="


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicConf:
    """What a classic Spark is started with.

    :param values: The start-up conf, jars included.
    :param session: The conf of each session.
    :param jars: The connectors' jars, path to SHA-256.
    :param additions: Other conf that the connectors brought.
    """

    master: str
    values: Mapping[str, str]
    session: Mapping[str, str]
    jars: Mapping[str, str] = field(default_factory=dict)
    additions: Mapping[str, str] = field(default_factory=dict)

    def serves(self, other: ClassicConf) -> bool:
        """Tell whether a Spark started with this conf can also run *other*.

        More connectors than needed do no harm; all else that is fixed at the start must agree.
        """
        return (
            other.jars.items() <= self.jars.items()
            and other.additions.items() <= self.additions.items()
            and other.extensions <= self.extensions
            and other.fixed == self.fixed
        )

    @property
    def extensions(self) -> frozenset[str]:
        """Return the SQL extensions, whose order does not matter."""
        return frozenset(self.values.get(EXTENSIONS, "").split(",")) - {""}

    @property
    def fixed(self) -> dict[str, str]:
        """Return what two confs must share.

        That is all but what connectors add, the class archive, and the places for Spark's
        litter, which nobody reads.
        """
        added = {JARS, EXTENSIONS, *self.additions}
        if Path(self.values.get(WAREHOUSE, "")).name == _OUR_WAREHOUSE:
            added.add(WAREHOUSE)
        kept = {key: value for key, value in self.values.items() if key not in added}
        options = shlex.split(kept.get(JAVA_OPTIONS, ""))
        kept[JAVA_OPTIONS] = " ".join(
            part
            for part in options
            if not is_archive_option(part) and not part.startswith((_DERBY_HOME, _CRASH_FILE))
        )
        theirs = set(self.values.get(JARS, "").split(",")) - set(self.jars)
        return kept | {JARS: ",".join(sorted(theirs))}


def classic_conf(
    *,
    master: str,
    sizing: Sizing,
    connectors: Sequence[str],
    jars: JarCache,
    java: Java,
    state_dir: Path,
) -> ClassicConf:
    """Put the conf together; jars that are missing are fetched here."""
    hashes = {
        str(path): jar.sha256
        for path, jar in zip(
            jars.ensure(connectors, java=java), jars.lock.jars(connectors), strict=True
        )
    }
    additions = jars.conf(connectors)
    values = {**additions, **sizing.static_conf()}
    values["spark.master"] = master
    values.setdefault("spark.app.name", "ematix-flow")
    if master.startswith("local"):
        # Spark would leave it in the directory the user happens to be in.
        values.setdefault(WAREHOUSE, str(state_dir / "spark" / _OUR_WAREHOUSE))
    lists = {JARS: tuple(hashes), EXTENSIONS: tuple(additions.get(EXTENSIONS, "").split(","))}
    for key, ours in lists.items():
        theirs = (sizing.value(key) or "").split(",")
        if merged := ",".join(dict.fromkeys(part for part in (*ours, *theirs) if part)):
            values[key] = merged
    values[JAVA_OPTIONS] = " ".join(
        part
        for part in (
            values.get(JAVA_OPTIONS, ""),
            f"{_DERBY_HOME}{_quoted(state_dir / 'spark' / 'derby')}",
            f"{_CRASH_FILE}{_quoted(state_dir / 'logs' / 'jvm-crash-%p.log')}",
            *archive_options(java),
        )
        if part
    )
    return ClassicConf(
        master=master,
        values=values,
        session=sizing.session_conf(),
        jars=hashes,
        additions={
            key: value
            for key, value in additions.items()
            if key != EXTENSIONS and sizing.value(key) is None
        },
    )


def _quoted(path: Path) -> str:
    return f'"{path}"' if " " in str(path) else str(path)
