"""Fetch jars with the Ivy that pyspark ships: no other tool is needed.

Exactly the jars asked for, nothing they depend on. Ivy's own cache is a
throw-away directory, so nothing of ours mixes with the user's `~/.ivy2`.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

from ematix_flow._base.redact import redact
from ematix_flow.engine.host.java import Java
from ematix_flow.engine.jars.lock import LockedJar
from ematix_flow.errors import EngineError, JarError

SETTINGS_VARIABLE = "EMATIX_FLOW_IVY_SETTINGS"
_FETCH_SECONDS = 900

_SETTINGS = """\
<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers>
    <ibiblio name="central" m2compatible="true" usepoms="false" useMavenMetadata="false"/>
  </resolvers>
</ivysettings>
"""

_MODULE = """\
<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
  <info organisation="ematix-flow" module="connectors"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>
{dependencies}
  </dependencies>
</ivy-module>
"""


def fetch_with_ivy(jars: Sequence[LockedJar], into: Path, java: Java) -> None:
    """Download *jars* to *into*, each under its `file_name`.

    :param into: An empty directory of the caller's, removed by the caller.
    """
    (into / "ivy.xml").write_text(_module(jars), "utf-8")
    chosen = os.environ.get(SETTINGS_VARIABLE)
    settings = Path(chosen) if chosen else into / "ivysettings.xml"
    if not chosen:
        settings.write_text(_SETTINGS, "utf-8")
    elif not settings.is_file():
        raise JarError(f"{SETTINGS_VARIABLE} names {chosen!r}, which is not a file")
    pattern = into / "[organisation]_[artifact]-[revision](-[classifier]).[ext]"
    command = [
        *(str(java.home / "bin" / "java"), "-jar", str(_ivy_jar())),
        *("-settings", str(settings), "-cache", str(into / "ivy-cache")),
        *("-ivy", str(into / "ivy.xml"), "-confs", "default", "-types", "jar"),
        *("-retrieve", str(pattern)),
    ]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_FETCH_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _not_fetched(jars, f"no end after {_FETCH_SECONDS} s") from None
    missing = [jar for jar in jars if not (into / jar.file_name).is_file()]
    if missing:
        raise _not_fetched(missing, _reason(done.stdout + done.stderr))


def _module(jars: Sequence[LockedJar]) -> str:
    return _MODULE.format(dependencies="\n".join(map(_dependency, jars)))


def _dependency(jar: LockedJar) -> str:
    group, artifact, version, classifier = jar.parts
    chosen = f" m:classifier={quoteattr(classifier)}" if classifier else ""
    return (
        f"    <dependency org={quoteattr(group)} name={quoteattr(artifact)} "
        f'rev={quoteattr(version)} transitive="false" conf="default->*">'
        f'<artifact name={quoteattr(artifact)} type="jar" ext="jar"{chosen}/></dependency>'
    )


def _ivy_jar() -> Path:
    import pyspark

    home = os.environ.get("SPARK_HOME", "")
    places = (Path(pyspark.__file__).parent, *([Path(home)] if home else []))
    found = [jar for place in places for jar in sorted((place / "jars").glob("ivy-*.jar"))]
    if not found:
        raise EngineError(
            "the installed pyspark holds no Ivy, so connector jars cannot be fetched",
            hint="pip install 'ematix-flow[spark]'",
        )
    return found[0]


def _not_fetched(jars: Sequence[LockedJar], reason: str) -> JarError:
    names = ", ".join(jar.coordinates for jar in jars)
    return JarError(
        f"cannot fetch {names}: {reason}",
        hint=f"check the network, or name a mirror in an Ivy settings file ({SETTINGS_VARIABLE})",
    )


def _reason(output: str) -> str:
    """Return the most telling line of Ivy's output."""
    for pattern in (
        r"Server access error at url \S+ \((.+)\)",
        r"(?i)((?:java\.\S+Exception|error): .+)",
        r"(UNRESOLVED DEPENDENCY: .+?):? not found",
        r"(.+: not found)",
    ):
        if found := re.search(pattern, output):
            return redact(found[1].strip())
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return redact(lines[-1]) if lines else "Ivy said nothing"
