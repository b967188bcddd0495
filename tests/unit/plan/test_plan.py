import pytest

from ematix_flow.errors import (
    DeclarationError,
    DriftError,
    FlowError,
    NotSupported,
    QueryError,
    SourceError,
    UserCodeError,
)
from ematix_flow.plan.show import plan_json, plan_text


def failure(project, name="load_orders"):
    with pytest.raises(FlowError) as caught:
        project.flow().plan(name)
    return caught.value


@pytest.mark.proves("plan-pure")
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_plan_is_the_same_twice_and_writes_nothing(project, kind):
    project.with_orders(kind)
    before = sorted(path.name for path in project.path.rglob("*"))
    first, second = (plan_json(project.flow().plan("load_orders")) for _ in range(2))
    assert first == second
    assert [step["step"] for step in first["steps"]] == [
        *("prepare", "read", "transform", "validate", "stage", "commit")
    ]
    after = sorted(path.name for path in project.path.rglob("*") if "__pycache__" not in str(path))
    assert after == before


@pytest.mark.proves("plan-shows")
def test_the_text_shows_the_sql_on_demand(project):
    plan = project.with_orders().flow().plan("load_orders")
    assert "INSERT INTO" not in plan_text(plan)
    assert 'INSERT INTO "orders"' in plan_text(plan, sql=True)


@pytest.mark.proves("bad-files")
@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("orders.csv", None, "there is no orders.csv in"),
        ("orders.csv", b"", "is empty (0 bytes)"),
        ("orders.csv", b"PAR1\x15\x00xxPAR1", "is not CSV: it is Parquet"),
        ("orders.csv", b"\x1f\x8bxxx", "is not CSV: it is gzip"),
        ("orders.csv", b"PK\x03\x04", "is not CSV: it is a zip archive"),
        ("orders.csv", b"a,b\n\x00\x01", "is not CSV: it holds NUL bytes"),
        ("orders.csv", b"\xff\xfeh\xe9", "is not UTF-8"),
        ("orders.csv", b"a,a\n1,2\n", "has the column 'a' more than once"),
    ],
)
def test_a_csv_that_is_not_one_is_found_before_spark_starts(project, name, content, expected):
    project.with_orders()
    file = project.path / "data" / name
    file.unlink() if content is None else file.write_bytes(content)
    error = failure(project)
    assert isinstance(error, SourceError)
    assert expected in str(error)
    assert "pipelines.py:" in str(error)
    assert "source 'landing'" in str(error)


@pytest.mark.proves("bad-files")
@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("orders/a.csv", SourceError, "table 'orders' could be "),
        ("elsewhere/orders/year=2026/a.csv", NotSupported, "is partitioned (year=2026/)"),
        ("elsewhere/orders/a.csv.bak", SourceError, "holds 'a.csv.bak', which is no .csv file"),
    ],
)
def test_a_folder_that_is_no_table_is_found_before_spark_starts(project, name, kind, expected):
    project.with_orders()
    file = project.path / "data" / name
    file.parent.mkdir(parents=True)
    file.write_text("order_id,customer,amount\n")
    if name.startswith("elsewhere/"):
        pipelines = project.path / "pipelines.py"
        pipelines.write_text(pipelines.read_text().replace('"data"', '"data/elsewhere"'))
    error = failure(project)
    assert isinstance(error, kind)
    assert expected in str(error)
    assert "pipelines.py:" in str(error)


def test_a_header_may_begin_like_a_binary_format(project):
    project.with_orders()
    (project.path / "data" / "orders.csv").write_text("ORCID,order_id,customer,amount\n")
    assert project.flow().plan("load_orders").steps


def test_a_missing_file_is_guessed(project):
    project.with_orders()
    (project.path / "data" / "orders.csv").rename(project.path / "data" / "order.csv")
    assert "did you mean 'order'? (it has: order)" in str(failure(project))


@pytest.mark.proves("bad-files")
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a,b\n1,2\n", "is not Parquet"),
        (b"PAR1 only the beginning", "is not whole"),
        (b"PAR1", "is not whole"),
        (b"", "is empty"),
        (b"SQLite format 3\x00", "is not Parquet: it is SQLite"),
    ],
)
def test_a_parquet_file_that_is_not_one(project, content, expected):
    project.with_orders()
    pipelines = project.path / "pipelines.py"
    pipelines.write_text(pipelines.read_text().replace('kind = "csv"', 'kind = "parquet"'))
    (project.path / "data" / "orders.parquet").write_bytes(content)
    assert expected in str(failure(project))


@pytest.mark.proves("bad-files")
@pytest.mark.parametrize(("kind", "name"), [("sqlite", "SQLite"), ("duckdb", "DuckDB")])
def test_a_database_that_is_not_one(project, kind, name):
    project.with_orders(kind)
    (project.path / "out.db").write_bytes(b"this is some other file, not a database")
    assert f"is not a {name} database" in str(failure(project))
    (project.path / "out.db").unlink()
    (project.path / "out.db").mkdir()
    assert f"is a folder, not a {name} database" in str(failure(project))


