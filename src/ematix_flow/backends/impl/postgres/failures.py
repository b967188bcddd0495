"""PostgreSQL's errors made ours: by SQLSTATE, in its own words, without the driver's.

A failure to connect has no SQLSTATE, so there the words of libpq decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ematix_flow.backends.account import grant_hint
from ematix_flow.backends.failure import Failure, refused_row, unreachable
from ematix_flow.backends.impl.postgres.server import Server
from ematix_flow.errors import DatabaseBusy, FlowError, QueryError, TargetError

NOT_ALLOWED = "42501"

_NOT_CONNECTED = "Failed to connect:"
# The last attempt of several (IPv6, then IPv4), without libpq's advice below it.
_ATTEMPT = re.compile(r"failed: (?:FATAL: +)?([^\n]+)")
# "IO: [libpq] Failed to execute ...: ERROR:  " and the like, before what PostgreSQL says.
_DRIVER = re.compile(r"^(?:[A-Z_]+: )?\[libpq\](?:[^\n]*?(?:ERROR|FATAL): +|[^\n]*?: )?")
# "COPY _flow_staging_rows, line 2, column words"
_COPIED_COLUMN = re.compile(r"COPY .*, column (?P<column>[^\n:]+)")
_AWAY = ("08", "57P")
_BUSY = ("40001", "40P01", "55P03")
# Its names, types and grammar; and what PostgreSQL has not.
_WRONG_QUERY = ("42", "0A")
_WRITES = "25006"
_TOO_MANY = "53300"
_BREAKS_CONSTRAINT = "23"
# By state or by class of states: what it means, and what to do; None where PostgreSQL knows better.
_ALWAYS: dict[str, tuple[str, str | None]] = {
    "57014": ("PostgreSQL gave up", "is a table locked, or statement_timeout too short?"),
    "53100": (
        "PostgreSQL has no space left",
        "free space on the server, or name a default_tablespace that has some",
    ),
}
_ON_WRITING: dict[str, tuple[str, str | None]] = {
    "22": (
        "PostgreSQL refuses a value",
        "is a column of the table narrower than declared? `flow plan` shows differences",
    ),
    "54": ("PostgreSQL cannot hold a row", None),
}


class ServerError(Exception):
    """What PostgreSQL says, heard through another driver than ADBC's.

    :ivar connected: Whether there was a connection when it said so.
    """

    def __init__(
        self, what: str, fields: Mapping[str, str | None], *, connected: bool = True
    ) -> None:
        """Keep the *fields* as `diagnosis` returns them."""
        super().__init__(what)
        self.connected = connected
        self.details = [(name, text.encode()) for name, text in fields.items() if text]


@contextmanager
def translating(server: Server, failure: Failure, query: str | None = None) -> Iterator[None]:
    """Turn the driver's errors into ours.

    :param query: The user's text that the database was given as it is; its line is then shown.
    """
    try:
        yield
    except FlowError:
        raise
    except Exception as error:
        if str(error).startswith("[libpq]"):
            raise _while_streaming(_words(error), server, failure) from error
        theirs = type(error).__module__.startswith("adbc_driver_manager")
        if not theirs and not isinstance(error, ServerError):
            raise
        if (why := _why_not_connected(error)) is not None:
            raise _not_connected(why, server, failure) from error
        raise _refused(error, server, failure, query) from error


def diagnosis(error: Exception) -> dict[str, str]:
    """Return what PostgreSQL says about an error, by field: SQLSTATE, MESSAGE_PRIMARY ..."""
    details: list[tuple[bytes | str, bytes]] = getattr(error, "details", None) or []
    return {
        (key.decode() if isinstance(key, bytes) else key).removeprefix("PG_DIAG_"): value.decode()
        for key, value in details
    }


def _while_streaming(what: str, server: Server, failure: Failure) -> FlowError:
    """Return the error that came with the rows: Arrow passes it on as text, without SQLSTATE."""
    if "read-only transaction" in what:
        return QueryError(f"a query must not write: {what}")
    if "connection" in what.lower():
        return unreachable(failure)(f"{server.address} ended the connection: {what}")
    return failure(f"PostgreSQL: {what}", where=str(server))


def _refused(error: Exception, server: Server, failure: Failure, query: str | None) -> FlowError:
    told = diagnosis(error)
    code, what = told.get("SQLSTATE", ""), told.get("MESSAGE_PRIMARY") or _words(error)
    if detail := told.get("MESSAGE_DETAIL"):
        what = f"{what}: {detail}"
    where = str(server)
    if code == _WRITES:
        return QueryError(f"a query must not write: {what}")
    if code in _BUSY:
        return DatabaseBusy(f"PostgreSQL: {what}", where=where, hint="run again")
    if code.startswith(_AWAY) or code == _TOO_MANY or (not code and "connection" in what.lower()):
        return unreachable(failure)(f"{server.address} ended the connection: {what}", where=where)
    if code.startswith(_WRONG_QUERY) and code != NOT_ALLOWED:
        position = _position(query, told.get("STATEMENT_POSITION"))
        return QueryError(
            f"PostgreSQL refuses the query: {what}{position}",
            hint=told.get("MESSAGE_HINT"),
        )
    if code == NOT_ALLOWED:
        what = f"{server.account} is not allowed to: {what}"
        return failure(what, where=where, hint=grant_hint(server.user))
    what += _column(told)
    if code.startswith(_BREAKS_CONSTRAINT):
        return refused_row("PostgreSQL", what, where)
    said, hint = _explained(code, failure)
    return failure(f"{said}: {what}", where=where, hint=hint or told.get("MESSAGE_HINT"))


def _explained(code: str, failure: Failure) -> tuple[str, str | None]:
    """Return what a state means, and what to do about it; its class if it has no words itself."""
    known = _ON_WRITING if issubclass(failure, TargetError) else {}
    for state in (code, code[:2]):
        if state in (found := {**_ALWAYS, **known}):
            return found[state]
    return "PostgreSQL", None


def _column(told: Mapping[str, str]) -> str:
    """Say in which column it was, where COPY tells."""
    place = _COPIED_COLUMN.search(told.get("CONTEXT", ""))
    return f" (column {place['column']})" if place else ""


def _position(query: str | None, position: str | None) -> str:
    """Say where in *query* PostgreSQL points to; it counts characters from 1."""
    if query is None or position is None:
        return ""
    before = query[: int(position) - 1]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    near = " ".join(query[int(position) - 1 :].split())[:60]
    return f" (line {line}, column {column}), near: {near}" if near else " (at the end)"


def _why_not_connected(error: Exception) -> str | None:
    """Return why there never was a connection; None where there was one."""
    if isinstance(error, ServerError):
        return None if error.connected else _first_line(error)
    _, not_connected, said = str(error).partition(_NOT_CONNECTED)
    if not not_connected:
        return None
    attempts: list[str] = _ATTEMPT.findall(said)
    return attempts[-1] if attempts else _first_line(said)


def _not_connected(what: str, server: Server, failure: Failure) -> FlowError:
    address, known = server.address, what.lower()
    if "password" in known:
        return failure(
            f"{address} refuses the password of {server.account}",
            hint="check `user` and `password` of the connection",
        )
    if re.match(r'database ".*" does not exist', known):
        return failure(
            f"{address} has no database {server.database!r}",
            hint=f"check `database` of the connection, or create it: "
            f"CREATE DATABASE {server.database}",
        )
    if re.search(r"\brole\b|pg_hba\.conf|permission denied", known):
        return failure(
            f"{address} does not let {server.account} in: {what}",
            hint="check `user` of the connection, and what the server allows it",
        )
    if re.search(r"\b(ssl|tls|certificate)\b", known):
        return failure(
            f"{address}: {what}", hint="check `sslmode` and the certificates of the connection"
        )
    if re.search(r"\buri\b|connection (option|string)", known):
        # libpq quotes the whole of it, password included.
        return failure(
            f"the address of {server} is not one that PostgreSQL understands",
            hint="check the connection's url and its options",
        )
    return unreachable(failure)(
        f"PostgreSQL at {address} cannot be reached: {what}",
        hint="is the server up, and are `host` and `port` right?",
    )


def _words(error: Exception) -> str:
    """Return what PostgreSQL says, without what the driver puts before it."""
    return _first_line(_DRIVER.sub("", str(error)))


def _first_line(error: object) -> str:
    return str(error).strip().partition("\n")[0]
