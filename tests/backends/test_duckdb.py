"""DuckDB on its own: what it exports, refuses and leaves behind. No JVM."""

import subprocess
import sys
import time
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ematix_flow._base.location import Location
from ematix_flow.backends.impl.duckdb.read import DuckdbReader
from ematix_flow.backends.impl.duckdb.write import DuckdbTarget
from ematix_flow.errors import DatabaseBusy, QueryError, SourceError, SourceMissing, TargetError
from ematix_flow.ports import StagedFiles
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import BigInt
from tests.backends.forbidden import forbidden
from tests.backends.spool import SpoolReader


def database(tmp_path: Path, *statements: str) -> Path:
    path = tmp_path / "x.db"
    with duckdb.connect(str(path)) as opened:
        for statement in statements:
            opened.execute(statement)
    return path


def exported(tmp_path: Path, query: str) -> pa.Table:
    path = database(tmp_path)
    return DuckdbReader(path).read_query(SpoolReader(), query, tmp_path / "scratch")


UID = "0b9f6d3e-6a55-4a0e-8a51-4bb2f7f9e111"


@pytest.mark.parametrize(
    ("expression", "kind", "value"),
    [
        ("sum(9007199254740993::BIGINT)", pa.decimal128(38), Decimal(9007199254740993)),
        ("-99999999999999999999999999999999999999::HUGEINT", pa.decimal128(38), -(10**38) + 1),
        ("7::UHUGEINT", pa.decimal128(38), 7),
        ("18446744073709551615::UBIGINT", pa.decimal128(20), 2**64 - 1),
        ("4294967295::UINTEGER", pa.int64(), 2**32 - 1),
        ("65535::USMALLINT", pa.int32(), 65535),
        ("255::UTINYINT", pa.int16(), 255),
        (f"'{UID}'::UUID", pa.string(), UID),
        ("'b'::ENUM('a', 'b')", pa.string(), "b"),
        ("""'{"a": 1}'::JSON""", pa.string(), '{"a": 1}'),
        ("NULL", pa.string(), None),
        ("TIMESTAMP_S '2026-03-01 00:00:01'", pa.timestamp("us"), datetime(2026, 3, 1, 0, 0, 1)),
        ("TIMESTAMP_MS '2026-03-01'", pa.timestamp("us"), datetime(2026, 3, 1)),
        ("TIMESTAMP_NS '2026-03-01 00:00:00.000001'", pa.timestamp("us"), "keeps"),
        ("[1, 2]::INTEGER[2]", pa.list_(pa.int32()), [1, 2]),
        (f"['{UID}'::UUID]", pa.list_(pa.string()), [UID]),
        ("[DATE '2026-03-01', NULL]", pa.list_(pa.date32()), [date(2026, 3, 1), None]),
        ("[TIMESTAMP_S '2026-03-01']", pa.list_(pa.timestamp("us")), [datetime(2026, 3, 1)]),
        ("[]::DATE[]", pa.list_(pa.date32()), []),
        ("NULL::DATE[]", pa.list_(pa.date32()), None),
        ("NULL::HUGEINT", pa.decimal128(38), None),
        ("NULL::DATE", pa.date32(), None),
    ],
)
def test_each_type_is_carried_exactly(tmp_path, expression, kind, value):
    table = exported(tmp_path, f"SELECT {expression} AS x -- the last word")
    found = table.schema.field("x").type
    assert found == kind or (pa.types.is_list(found) and found.value_type == kind.value_type)
    [row] = table.to_pylist()
    assert row["x"] == (datetime(2026, 3, 1, microsecond=1) if value == "keeps" else value)


