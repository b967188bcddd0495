"""What every connection has: a name, an origin, properties, and a way in and out of config.

A model is what the user declared, before any `${...}` is resolved, so it can be
printed and compared. `resolved()` gives the values at use.
"""

from __future__ import annotations

import copy
import dataclasses
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack, overload

from ematix_flow._base.location import Location, caller_location
from ematix_flow._base.redact import register_secret
from ematix_flow.connections.frames import FrameKind, frame_access
from ematix_flow.connections.inline import declared_by_hand, warn_inline
from ematix_flow.connections.model.address import Address
from ematix_flow.connections.model.config import read_config, unknown_property
from ematix_flow.connections.model.property import Property, prop, properties_of
from ematix_flow.connections.model.registry import KINDS
from ematix_flow.connections.model.settings import Settings
from ematix_flow.connections.model.shown import shown_value
from ematix_flow.connections.model.url import ENCODE, BadUrl, UnknownInUrl, is_pending, said_by
from ematix_flow.connections.model.values import Unfit, declared, from_text
from ematix_flow.connections.secrets import SecretResolver, register_named
from ematix_flow.errors import DeclarationError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ematix_flow.declare.keywords import PipelineKeywords
    from ematix_flow.record.run import RunResult


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Connection:
    """A named place where data lives."""

    kind: ClassVar[str]
    schemes: ClassVar[tuple[str, ...]] = ()
    """The schemes of URLs that can only mean this kind."""
    other_schemes: ClassVar[tuple[str, ...]] = ()
    """The schemes of URLs that it takes as well, once its kind is said."""
    requires: ClassVar[tuple[str, ...]] = ()
    """The properties that must be given, unless a URL says them."""
    aliases: ClassVar[Mapping[str, str]] = {}
    """Other names of its properties."""
    groups: ClassVar[tuple[str, ...]] = ()
    """Heads of its properties: `tls = {ca_file = ...}` is `tls = true, tls_ca_file = ...`."""

    name: str = ""
    origin: str = field(default="", compare=False)
    """Who declared it: a file and line, a TOML file or an environment variable."""
    base: Path = field(default=Path(), compare=False)
    """What relative paths are relative to: the project's folder."""
    live: bool = field(default=False, compare=False)
    """Whether every `${...}` is resolved: for use, never for show."""
    url: str | None = prop(None, "All in one: a URL, or a reference to one")

    def __init_subclass__(cls) -> None:
        if "kind" in vars(cls):
            KINDS[cls.kind] = cls

    def __new__(cls, **values: Any) -> Self:
        """Refuse an unknown keyword in our words, not as a TypeError of the initialiser's."""
        known = (each.name for each in dataclasses.fields(cls))
        if unknown := values.keys() - set(known):
            where = str(values.get("origin") or caller_location())
            raise unknown_property(cls, str(values.get("name", "")), min(unknown), where)
        return object.__new__(cls)

    def __post_init__(self) -> None:
        if not self.origin:
            object.__setattr__(self, "origin", _declared_at())
        for each in properties_of(type(self)).values():
            try:
                value = declared(each, getattr(self, each.name))
            except Unfit as error:
                raise self._wrong(f"{each.name} {error}") from None
            object.__setattr__(self, each.name, value)
        if self.url is not None and not is_pending(self.url):
            self._read_url(self.url)
        if self.url is None and (missing := [key for key in self.requires if not self._has(key)]):
            raise DeclarationError(
                f"connection {self.name!r} ({self.kind}) lacks {', '.join(missing)}",
                where=self.origin or None,
                hint=f'write {missing[0]} = "..."' if declared_by_hand(self.origin) else None,
            )
        self._check()
        if not self.live and declared_by_hand(self.origin):
            warn_inline(self.name, self.config_values(), self.origin)

    # In and out --------------------------------------------------------------------------------

    @overload
    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], /, *, origin: str = "", base: Path = ...
    ) -> Connection: ...

    @overload
    @classmethod
    def from_config(
        cls, name: str, config: Mapping[str, Any], /, *, origin: str = "", base: Path = ...
    ) -> Connection: ...

    @classmethod
    def from_config(cls, *args: Any, origin: str = "", base: Path = Path()) -> Connection:
        """Build the connection that a config describes; an unknown key is an error."""
        name, config = args if len(args) == 2 else ("", *args)
        model, values = read_config(name, config, origin)
        return model(origin=origin, base=base, **values)

    def to_config(self) -> dict[str, Any]:
        """Return name, kind and the properties that differ from their defaults, in order."""
        config: dict[str, Any] = {"name": self.name} if self.name else {}
        config["kind"] = self.kind
        for each, value in self.config_values():
            config[each.name] = dict(value) if isinstance(value, Settings) else value
        return config

    def config_values(self) -> Iterator[tuple[Property, Any]]:
        """Give each property that differs from its default, and its value."""
        for each in properties_of(type(self)).values():
            value = getattr(self, each.name)
            if value != each.default:
                yield each, value

    def shown(self) -> dict[str, Any]:
        """Return the config as anyone may see it: references stay, secrets are masked."""
        values = {each.name: shown_value(each, value) for each, value in self.config_values()}
        return {"kind": self.kind, **values}

    def __repr__(self) -> str:
        values = {"name": self.name, **self.shown()}
        del values["kind"]
        told = ", ".join(f"{key}={value!r}" for key, value in values.items())
        return f"{type(self).__name__}({told})"

    def based(self, base: Path) -> Self:
        """Return a copy whose relative paths are relative to *base*."""
        moved = copy.copy(self)
        object.__setattr__(moved, "base", base)
        return moved

    def resolved(self, secrets: SecretResolver) -> Self:
        """Return a copy whose `${...}` are replaced by their values, for use, never for show."""
        values: dict[str, Any] = {}
        for each, value in self.config_values():
            values[each.name] = _resolved(each, value, secrets)
        live = dataclasses.replace(self, live=True, **values)
        for each, value in live.config_values():
            _register(each, value)
        return live

    # Frames ------------------------------------------------------------------------------------

    def read_df(
        self, sql: str, as_: FrameKind | None = None, *, spark: SparkSession | None = None
    ) -> Any:
        """Return the rows of *sql*, which runs in this connection, as a frame with exact types.

        :param as_: `pandas` (where it is installed, the default), `polars`, `pyarrow` or `spark`.
        :param spark: The session that a Spark frame belongs to.
        """
        kind = "spark" if as_ is None and spark is not None else as_
        return frame_access().read(self, sql, kind, spark)

    def write_df(
        self,
        df: Any,
        table: type | str,
        *,
        spark: SparkSession | None = None,
        **keywords: Unpack[PipelineKeywords],
    ) -> RunResult:
        """Load a Spark, pandas, polars or pyarrow frame into *table*: one run, all or nothing.

        Takes the keywords of a pipeline: `mode`, `keys`, `on_drift`, `name`, `engine` ...

        :param table: A declared table, or its name: the frame then tells its columns.
        :param spark: A session of the caller's to run on, instead of the engine's own.
        """
        done: RunResult = frame_access().write(self, df, table, keywords, spark)
        return done

    # For a kind to fill in ---------------------------------------------------------------------

    def _check(self) -> None:
        """Raise what no single property can tell."""

    @classmethod
    def _from_address(cls, address: Address) -> dict[str, str]:
        """Return the properties that a URL says, its query aside."""
        del address
        return {}

    @classmethod
    def _from_text(cls, url: str) -> dict[str, str] | None:
        """Return the properties that a text without a scheme says, or None if it is no URL."""
        del url
        return None

    # -------------------------------------------------------------------------------------------

    def _has(self, key: str) -> bool:
        return bool(getattr(self, key))

    def _wrong(self, what: str, *, hint: str | None = None) -> DeclarationError:
        where = self.origin or None
        return DeclarationError(f"connection {self.name!r}: {what}", where=where, hint=hint)

    def _said(self, url: str) -> dict[str, str]:
        try:
            return said_by(type(self), url)
        except BadUrl as error:
            raise self._wrong(str(error), hint=error.hint) from None
        except UnknownInUrl as error:
            [key] = error.args
            raise unknown_property(type(self), self.name, key, self.origin) from None

    def _read_url(self, url: str) -> None:
        """Put what the URL says where it belongs; what is said twice must agree."""
        known = properties_of(type(self))
        object.__setattr__(self, "url", None)
        for key, text in self._said(url).items():
            try:
                value = declared(known[key], from_text(known[key], text))
            except Unfit as error:
                # Not what was given: a URL cut in the wrong place may show its password.
                raise self._wrong(f"its URL: {key} takes {error.takes}", hint=ENCODE) from None
            given = getattr(self, key)
            if given not in (known[key].default, value):
                raise self._wrong(f"{key} is given twice, in its URL and beside it")
            object.__setattr__(self, key, value)


def _declared_at() -> str:
    """Return the user's line that constructs a connection, or nothing where we do it."""
    caller = sys._getframe(3)  # above the initialiser that dataclass wrote
    if str(caller.f_globals.get("__name__", "")).startswith("ematix_flow."):
        return ""
    return str(Location(caller.f_code.co_filename, caller.f_lineno))


def _resolved(each: Property, value: Any, secrets: SecretResolver) -> Any:
    match value:
        case str():
            return from_text(each, secrets.expand(value))
        case Settings():
            return Settings({key: secrets.expand(text) for key, text in value.items()})
        case _:
            return value


def _register(each: Property, value: Any) -> None:
    if isinstance(value, Settings):
        for key, text in value.items():
            register_named(key, text)
    elif each.secret and isinstance(value, str):
        register_secret(value)
