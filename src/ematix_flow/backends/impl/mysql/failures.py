"""MySQL's errors made ours: by its number or SQLSTATE, in its own words."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from ematix_flow.backends.account import grant_hint
from ematix_flow.backends.failure import Failure, refused_row, unreachable
from ematix_flow.backends.impl.mysql.server import Server
from ematix_flow.errors import DatabaseBusy, FlowError, QueryError, TargetError

# Waited long enough for a lock.
LOCKED = 1205
_BUSY = (LOCKED, 1213, 3572)
_GONE = 2006
# Not there, shutting down, too many clients, gone, lost, killed.
_AWAY = (2002, 2003, _GONE, 2013, 1040, 1053, 1203, 1927, 4031)
_WRONG_LOGIN = (1045, 1698)
_NOT_LET_IN = (1044, 1130, 1129, 1251, 2059, 3118, 4151)
_NO_DATABASE = 1049
_NOT_ALLOWED = (1142, 1143, 1227, 1370, 1419)
_READ_ONLY_SESSION = 1792
# What a CHECK refuses; MariaDB's type for JSON is a text with one.
BREAKS_CHECK = (3819, 4025)
_BREAKS_A_RULE = (1048, 1062, 1364, 1369, 1451, 1452, 1557, 1586, *BREAKS_CHECK)
NOT_ENCRYPTED = 2026
_TWO_COLLATIONS = (1267, 1270, 1271)
# Too long, out of range, not of the column's type, not JSON.
MISFITS = (1264, 1265, 1292, 1366, 1367, 1406, 1411, 1416, 3140, 3156)
# What is told in the server's own words, with what helps.
_TOLD = (
    (
        (1317, 1969, 3024),
        "gave up",
        "is a table locked, or the time limit of the server too short?",
    ),
    ((1290, 1836), "takes no changes", "is it a replica?"),
    ((1021, 1026, 1114, 3675), "has no room left", "free some space on the server"),
    ((1153, 1301), "takes no value as large", "raise max_allowed_packet of the server"),
)


@contextmanager
def translating(server: Server, failure: Failure) -> Iterator[None]:
    """Turn the driver's errors into ours."""
    try:
        yield
    except FlowError:
        raise
    except ssl.SSLError as error:
        raise failure(
            f"{server.address}: {error}", hint="check `ssl_mode` and `ssl_ca` of the connection"
        ) from error
    except FileNotFoundError as error:
        if server.ssl_ca is None or error.filename not in (None, server.ssl_ca):
            raise
        raise failure(f"there is no file {server.ssl_ca!r}", hint="check `ssl_ca`") from error
    except Exception as error:
        if "cryptography" in str(error) and isinstance(error, RuntimeError):
            raise failure(
                f"{server.address} wants a password exchange that needs encryption",
                hint='set ssl_mode = "REQUIRED", or pip install cryptography',
            ) from error
        if not type(error).__module__.startswith("pymysql"):
            raise
        raise _ours(error, server, failure) from error


def number_of(error: BaseException) -> int:
    """Return the server's number of an error; 0 where it has none."""
    code = error.args[0] if error.args else 0
    if type(error).__name__ == "InterfaceError" and not code:
        return _GONE  # the driver's own word for a connection that it finds closed
    return code if isinstance(code, int) else 0


def words_of(error: BaseException) -> str:
    """Return what the server says, without what it always adds."""
    text = str(error.args[1]) if len(error.args) > 1 else str(error)
    return re.sub(
        r"; check the manual that corresponds to your \w+ server version for the right syntax "
        r"to use",
        "",
        text or "it was closed",
    ).strip()


def _ours(error: Exception, server: Server, failure: Failure) -> FlowError:
    code, what, where = number_of(error), words_of(error), str(server)
    refused = _not_connected(code, what, server, failure) or _rows_refused(code, what, where)
    if refused is not None:
        return refused
    if code in _BUSY:
        return DatabaseBusy(f"MySQL: {what}", where=where, hint="run again")
    if code in _NOT_ALLOWED:
        return failure(
            f"{server.account} is not allowed to: {what}",
            where=where,
            hint=grant_hint(server.user),
        )
    if code == _READ_ONLY_SESSION:
        return QueryError(f"a query must not write: {what}")
    for codes, problem, hint in _TOLD:
        if code in codes:
            return failure(f"MySQL {problem}: {what}", where=where, hint=hint)
    state: str = getattr(error, "sqlstate", None) or ""
    if state.startswith("42") or code in _TWO_COLLATIONS:
        return QueryError(f"MySQL refuses the query: {what}")
    return failure(f"MySQL: {what}", where=where)


def _rows_refused(code: int, what: str, where: str) -> FlowError | None:
    if code in _BREAKS_A_RULE:
        return refused_row("MySQL", what, where)
    if code in MISFITS:
        return TargetError(
            f"MySQL cannot hold a value: {what}",
            where=where,
            hint="declare a wider type, or change the value in the query",
        )
    return None


def _not_connected(code: int, what: str, server: Server, failure: Failure) -> FlowError | None:
    address = server.address
    if code in _AWAY:
        if code in (2002, 2003):
            return unreachable(failure)(
                f"MySQL at {address} cannot be reached: {_reason(what)}",
                hint="is the server up, and are `host` and `port` right?",
            )
        if "timed out" in what:
            return unreachable(failure)(
                f"MySQL at {address} took the connection, but does not answer",
                hint="is it a MySQL server that listens there, and is it well?",
            )
        return unreachable(failure)(f"{address} ended the connection: {what}", where=str(server))
    if code in _WRONG_LOGIN:
        return failure(
            f"{address} refuses the password of {server.account}",
            hint="check `user` and `password` of the connection",
        )
    if code in _NOT_LET_IN:
        return failure(
            f"{address} does not let {server.account} in: {what}",
            hint="check `user` of the connection, and what the server allows it",
        )
    if code == _NO_DATABASE:
        return failure(
            f"{address} has no database {server.database!r}",
            hint="check `database` of the connection, or create it: "
            f"CREATE DATABASE {server.database}",
        )
    if code == NOT_ENCRYPTED:
        return failure(f"{address}: {what}", hint="check `ssl_mode` and `ssl_ca` of the connection")
    return None


def _reason(what: str) -> str:
    """Return why, of: Can't connect to MySQL server on 'db' ([Errno 111] Connection refused)."""
    found = re.search(r"\((?:\[Errno -?\d+\] )?(.+)\)$", what)
    return found[1] if found else what
