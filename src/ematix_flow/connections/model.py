"""One model per kind of connection.

A model is what the user declared, before any `${...}` is resolved, so it can be
printed and compared. `resolved()` gives the values at use.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self
from urllib.parse import unquote, urlsplit

from ematix_flow._base.suggest import nearest
from ematix_flow.connections.secrets import SecretResolver
from ematix_flow.errors import DeclarationError, UnknownName

# What users of other tools also call a property.
_ALIASES = {"type": "kind", "dsn": "url"}
# The environment holds only text.
_ENVIRONMENT_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A named place where data lives."""

    kind: ClassVar[str]

    name: str
    origin: str = field(default="", compare=False)
    """Who declared it: a file and line, a TOML file or an environment variable."""
    base: Path = field(default=Path(), compare=False)
    """What relative paths are relative to: the project's folder."""

    def to_config(self) -> dict[str, Any]:
        """Return the properties that differ from their defaults, in declared order."""
        config: dict[str, Any] = {"kind": self.kind}
        for each in _properties(type(self)):
            value = getattr(self, each.name)
            if value != each.default:
                config[each.name] = value
        return config

    def resolved(self, secrets: SecretResolver) -> Self:
        """Return a copy whose `${...}` are replaced by their values, for use, never for show."""
        texts: dict[str, Any] = {
            each.name: secrets.expand(value)
            for each in _properties(type(self))
            if isinstance(value := getattr(self, each.name), str)
        }
        return dataclasses.replace(self, **texts)

    @classmethod
    def from_config(
        cls, name: str, config: Mapping[str, Any], *, origin: str = "", base: Path = Path()
    ) -> Connection:
        """Build the connection that *config* describes; an unknown key is an error."""
        values = {_ALIASES.get(key, key): value for key, value in config.items()}
        kind = values.pop("kind", None) or _kind_of_url(values.get("url"))
        if kind is None:
            raise DeclarationError(
                f"connection {name!r} has no kind (one of {', '.join(sorted(KINDS))})",
                where=origin,
                hint='add kind = "..."',
            )
        if kind not in KINDS:
            raise UnknownName.among(f"kind of connection {name!r}:", str(kind), KINDS, where=origin)
        return KINDS[kind]._build(name, values, origin=origin, base=base)

    @classmethod
    def _build(cls, name: str, values: dict[str, Any], *, origin: str, base: Path) -> Self:
        properties = {each.name: each for each in _properties(cls)}
        if "url" in values:
            values.update(cls._from_url(name, str(values.pop("url")), origin))
        for key, value in list(values.items()):
            if key not in properties:
                guess = nearest(key, properties)
                raise DeclarationError(
                    f"connection {name!r} ({cls.kind}) has no property {key!r}"
                    + (f"; did you mean {guess!r}?" if guess else "")
                    + f" (it has: {', '.join(properties)})",
                    where=origin,
                )
            expected = properties[key].metadata["type"]
            if expected is bool and value in _ENVIRONMENT_BOOLEANS:
                values[key] = _ENVIRONMENT_BOOLEANS[value]
                continue
            if not isinstance(value, expected):
                raise DeclarationError(
                    f"connection {name!r}: {key} takes a {expected.__name__}, not {value!r}",
                    where=origin,
                )
        missing = [
            key
            for key, each in properties.items()
            if each.default is dataclasses.MISSING and key not in values
        ]
        if missing:
            raise DeclarationError(
                f"connection {name!r} ({cls.kind}) lacks {', '.join(missing)}", where=origin
            )
        return cls(name=name, origin=origin, base=base, **values)

    @classmethod
    def _from_url(cls, name: str, url: str, origin: str) -> dict[str, Any]:
        """Read a URL such as `sqlite:///shop.db` (or a plain path) as properties."""
        del name, origin
        if "://" not in url:
            return {"path": url}
        parts = urlsplit(url)
        # Three slashes start a path relative to the project, four an absolute one.
        return {"path": unquote(parts.netloc + parts.path.removeprefix("/"))}


def _prop(kind: type, **options: Any) -> Any:
    return field(metadata={"type": kind}, **options)


@dataclass(frozen=True, slots=True, kw_only=True)
class PathConnection(Connection):
    """A connection that is a file or a folder."""

    path: str = _prop(str)

    @property
    def location(self) -> Path:
        """The absolute path; meant for a resolved connection."""
        return (self.base / Path(self.path).expanduser()).absolute()


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFileConnection(PathConnection):
    """A database in a file."""

    def __post_init__(self) -> None:
        # Drivers give that name a meaning; here it would silently become a file.
        if self.path.startswith(":memory:"):
            raise DeclarationError(
                f"connection {self.name!r}: in-memory databases come with the memory backend",
                where=self.origin or None,
                hint=f'give a file: path = "{self.name}.db"',
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvConnection(PathConnection):
    """CSV files: one file, or a folder whose files are the tables.

    :param schema: `text` (every column as text; the target's types then judge each value),
        `infer` (Spark reads the data once more to guess), or columns: `"id BIGINT, name STRING"`.
    """

    kind = "csv"

    header: bool = _prop(bool, default=True)
    delimiter: str = _prop(str, default=",")
    quote: str = _prop(str, default='"')
    escape: str = _prop(str, default='"')
    null_value: str = _prop(str, default="")
    encoding: str = _prop(str, default="UTF-8")
    schema: str = _prop(str, default="text")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetConnection(PathConnection):
    """Parquet files: one file, or a folder whose files and folders are the tables."""

    kind = "parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteConnection(DatabaseFileConnection):
    """A SQLite database file."""

    kind = "sqlite"


@dataclass(frozen=True, slots=True, kw_only=True)
class DuckdbConnection(DatabaseFileConnection):
    """A DuckDB database file."""

    kind = "duckdb"


KINDS: dict[str, type[Connection]] = {
    model.kind: model
    for model in (CsvConnection, ParquetConnection, SqliteConnection, DuckdbConnection)
}


def _properties(model: type[Connection]) -> tuple[dataclasses.Field[Any], ...]:
    return tuple(each for each in dataclasses.fields(model) if "type" in each.metadata)


def property_names(kind: str) -> tuple[str, ...]:
    """Return what a connection of *kind* can be given, each as its own text."""
    return (*(each.name for each in _properties(KINDS[kind])), "url", "dsn")


def _kind_of_url(url: object) -> str | None:
    scheme = str(url).partition("://")[0] if url else ""
    return scheme if scheme in KINDS else None
