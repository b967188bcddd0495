"""`ematix-flow.toml`: what a project says without Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ematix_flow._base.redact import looks_secret, register_secret
from ematix_flow._base.suggest import did_you_mean
from ematix_flow.connections.toml_file import read_toml
from ematix_flow.errors import ConfigError

FILE_NAMES = ("ematix-flow.toml", ".ematix-flow.toml")
STATE_DIRECTORY = ".ematix-flow"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectConfig:
    """The project's settings, each with its default.

    :param modules: Modules to load; empty means every module of the folder.
    :param engine: Where to run: `local`, a master URL, `sc://...`, `sail` or `auto`.
    :param auto: The engines that `auto` may choose from.
    :param connectors: Connectors of the jar lock to load beyond those the pipelines need.
    :param staging_path: A folder that every machine of the engine sees, for staged rows.
    :param direct_up_to: Up to how much data goes from database to database without Spark.
    :param spark: Spark settings that win over ours.
    :param pipelines: Keywords of pipelines, by name; they win over those in Python.
    """

    directory: Path
    file: Path | None = None
    modules: tuple[str, ...] = ()
    engine: str | None = None
    auto: tuple[str, ...] = ()
    connectors: tuple[str, ...] = ()
    staging_path: str | None = None
    direct_up_to: str | None = None
    spark: Mapping[str, str] = field(default_factory=dict)
    connections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    pipelines: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def state_directory(self) -> Path:
        """Where the project's local state lives."""
        return self.directory / STATE_DIRECTORY

    @property
    def origin(self) -> str:
        """The file's name, for messages."""
        return str(self.file or self.directory / FILE_NAMES[0])


def load_config(directory: Path) -> ProjectConfig:
    """Read the project's TOML, if there is one; an unknown key is an error."""
    directory = directory.absolute()
    if not directory.is_dir():
        raise ConfigError(f"there is no project folder {str(directory)!r}")
    file = next((directory / name for name in FILE_NAMES if (directory / name).is_file()), None)
    if file is None:
        return ProjectConfig(directory=directory)
    content = read_toml(file, 'engine = "local"')
    for key, value in content.items():
        _check(key, value, file)
    for name, keywords in content.get("pipelines", {}).items():
        if not isinstance(keywords, dict):
            raise ConfigError(
                f"pipelines.{name} takes a table of keywords, not {keywords!r}",
                where=str(file),
                hint=f"write [pipelines.{name}] and its keywords under it",
            )
    spark = {key: _spark_text(value) for key, value in _flatten(content.get("spark", {}))}
    for key, text in spark.items():
        if looks_secret(key) and text not in ("true", "false"):  # a switch is no secret
            register_secret(text)
    return ProjectConfig(
        directory=directory,
        file=file,
        modules=tuple(content.get("modules", ())),
        engine=content.get("engine"),
        auto=tuple(content.get("auto", ())),
        connectors=tuple(content.get("connectors", ())),
        staging_path=content.get("staging_path"),
        direct_up_to=content.get("direct_up_to"),
        spark=spark,
        connections=content.get("connections", {}),
        pipelines=content.get("pipelines", {}),
    )


_KEYS: dict[str, tuple[type, str]] = {
    "modules": (list, "a list of module names"),
    "engine": (str, "an engine's name"),
    "auto": (list, "a list of engines"),
    "connectors": (list, "a list of connector names"),
    "staging_path": (str, "a folder"),
    "direct_up_to": (str, "an amount of data"),
    "spark": (dict, "a table of Spark settings"),
    "connections": (dict, "a table of connections"),
    "pipelines": (dict, "a table of pipelines"),
}


def _check(key: str, value: object, file: Path) -> None:
    if key not in _KEYS:
        raise ConfigError(
            f"unknown key {key!r}"
            + did_you_mean(key, _KEYS)
            + f" (known: {', '.join(sorted(_KEYS))})",
            where=str(file),
        )
    kind, meaning = _KEYS[key]
    if not isinstance(value, kind):
        raise ConfigError(f"{key} takes {meaning}, not {value!r}", where=str(file))
    if kind is list and not all(isinstance(item, str) for item in value):  # type: ignore[attr-defined]  # a list, by the check above
        raise ConfigError(f"{key} takes {meaning}, not {value!r}", where=str(file))


def _flatten(table: Mapping[str, Any], head: str = "") -> list[tuple[str, Any]]:
    """Read `spark.sql.x = 1` (nested by TOML) and `"spark.sql.x" = 1` alike."""
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        name = f"{head}.{key}" if head else key
        found += _flatten(value, name) if isinstance(value, dict) else [(name, value)]
    return found


def _spark_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
