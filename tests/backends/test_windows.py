"""A window around a query, in real databases: the rows of it, and none of them lost. No JVM."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ematix_flow.backends.registry import backends
from ematix_flow.connections.model import Connection
from ematix_flow.spec.window import Window
from ematix_flow.sqltext.window import within

# Per database: the type of a column, three values of it in order, and the middle one as a bound.
_TEXTS = ("'Zoe'", "'ab'", "'äb'")
CASES = {
    "postgres": [
        ("bigint", ("-5", "7", "8"), "integer 7"),
        ("numeric", ("-1.5", "0.10", "0.11"), "decimal 0.10"),
        ("float8", ("-1e10", "1e-7", "0.1"), "double 1e-07"),
        ("date", ("'2025-12-31'", "'2026-01-01'", "'2026-01-02'"), "date 2026-01-01"),
        (
            "timestamp",
            ("'2026-01-01'", "'2026-01-01 09:00:00.000001'", "'2026-01-01 09:00:00.000002'"),
            "timestamp 2026-01-01 09:00:00.000001",
        ),
        (
            "timestamptz",
            ("'2026-01-01 10:59+02'", "'2026-01-01 11:00+02'", "'2026-01-01 09:00:00.000001Z'"),
            "timestamptz 2026-01-01 09:00:00.000000",
        ),
        # By bytes: a language would have `ab` and `äb` before `Zoe`.
        ("text", _TEXTS, "text ab"),
        (
            "uuid",
            tuple(f"'00000000-0000-0000-0000-00000000000{n}'" for n in (1, 2, 3)),
            "text 00000000-0000-0000-0000-000000000002",
        ),
    ],
    "mariadb": [
        ("BIGINT", ("-5", "7", "8"), "integer 7"),
        ("DECIMAL(10,2)", ("-1.5", "0.10", "0.11"), "decimal 0.10"),
        ("DOUBLE", ("-1e10", "1e-7", "0.1"), "double 1e-07"),
        ("DATE", ("'2025-12-31'", "'2026-01-01'", "'2026-01-02'"), "date 2026-01-01"),
        (
            "DATETIME(6)",
            ("'2026-01-01'", "'2026-01-01 09:00:00.000001'", "'2026-01-01 09:00:00.000002'"),
            "timestamp 2026-01-01 09:00:00.000001",
        ),
        ("TEXT CHARACTER SET latin1", _TEXTS, "text ab"),
        # Blanks at the end are a difference.
        ("VARCHAR(9) CHARACTER SET utf8mb4", ("'a'", "'ab'", "'ab '"), "text ab"),
    ],
}
PAIRS = [(kind, *case) for kind, cases in CASES.items() for case in cases]


@pytest.mark.proves("strictly-after")
@pytest.mark.services
@pytest.mark.parametrize(("kind", "sql_type", "values", "bound"), PAIRS)
def test_a_database_keeps_to_the_window(
    kind: str,
    sql_type: str,
    values: tuple[str, str, str],
    bound: str,
    request: pytest.FixtureRequest,
) -> None:
    run = _runner(request, kind)
    dialect = "postgres" if kind == "postgres" else "mysql"
    for start, end, kept in (
        (f"> {bound}", None, [3]),
        (f">= {bound}", None, [2, 3]),
        (None, f"< {bound}", [1]),
        (None, f"<= {bound}", [1, 2]),
        (f">= {bound}", f"<= {bound}", [2]),
    ):
        window = Window(column="c", start=start, end=end)
        query = within("SELECT n, c FROM t -- all", window, dialect)
        found = run(sql_type, values, f"SELECT n FROM ({query}) AS w ORDER BY n")
        assert found == kept, query


def _runner(
    request: pytest.FixtureRequest, kind: str
) -> Callable[[str, tuple[str, ...], str], list[object]]:
    name = "postgres_config" if kind == "postgres" else "mysql_config"
    config = request.getfixturevalue(name)
    connection = Connection.from_config("db", config)
    target = backends()[connection.kind].target(connection)

    def run(sql_type: str, values: tuple[str, ...], query: str) -> list[object]:
        with target.open() as session:
            session.execute("DROP TABLE IF EXISTS t")
            session.execute(f"CREATE TABLE t (n INT, c {sql_type})")
            for number, value in enumerate(values, start=1):
                session.execute(f"INSERT INTO t VALUES ({number}, {value})")
            return [row[0] for row in session.fetch(query)]

    return run
