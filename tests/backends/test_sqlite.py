"""SQLite on its own: what it reads, refuses and leaves behind. No JVM."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ematix_flow._base.location import Location
from ematix_flow.backends.impl.sqlite.read import SqliteReader
from ematix_flow.backends.impl.sqlite.write import SqliteTarget
from ematix_flow.errors import DatabaseBusy, QueryError, SourceError, SourceMissing, TargetError
from ematix_flow.ports import StagedFiles
from ematix_flow.spec.modes import HandleDeletes, Mode
from ematix_flow.spec.pipeline import WriteOptions
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import BigInt, Numeric
from tests.backends.forbidden import forbidden
from tests.backends.mode_bench import DAY, TABLE, Bench
from tests.backends.spool import SpoolReader


def database(tmp_path: Path, *statements: str) -> Path:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as opened, opened:
        for statement in statements:
            opened.execute(statement)
    return path


def rows(path: Path, query: str, tmp_path: Path) -> list[dict[str, object]]:
    table = SqliteReader(path).read_query(SpoolReader(), query, tmp_path / "scratch")
    return table.to_pylist()


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("BLOB", "3"),
        ("BLOB", "2.5"),
        ("TEXT", "x'6162'"),
        ("TIMESTAMP", "'2026-03-01 00:00:00.123456789'"),
        ("TIMESTAMP", "'2026-03-01 00:00:00,1234567'"),
        ("TIMESTAMP", "'2026-03-01 02:00:00+02:00'"),
        ("TIMESTAMP", "'2026-03-01 02:00:00Z'"),
        ("TIMESTAMP", "1772323200"),
        ("TIMESTAMPTZ", "'2026-03-01 00:00:00.1234567+02:00'"),
        ("TIMESTAMPTZ", "'0001-01-01 00:00:00+02:00'"),
        ("DATE", "'2026-03-01 10:00:00'"),
        ("BOOLEAN", "2"),
        ("INTEGER", "'many'"),
        ("DOUBLE", "'many'"),
        ("NUMERIC_TEXT(5,2)", "'1.234'"),
        ("NUMERIC_TEXT(5,2)", "'12345.67'"),
        ("NUMERIC_TEXT(5,2)", "'NaN'"),
        ("NUMERIC_TEXT(5,2)", "x'31'"),
    ],
)
def test_a_value_that_is_not_its_columns_type_is_named(tmp_path, kind, value):
    path = database(
        tmp_path,
        f"CREATE TABLE t (id INTEGER, c {kind})",
        "INSERT INTO t VALUES (1, NULL)",
        f"INSERT INTO t VALUES (7, {value})",
    )
    with pytest.raises(SourceError, match=r"column 'c' holds .*\(row id=7, c="):
        rows(path, "SELECT id, c FROM t", tmp_path)


def test_an_expression_that_mixes_numbers_and_blobs_is_refused(tmp_path):
    path = database(tmp_path, "CREATE TABLE t (id INTEGER)", "INSERT INTO t VALUES (1), (2)")
    mixed = "SELECT id, CASE id WHEN 1 THEN 'a' ELSE x'6162' END AS c FROM t"
    with pytest.raises(SourceError, match=r"column 'c' holds b'ab'.*row id=2"):
        rows(path, mixed, tmp_path)


def test_an_integer_that_a_double_cannot_hold_is_refused(tmp_path):
    path = database(tmp_path, "CREATE TABLE t (id INTEGER)", "INSERT INTO t VALUES (1), (2)")
    query = "SELECT id, CASE id WHEN 1 THEN 0.5 ELSE {} END AS c FROM t"
    with pytest.raises(SourceError, match="column 'c' holds 9007199254740993"):
        rows(path, query.format(9007199254740993), tmp_path)
    assert rows(path, query.format(9007199254740992), tmp_path)[1]["c"] == 2.0**53


def test_what_fits_is_read_exactly(tmp_path):
    path = database(
        tmp_path,
        "CREATE TABLE t (wall TIMESTAMP, instant TIMESTAMPTZ, raw BLOB, big NUMERIC_TEXT(40,2))",
        "INSERT INTO t VALUES ('2026-03-01 00:00:00.123456000', '2026-03-01T02:00+02:00', 'ab', "
        "'12345678901234567890123456789012345678.90')",
    )
    assert rows(path, "SELECT * FROM t", tmp_path) == [
        {
            "wall": datetime(2026, 3, 1, microsecond=123456),
            "instant": datetime(2026, 3, 1, tzinfo=UTC),
            "raw": b"ab",
            # More digits than any engine's decimal has: the text keeps them.
            "big": "12345678901234567890123456789012345678.90",
        }
    ]


def test_text_that_is_no_text_is_a_source_error(tmp_path):
    path = database(
        tmp_path, "CREATE TABLE t (c TEXT)", "INSERT INTO t VALUES (CAST(x'ff' AS TEXT))"
    )
    with pytest.raises(SourceError, match="Could not decode to UTF-8 column 'c'"):
        rows(path, "SELECT * FROM t", tmp_path)


def test_a_table_named_like_a_lock_is_not_a_lock(tmp_path):
    with pytest.raises(QueryError, match="no such table: locked_busy"):
        rows(database(tmp_path), "SELECT * FROM locked_busy", tmp_path)


def test_the_spool_is_found_in_a_folder_named_like_a_pattern(tmp_path):
    path = database(tmp_path, "CREATE TABLE t (id INTEGER)", "INSERT INTO t VALUES (1)")
    assert rows(path, "SELECT id FROM t", tmp_path / "a [b] {c,d} *?") == [{"id": 1}]


# As source and as target ----------------------------------------------------------------------


@pytest.mark.proves("bad-files")
def test_a_source_that_is_not_there(tmp_path):
    with pytest.raises(SourceMissing, match="does not exist"):
        SqliteReader(tmp_path / "x.db").inspect(None)


@pytest.mark.proves("bad-files")
@pytest.mark.parametrize("content", ["hi", "id,name\n" * 1000])
def test_what_is_not_a_database_is_an_error_of_its_role(tmp_path, content):
    path = tmp_path / "x.db"
    path.write_text(content)
    with pytest.raises(SourceError, match="is not a SQLite database"):
        SqliteReader(path).inspect(None)
    with (
        pytest.raises(TargetError, match="is not a SQLite database"),
        SqliteTarget(path).open_read_only() as session,
    ):
        session.columns(TableName(name="t"))
    with (
        pytest.raises(TargetError, match="is not a SQLite database"),
        SqliteTarget(path).open() as session,
    ):
        session.execute("CREATE TABLE t (a)")
    assert path.read_text() == content


def test_a_folder_is_an_error_of_its_role(tmp_path):
    with pytest.raises(SourceError, match="is a folder"):
        SqliteReader(tmp_path).inspect(None)
    with pytest.raises(TargetError, match="is a folder"), SqliteTarget(tmp_path).open():
        pass


def test_a_file_we_may_not_read_is_an_error_of_its_role(tmp_path, monkeypatch):
    path = database(tmp_path)
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(SourceError, match=r"x\.db' cannot be read: permission denied"):
        SqliteReader(path).inspect(None)
    with pytest.raises(TargetError, match="permission denied"), SqliteTarget(path).open():
        pass


def test_a_folder_we_may_not_enter_is_an_error_of_its_role(tmp_path):
    path = database(tmp_path)
    with forbidden(), pytest.raises(SourceError, match="cannot be read: Permission denied"):
        SqliteReader(path).inspect(None)
    with forbidden(), pytest.raises(TargetError, match="cannot be read: Permission denied"):
        SqliteTarget(path).exists()


def test_an_empty_file_is_an_empty_database(tmp_path):
    path = tmp_path / "x.db"
    path.touch()
    SqliteReader(path).inspect(None)
    with SqliteTarget(path).open() as session:
        session.execute("CREATE TABLE t (a)")
        assert session.columns(TableName(name="t"))


# Writing --------------------------------------------------------------------------------------

MONEY = Table(
    name=TableName(name="t"),
    location=Location("x.py", 1),
    columns=(
        Column(name="id", type=BigInt(), primary_key=True),
        Column(name="money", type=Numeric(20, 10)),
    ),
)


def staged(tmp_path: Path, *values: str) -> StagedFiles:
    file = tmp_path / "rows.parquet"
    money = pa.array([Decimal(value) for value in values], pa.decimal128(20, 10))
    pq.write_table(pa.table({"id": pa.array(range(len(values))), "money": money}), file)
    return StagedFiles(files=(file,), rows=len(values))


def test_decimals_are_plain_text_of_their_scale(tmp_path):
    with SqliteTarget(tmp_path / "x.db").open() as session:
        rows = staged(tmp_path, "0", "0.0000000001", "-0.00000125", "-12.5")
        session.show_staging(rows, MONEY, "_flow_staging")
        found = session.fetch("SELECT money FROM _flow_staging ORDER BY id")
    assert [row[0] for row in found] == [
        *("0.0000000000", "0.0000000001", "-0.0000012500", "-12.5000000000")
    ]


def test_staging_hides_a_table_of_its_name_and_is_gone_afterwards(tmp_path):
    path = database(
        tmp_path,
        "CREATE TABLE _flow_staging (id, money)",
        "INSERT INTO _flow_staging VALUES (99, 'theirs')",
    )
    with SqliteTarget(path).open() as session:
        session.show_staging(staged(tmp_path, "1"), MONEY, "_flow_staging")
        assert session.fetch('SELECT id FROM "_flow_staging"') == [(0,)]
    with SqliteTarget(path).open() as session:
        assert session.fetch('SELECT id FROM "_flow_staging"') == [(99,)]


def test_a_transaction_that_is_gone_does_not_hide_why(tmp_path):
    path = database(
        tmp_path,
        "CREATE TABLE t (id)",
        "CREATE TRIGGER stop BEFORE INSERT ON t BEGIN SELECT RAISE(ROLLBACK, 'not today'); END",
    )
    with (
        pytest.raises(TargetError, match="not today"),
        SqliteTarget(path).open() as session,
        session.transaction(),
    ):
        session.execute("INSERT INTO t VALUES (1)")


@pytest.mark.proves("nothing-half-written")
def test_a_failed_commit_is_rolled_back(tmp_path):
    path = database(
        tmp_path,
        "CREATE TABLE p (id INTEGER PRIMARY KEY)",
        "CREATE TABLE t (id REFERENCES p (id) DEFERRABLE INITIALLY DEFERRED)",
    )
    with SqliteTarget(path).open() as session:
        session.execute("PRAGMA foreign_keys = ON")
        with pytest.raises(sqlite3.IntegrityError), session.transaction():
            session.execute("INSERT INTO t VALUES (1)")
        assert session.fetch("SELECT * FROM t") == []
        with session.transaction():
            session.execute("INSERT INTO p VALUES (1)")


def test_a_database_that_another_writes_is_busy(tmp_path, monkeypatch):
    monkeypatch.setattr("ematix_flow.backends.impl.sqlite.waiting._BUSY_SECONDS", 0.0)
    path = database(tmp_path, "CREATE TABLE t (id)")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with (
            pytest.raises(DatabaseBusy, match="held by another"),
            SqliteTarget(path).open() as session,
            session.transaction(),
        ):
            pass


def test_the_primary_key_is_known(tmp_path):
    path = database(
        tmp_path, "CREATE TABLE t (a INT NOT NULL, b INT NOT NULL, c INT, PRIMARY KEY (a, b))"
    )
    with SqliteTarget(path).open_read_only() as session:
        found = session.columns(TableName(name="T"))
    assert found is not None
    assert [(column.name, column.primary_key) for column in found] == [
        *(("a", True), ("b", True), ("c", False))
    ]


DELETING = {
    "merge": WriteOptions(mode=Mode.MERGE, handle_deletes=HandleDeletes.HARD),
    "scd1": WriteOptions(mode=Mode.SCD1, sequence_by=("at",), apply_as_deletes="op = 'D'"),
    "scd2": WriteOptions(
        mode=Mode.SCD2, event_timestamp_column="at", apply_as_deletes="op = 'D'", ttl=DAY
    ),
}


@pytest.mark.parametrize("case", DELETING)
def test_no_deletion_looks_through_a_whole_table_for_each_row(tmp_path, case):
    table = Bench(SqliteTarget(tmp_path / "t.db"), tmp_path, TABLE, DELETING[case])
    program = table.step().program
    with table.target.open() as session:
        session.show_staging(table.staged([]), table.layout.staging, program.staging)
        for statement in program.before:
            session.execute(statement)
        deletes = [each.sql for each in program.statements if each.sql.startswith("DELETE")]
        assert deletes
        for sql in deletes:
            plan = [told for *_, told in session.fetch(f"EXPLAIN QUERY PLAN {sql}")]
            assert any(told.startswith("SEARCH c USING") for told in plan), (sql, plan)
