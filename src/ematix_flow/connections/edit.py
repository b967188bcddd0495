"""Writing a connection into a TOML file: judged by its model first, secrets kept out."""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ematix_flow._base.files import write_whole
from ematix_flow.connections.inline import InlineCredentialWarning, inline_secrets
from ematix_flow.connections.model import KINDS, Connection, properties_of
from ematix_flow.connections.model.settings import Settings
from ematix_flow.connections.model.values import from_text
from ematix_flow.connections.toml_text import with_values
from ematix_flow.connections.variables import in_variables
from ematix_flow.errors import ConfigError, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlFile:
    """A TOML file of connections.

    :param mode: Who may read it, where it has to be made.
    :param private: Only its owner may read it, also where it is there already.
    """

    path: Path
    mode: int = 0o644
    private: bool = False

    def set(
        self, name: str, assignments: Sequence[str], *, allow_inline: bool = False
    ) -> Connection:
        """Set `key=value`s of the connection *name*; the rest of the file stays as it is."""
        text = self._text()
        content = self._content(text)
        table = self._table(content, name)
        before: Any = content
        for key in table:
            before = before.get(key, {})
            if not isinstance(before, dict):
                raise ConfigError(
                    f"{key} takes a table, and is a {type(before).__name__}; nothing was changed",
                    where=str(self.path),
                    hint="change it in an editor",
                )
        given = _pairs(assignments)
        values = _values(before, given)
        built = self._built(name, {**before, **values})
        if not allow_inline:
            _refuse_inline(built, given, name)
        edited = with_values(text, table, values)
        self._write(edited)
        return built

    def _write(self, text: str) -> None:
        try:
            # A link stays one: what it leads to is written.
            write_whole(self.path.resolve(), text.encode("utf-8"), mode=self._mode())
        except UnicodeEncodeError as error:
            raise UsageError("a value is not text; nothing was changed") from error
        except OSError as error:
            why = f"cannot be written: {error.strerror}; nothing was changed"
            raise ConfigError(why, where=str(self.path)) from error

    def _built(self, name: str, config: Mapping[str, Any]) -> Connection:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InlineCredentialWarning)
            return Connection.from_config(name, config, origin=str(self.path))

    def _text(self) -> str:
        if not self.path.exists():
            return ""
        try:
            return self.path.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise ConfigError(f"not valid TOML: {error}", where=str(self.path)) from error
        except OSError as error:
            raise ConfigError(f"cannot be read: {error.strerror}", where=str(self.path)) from error

    def _content(self, text: str) -> dict[str, Any]:
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"not valid TOML: {error}", where=str(self.path)) from error

    def _table(self, content: Mapping[str, Any], name: str) -> tuple[str, ...]:
        # The user's own file may do without the heading, as it holds nothing else.
        flat = self.private and content and "connections" not in content
        return (name,) if flat else ("connections", name)

    def _mode(self) -> int:
        if self.private or not self.path.exists():
            return self.mode
        return self.path.stat().st_mode & 0o777


def _pairs(assignments: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in assignments:
        key, equals, value = each.partition("=")
        if not equals or not key.strip():
            raise UsageError(
                "a property is set by key=value, and one of the arguments is not of that form",
                hint="flow connections set warehouse kind=postgres host=db database=shop",
            )
        found[key.strip()] = value
    return found


def _values(before: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """Read each text as its property's type; `properties.x=1` adds to a table."""
    kind = given.get("kind") or given.get("type") or before.get("kind") or before.get("type")
    url = given.get("url") or given.get("dsn") or before.get("url") or before.get("dsn")
    model = KINDS.get(str(kind)) or _by_scheme(url)
    known = properties_of(model) if model else {}
    aliases = model.aliases if model else {}
    values: dict[str, Any] = {}
    for key, text in given.items():
        head, dot, inner = key.partition(".")
        name = aliases.get(head, head)
        if dot and name in known and known[name].type is Settings:
            table = values.get(head, before.get(head, {}))
            values[head] = {**(table if isinstance(table, dict) else {}), inner: text}
        else:
            values[key] = from_text(known[name], text) if name in known else text
    return values


def _by_scheme(url: object) -> type[Connection] | None:
    scheme = str(url or "").partition("://")[0].lower()
    return next((model for model in KINDS.values() if scheme in model.schemes), None)


def _refuse_inline(built: Connection, given: Mapping[str, str], name: str) -> None:
    """Refuse a secret among *given*; one that the file holds already is warned about in use."""
    set_now = {_full_name(built, key) for key in given}
    found = [
        key
        for key in inline_secrets(built.config_values())
        if not set_now.isdisjoint({key, key.partition(".")[0], "url"})
    ]
    if not found:
        return
    secret = found[0]
    variable = in_variables(f"{name}_{secret}")
    raise UsageError(
        f"connection {name!r}: {secret} is a secret and would be written out; nothing was changed",
        hint=f"write {secret}='${{{variable}}}' and set that variable, or ${{vault:path#key}}, "
        "${aws:name#field}, ${gcp:name}; --allow-inline writes it all the same",
    )


def _full_name(built: Connection, key: str) -> str:
    """Return the property that *key* sets, an alias resolved."""
    head, dot, inner = key.partition(".")
    return f"{'url' if head == 'dsn' else built.aliases.get(head, head)}{dot}{inner}"