def test_fields_of_a_struct_are_carried_too(tmp_path):
    [row] = exported(
        tmp_path, f"""SELECT {{'a "b"': 5::HUGEINT, 'id': '{UID}'::UUID}} AS s"""
    ).to_pylist()
    assert row == {"s": {'a "b"': Decimal(5), "id": UID}}


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("INTERVAL 1 DAY", "INTERVAL"),
        ("'101'::BIT", "BIT"),
        ("TIME '01:02:03'", "TIME"),
        ("TIMETZ '01:02:03+01'", "TIME WITH TIME ZONE"),
        ("MAP {'a': 1}", r"MAP\(VARCHAR, INTEGER\)"),
        ("union_value(k := 1)", r"UNION\(k INTEGER\)"),
        ("[INTERVAL 1 DAY]", r"INTERVAL\[\]"),
        ("{'t': TIME '01:02:03'}", r"STRUCT\(t TIME\)"),
    ],
)
def test_a_type_that_nobody_carries_is_refused_with_a_way_out(tmp_path, expression, kind):
    with pytest.raises(SourceError, match=f"column 'x' is {kind}.*\n?.*CAST") as caught:
        exported(tmp_path, f"SELECT 1 AS id, {expression} AS x")
    assert "CAST(x AS VARCHAR)" in str(caught.value)


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("100000000000000000000000000000000000000::HUGEINT", "1" + "0" * 38),
        ("[1, 170141183460469231731687303715884105727::HUGEINT]", "[1, 1701"),
        ("TIMESTAMP_NS '2026-03-01 00:00:00.123456789'", "2026-03-01 00:00:00.123456789"),
        ("TIMESTAMP 'infinity'", "infinity"),
        ("DATE '-infinity'", "-infinity"),
        ("TIMESTAMPTZ 'infinity'", "infinity"),
        ("TIMESTAMP_S 'infinity'", "infinity"),
        ("TIMESTAMP_MS '-infinity'", "-infinity"),
        ("TIMESTAMP_NS 'infinity'", "infinity"),
        ("[NULL, TIMESTAMP 'infinity']", "[NULL, infinity]"),
        ("[TIMESTAMP_S '-infinity']", "[-infinity]"),
        ("[[DATE '2026-01-01'], NULL, [DATE 'infinity']]", "[[2026-01-01], NULL, [infinity]]"),
        ("[TIMESTAMPTZ 'infinity']::TIMESTAMPTZ[1]", "[infinity]"),
        ("{'a': 1, 'b': [DATE 'infinity']}", "{'a': 1, 'b': [infinity]}"),
    ],
)
def test_a_value_that_would_be_changed_is_named(tmp_path, expression, shown):
    query = f"""SELECT CASE id WHEN 2 THEN {expression} END AS "it's" FROM range(4) AS r(id)"""
    with pytest.raises(SourceError) as caught:
        exported(tmp_path, query)
    assert f'column "it\'s" holds {shown}' in str(caught.value)


def test_a_wrong_query_is_a_query_error(tmp_path):
    with pytest.raises(QueryError, match="Table with name spool does not exist"):
        exported(tmp_path, "SELECT * FROM spool")


def test_the_spool_is_found_in_a_folder_named_like_a_pattern(tmp_path):
    path = database(tmp_path)
    scratch = tmp_path / "a [b] {c,d} *?"
    table = DuckdbReader(path).read_query(SpoolReader(), "SELECT 1 AS id", scratch)
    assert table.to_pylist() == [{"id": 1}]


# As source and as target ----------------------------------------------------------------------


@pytest.mark.proves("bad-files")
def test_a_source_that_is_not_there(tmp_path):
    with pytest.raises(SourceMissing, match="does not exist"):
        DuckdbReader(tmp_path / "x.db").inspect(None)


@pytest.mark.proves("bad-files")
def test_what_is_not_a_database_is_an_error_of_its_role(tmp_path):
    path = tmp_path / "x.db"
    path.write_text("id,name\n" * 10_000)
    with pytest.raises(SourceError, match="is not a DuckDB database"):
        DuckdbReader(path).inspect(None)
    with pytest.raises(TargetError, match="is not a DuckDB"), DuckdbTarget(path).open_read_only():
        pass
    with pytest.raises(TargetError, match="is not a DuckDB"), DuckdbTarget(path).open():
        pass
    assert path.read_text().startswith("id,name")


def test_a_folder_is_an_error_of_its_role(tmp_path):
    with pytest.raises(SourceError, match="is a folder"):
        DuckdbReader(tmp_path).inspect(None)
    with pytest.raises(TargetError, match="is a folder"), DuckdbTarget(tmp_path).open():
        pass


def test_a_file_we_may_not_read_is_an_error_of_its_role(tmp_path, monkeypatch):
    path = database(tmp_path)
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(SourceError, match=r"x\.db' cannot be read: permission denied"):
        DuckdbReader(path).inspect(None)
    with pytest.raises(TargetError, match="permission denied"), DuckdbTarget(path).open():
        pass


def test_a_folder_we_may_not_enter_is_an_error_of_its_role(tmp_path):
    path = database(tmp_path)
    with forbidden(), pytest.raises(SourceError, match="cannot be read: Permission denied"):
        DuckdbReader(path).inspect(None)
    with forbidden(), pytest.raises(TargetError, match="cannot be read: Permission denied"):
        DuckdbTarget(path).exists()


@pytest.mark.proves("bad-files")
def test_an_empty_file_that_a_crash_left_is_no_database_yet(tmp_path):
    path = tmp_path / "x.db"
    path.touch()
    with pytest.raises(SourceMissing, match="is empty"):
        DuckdbReader(path).inspect(None)
    target = DuckdbTarget(path)
    assert not target.exists()
    with target.open() as session:
        session.execute("CREATE TABLE t (a INTEGER)")
    assert target.exists()
    assert [file.name for file in tmp_path.iterdir()] == ["x.db"]
    with target.open_read_only() as session:
        assert session.columns(TableName(name="t"))


