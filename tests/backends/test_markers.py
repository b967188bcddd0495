"""Markers on a real PostgreSQL: the same inputs, the same answers as the Python reference."""

import pytest

from tests.unit.sqltext.test_markers import proven_cases, require_equal, require_fallbacks


@pytest.mark.proves("markers")
@pytest.mark.services
def test_postgres_agrees(postgres_database):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres_database.dsn) as database:
        database.execute("CREATE TABLE given (n BIGINT, v TEXT)")

        def execute(rows, query):
            database.execute("DELETE FROM given")
            with database.cursor() as cursor:
                cursor.executemany("INSERT INTO given VALUES (%s, %s)", rows)
            return database.execute(query).fetchall()

        for case in proven_cases("postgres"):
            require_equal(case, "postgres", execute)
        require_fallbacks("postgres", lambda query: database.execute(query).fetchall())
