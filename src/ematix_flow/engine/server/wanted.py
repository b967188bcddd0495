"""What a run, or a project, wants of a local Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ematix_flow.engine.host.java import Java, find_java
from ematix_flow.engine.jars.store import JarCache
from ematix_flow.engine.server.fingerprint import Fingerprint, fingerprint_of
from ematix_flow.engine.spark.classic_conf import ClassicConf, classic_conf
from ematix_flow.engine.spark.sizing import Sizing


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkNeeds:
    """Java, connectors, and the conf that follows from them."""

    java: Java
    connectors: tuple[str, ...]
    conf_for: Callable[[tuple[str, ...]], ClassicConf]

    def fingerprint(self) -> Fingerprint:
        """Return what a server must match."""
        return fingerprint_of(self.conf_for(self.connectors), self.java)

    def with_more(self, connectors: Sequence[str]) -> SparkNeeds:
        """Return the same, with further connectors."""
        both = tuple(dict.fromkeys((*connectors, *self.connectors)))
        return SparkNeeds(java=self.java, connectors=both, conf_for=self.conf_for)


def wanted_for(
    master: str,
    *,
    sizing: Sizing,
    connectors: Sequence[str],
    state_dir: Path,
    jars: JarCache | None = None,
) -> SparkNeeds:
    """Find Java and say how Spark would be started; jars are fetched when the conf is asked for."""
    java, jar_cache = find_java(), jars or JarCache()

    @cache
    def conf_for(names: tuple[str, ...]) -> ClassicConf:
        return classic_conf(
            master=master,
            sizing=sizing,
            connectors=names,
            jars=jar_cache,
            java=java,
            state_dir=state_dir.absolute(),
        )

    unique = tuple(dict.fromkeys(connectors))
    return SparkNeeds(java=java, connectors=unique, conf_for=conf_for)