@pytest.mark.proves("bad-files")
def test_a_missing_database_source(project):
    project.declare(
        """
        @ematix.connection
        class app:
            kind = "sqlite"
            path = "app.db"

        @ematix.table
        class T:
            id: BigInt

        @ematix.pipeline(target=T, source_connection="app", target_connection="app")
        def load_orders():
            return "SELECT 1 AS id"
        """
    )
    assert "app.db' does not exist" in str(failure(project))


def test_what_an_upstream_creates_need_not_be_there_yet(project):
    project.with_orders()
    pipelines = project.path / "pipelines.py"
    pipelines.write_text(
        pipelines.read_text()
        + """
@ematix.pipeline(target=Orders, name="copy", source_connection="out", target_connection="out",
                 depends_on=["load_orders"])
def copy():
    return "SELECT * FROM orders"
"""
    )
    assert "not there yet: load_orders creates it" in plan_text(project.flow().plan("copy"))


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        ("return 'SELECT FROM ('", QueryError, "does not parse"),
        ("return 42", DeclarationError, "returned int; it returns SQL text, a Source, or a"),
        ("return None", DeclarationError, "returned nothing"),
        ("return {}['x']", UserCodeError, "raised KeyError: 'x'"),
        ("return 'SELECT * FROM a.b'", SourceError, "files have no schemas"),
        ("return 'SELECT * FROM `../secret`'", SourceError, "outside of the connection's folder"),
    ],
)
def test_mistakes_in_the_function(project, body, kind, expected):
    project.with_orders()
    pipelines = project.path / "pipelines.py"
    text = pipelines.read_text()
    pipelines.write_text(
        text.replace('return "SELECT order_id, customer, amount FROM orders"', body)
    )
    error = failure(project)
    assert isinstance(error, kind)
    assert expected in str(error)
    assert "pipelines.py:" in str(error)


def test_users_own_traceback_is_kept(project):
    project.with_orders()
    pipelines = project.path / "pipelines.py"
    text = pipelines.read_text()
    pipelines.write_text(
        text.replace('return "SELECT order_id, customer, amount FROM orders"', "return 1 / 0")
    )
    text = str(failure(project))
    assert "return 1 / 0" in text
    assert "resolve/query.py" not in text


def test_a_function_with_unknown_parameters(project):
    project.with_orders()
    pipelines = project.path / "pipelines.py"
    pipelines.write_text(
        pipelines.read_text().replace("def load_orders()", "def load_orders(src, x)")
    )
    text = str(failure(project))
    assert "takes a parameter 'x' that nobody declares" in text
    assert "(known: src, tgt, spark; pipelines: no other; tables: orders)" in text


def test_a_kind_that_cannot_be_written_yet(project):
    project.with_orders()
    pipelines = project.path / "pipelines.py"
    text = pipelines.read_text()
    pipelines.write_text(text.replace('target_connection="out"', 'target_connection="landing"'))
    error = failure(project)
    assert isinstance(error, NotSupported)
    assert "asks csv for append, but that is not built yet" in str(error)


@pytest.mark.proves("types-survive")
def test_a_type_the_target_cannot_hold(project):
    project.with_orders("duckdb")
    pipelines = project.path / "pipelines.py"
    pipelines.write_text(
        pipelines.read_text().replace(
            "customer: String[8]", "customer: Annotated[Array[Text], pk()]"
        )
    )
    error = failure(project)
    assert isinstance(error, NotSupported)
    assert "cannot be a key in duckdb" in str(error)


@pytest.mark.proves("drift-kinds")
@pytest.mark.parametrize(
    ("ddl", "expected"),
    [
        (
            "CREATE TABLE orders (order_id BIGINT PRIMARY KEY NOT NULL, customer TEXT NOT NULL)",
            "amount is declared but missing from the table",
        ),
        (
            "CREATE TABLE orders (order_id BIGINT PRIMARY KEY NOT NULL, customer INTEGER NOT NULL, "
            "amount NUMERIC_TEXT(10,2))",
            "customer is INTEGER, declared as TEXT",
        ),
        (
            "CREATE TABLE orders (order_id BIGINT PRIMARY KEY NOT NULL, customer TEXT NOT NULL, "
            "amount NUMERIC_TEXT(10,2) NOT NULL)",
            "amount is NOT NULL in the table, declared nullable",
        ),
        (
            "CREATE TABLE orders (order_id BIGINT PRIMARY KEY NOT NULL, customer TEXT NOT NULL, "
            "amount NUMERIC_TEXT(10,2), extra TEXT NOT NULL)",
            "extra is in the table, NOT NULL, but not declared",
        ),
    ],
)
def test_drift_is_found_before_a_row_is_read(project, ddl, expected):
    project.with_orders()
    project.sqlite("out.db", ddl)
    error = failure(project)
    assert isinstance(error, DriftError)
    assert expected in str(error)


def test_a_table_as_declared_is_no_drift(project):
    project.with_orders()
    flow = project.flow()
    ddl = flow.plan("load_orders").steps[0].ddl
    project.sqlite("out.db", *ddl)
    assert flow.plan("load_orders").first.exists
