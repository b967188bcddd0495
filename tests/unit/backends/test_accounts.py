"""Who is not allowed to, where the connection names a user and where it names none."""

from __future__ import annotations

import pytest

from ematix_flow.backends.impl.mysql.server import Server as MySQLServer
from ematix_flow.backends.impl.postgres.failures import ServerError, translating
from ematix_flow.backends.impl.postgres.server import Server
from ematix_flow.connections.model import MySQLConnection, PostgresConnection
from ematix_flow.errors import SourceError, SourceUnreachable, TargetError, TargetUnreachable

NOT_ALLOWED = {"SQLSTATE": "42501", "MESSAGE_PRIMARY": "permission denied for table t"}


def postgres(user: str | None) -> Server:
    return Server.of(PostgresConnection(name="w", host="db", database="shop", user=user))


@pytest.mark.parametrize(
    ("user", "said", "hint"),
    [
        ("loader", "user 'loader' is not allowed to: permission", "ask for a GRANT to loader"),
        (None, "the account of this process is not allowed to: permission", None),
    ],
)
def test_a_right_that_is_missing(user, said, hint):
    server = postgres(user)
    with pytest.raises(TargetError) as caught, translating(server, TargetError):
        raise ServerError("permission denied", NOT_ALLOWED)
    assert caught.value.what.startswith(said)
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("user", "shown"), [("app", "user 'app'"), (None, "the account of this process")]
)
def test_mysql_names_the_account_alike(user, shown):
    assert MySQLServer.of(MySQLConnection(name="w", database="d", user=user)).account == shown


@pytest.mark.parametrize(
    ("failure", "kind"), [(SourceError, SourceUnreachable), (TargetError, TargetUnreachable)]
)
def test_whether_there_was_a_connection_decides_what_is_said(failure, kind):
    why, server = "the connection failed: nobody listens", postgres("app")
    with pytest.raises(kind) as never, translating(server, failure):
        raise ServerError(why, {}, connected=False)
    with pytest.raises(kind) as once, translating(server, failure):
        raise ServerError(why, {})
    assert never.value.what == f"PostgreSQL at db:5432 cannot be reached: {why}"
    assert once.value.what == f"db:5432 ended the connection: {why}"