def test_an_empty_file_that_another_process_is_creating_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("ematix_flow.backends.impl.duckdb.database._BUSY_SECONDS", 0.0)
    path = tmp_path / "x.db"
    holder = subprocess.Popen(
        [
            *(sys.executable, "-c"),
            "import fcntl, sys\n"
            "file = open(sys.argv[1], 'w+b')\n"
            "fcntl.lockf(file, fcntl.LOCK_EX)\n"
            "print('held', flush=True)\n"
            "sys.stdin.read()",
            str(path),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(DatabaseBusy), DuckdbTarget(path).open():
            pass
        assert path.stat().st_size == 0
        assert holder.stdin is not None
        holder.stdin.close()


def test_a_path_that_says_lock_is_not_a_lock(tmp_path):
    folder = tmp_path / "lock"
    folder.mkdir()
    path = folder / "Could not set lock on file.db"
    path.write_text("no database")
    start = time.monotonic()
    with pytest.raises(TargetError, match="is not a DuckDB"), DuckdbTarget(path).open():
        pass
    assert time.monotonic() - start < 5


def test_a_database_that_another_holds_is_busy_but_can_be_planned(tmp_path, monkeypatch):
    monkeypatch.setattr("ematix_flow.backends.impl.duckdb.database._BUSY_SECONDS", 0.0)
    path = database(tmp_path)
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); input()"
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with (
            pytest.raises(DatabaseBusy, match="held by another process"),
            DuckdbTarget(path).open(),
        ):
            pass
        assert DuckdbReader(path).inspect(None).size_bytes
        holder.communicate(b"\n")


def test_a_connection_of_this_process_keeps_its_lock(tmp_path):
    """Closing any handle of a file gives up all its locks: nobody but DuckDB may open it."""
    path = database(tmp_path)
    code = "import duckdb, sys; duckdb.connect(sys.argv[1])"
    with duckdb.connect(str(path)):
        with DuckdbTarget(path).open():
            pass
        other = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
        )
    assert "Could not set lock" in other.stderr


# Writing --------------------------------------------------------------------------------------

TABLE = Table(
    name=TableName(name="t"),
    location=Location("x.py", 1),
    columns=(Column(name="id", type=BigInt(), primary_key=True),),
)


def staged(folder: Path, *ids: int) -> StagedFiles:
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"id": pa.array(ids, pa.int64())}), folder / "rows.parquet")
    return StagedFiles(files=(folder / "rows.parquet",), rows=len(ids))


def test_staging_hides_a_table_of_its_name_and_is_gone_afterwards(tmp_path):
    path = database(tmp_path, "CREATE TABLE _flow_staging AS SELECT 99 AS id")
    with DuckdbTarget(path).open() as session:
        session.show_staging(staged(tmp_path, 1), TABLE, "_flow_staging")
        assert session.fetch('SELECT id FROM "_flow_staging"') == [(1,)]
    with DuckdbTarget(path).open() as session:
        assert session.fetch('SELECT id FROM "_flow_staging"') == [(99,)]
        assert session.fetch("SELECT view_name FROM duckdb_views() WHERE NOT internal") == []


@pytest.mark.parametrize("folder", ["a [b] {c,d} *?", "id=5", "it's"])
def test_staging_is_read_whatever_its_folder_is_called(tmp_path, folder):
    with DuckdbTarget(tmp_path / "x.db").open() as session:
        session.show_staging(staged(tmp_path / folder, 1), TABLE, "_flow_staging")
        assert session.fetch('SELECT * FROM "_flow_staging"') == [(1,)]


def test_a_transaction_that_is_gone_does_not_hide_why(tmp_path):
    def fail(session):
        session.execute("ROLLBACK")
        raise ValueError("the reason")

    with (
        DuckdbTarget(tmp_path / "x.db").open() as session,
        pytest.raises(ValueError, match="the reason"),
        session.transaction(),
    ):
        fail(session)


def test_a_table_is_found_whatever_the_case_and_its_key_is_known(tmp_path):
    path = database(
        tmp_path,
        "CREATE SCHEMA Raw",
        "CREATE TABLE Raw.Orders (A INTEGER, b INTEGER, c INTEGER, PRIMARY KEY (a, b))",
        "CREATE TABLE other (c INTEGER PRIMARY KEY)",
    )
    with DuckdbTarget(path).open_read_only() as session:
        found = session.columns(TableName(name="orders", schema="raw"))
        assert session.columns(TableName(name="orders")) is None
    assert found is not None
    assert [(each.name, each.nullable, each.primary_key) for each in found] == [
        *(("A", False, True), ("b", False, True), ("c", True, False))
    ]
