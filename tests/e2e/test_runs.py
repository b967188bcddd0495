"""A pipeline through all eight stages, on Spark, into real databases."""

import json
from pathlib import Path

import pytest

from ematix_flow.errors import (
    ContractError,
    EngineError,
    FlowError,
    PipelineBusy,
    QueryError,
    SourceError,
    TargetError,
    UserCodeError,
)
from ematix_flow.record.lease import pipeline_lease
from ematix_flow.record.run import RunStatus

LOADED = [(1, "ada", "19.90"), (2, "grace", "5.00"), (3, "alan", None)]
ROWS = "SELECT order_id, customer, CAST(amount AS VARCHAR) FROM orders ORDER BY order_id"


@pytest.mark.every_engine
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_append_then_truncate(project, kind):
    flow = project.with_orders(kind).flow()
    done = flow.run("load_orders")
    assert done.status is RunStatus.SUCCEEDED
    assert (done.rows.read, done.rows.inserted, done.rows.deleted) == (3, 3, 0)
    assert project.rows("out.db", ROWS) == LOADED

    project.with_orders(kind, "truncate", [("9", "kurt", "1.00")])
    done = project.flow().run("load_orders")
    assert (done.rows.inserted, done.rows.deleted) == (1, 3)
    assert project.rows("out.db", ROWS) == [(9, "kurt", "1.00")]


@pytest.mark.proves("record-of-run", "engine-chosen")
def test_the_record_tells_steps_engine_and_counts(project):
    done = project.with_orders().flow().run("load_orders")
    [kept] = project.flow().runs()
    assert kept == done
    assert [step.step for step in done.steps] == [
        *("plan", "prepare", "engine", "read", "transform", "validate", "stage", "commit")
    ]
    assert done.engine["engine"] == "local"
    assert done.engine["spark_version"].startswith("4.1.")
    assert done.engine["mode"] in ("embedded", "warm")


@pytest.mark.every_engine
def test_staging_and_leases_are_gone_after_a_run(project):
    project.with_orders().flow().run("load_orders")
    state = project.path / ".ematix-flow"
    assert not any((state / "staging" / "load_orders").iterdir())
    assert not list(state.glob("leases/*.json"))


def failing(project, kind=FlowError):
    """Run, expect *kind*, and check that nothing is left behind."""
    before = _target_rows(project)
    with pytest.raises(kind) as caught:
        project.flow().run("load_orders")
    assert _target_rows(project) == before
    [failed, *_] = project.flow().runs()
    assert failed.status is RunStatus.FAILED
    assert failed.error["type"] == type(caught.value).__name__
    staging = project.path / ".ematix-flow" / "staging"
    assert not [path for path in staging.glob("*/*") if path.exists()]
    text = str(caught.value)
    for noise in ("java.", "scala.", "\tat ", "py4j", "JVM stacktrace"):
        assert noise not in text
    return text


def _target_rows(project):
    if not (project.path / "out.db").exists():
        return []
    return project.rows("out.db", "SELECT * FROM orders")


@pytest.mark.proves("null-in-not-null", "values-refused", "nothing-half-written")
@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (("7", "", "1.00"), "row order_id=7: customer is NULL, but declared NOT NULL"),
        (("", "eve", "1.00"), "row order_id=NULL: order_id is NULL, but declared NOT NULL"),
        (("7", "eve", "abc"), "row order_id=7: amount: 'abc' does not fit Numeric[10, 2]"),
        (("7", "eve", "1.005"), "amount: '1.005' does not fit Numeric[10, 2] without loss"),
        (("7", "eve", "123456789.00"), "amount: '123456789.00' does not fit Numeric[10, 2]"),
        (("7.5", "eve", "1"), "order_id: '7.5' does not fit BigInt"),
        (("7", "far too long", "1"), "customer: 'far too long' is longer than String[8]"),
    ],
)
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_row_that_breaks_the_contract_is_named_and_nothing_is_written(
    project, kind, row, expected
):
    project.with_orders(kind, rows=[("1", "ada", "19.90"), row])
    text = failing(project, ContractError)
    assert "1 of 2 rows break the declaration of orders; nothing was written" in text
    assert expected in text
    assert "Hint: " in text


def query(project, sql):
    pipelines = project.path / "pipelines.py"
    text = pipelines.read_text()
    pipelines.write_text(text.replace("SELECT order_id, customer, amount FROM orders", sql))


@pytest.mark.proves("no-stack-trace")
@pytest.mark.parametrize(
    ("sql", "kind", "expected"),
    [
        ("SELECT order_id, customr AS customer, amount FROM orders", QueryError, "`customer`"),
        ("SELECT order_id, customer FROM orders", ContractError, "does not return amount"),
        (
            "SELECT *, 1 AS extra FROM orders",
            ContractError,
            "returns extra, which orders does not declare",
        ),
        (
            "SELECT order_id, customer, amount, amount FROM orders",
            ContractError,
            "column 'amount' twice",
        ),
        ("SELECT order_id, customer, 1 / (order_id - 1) AS amount FROM orders", FlowError, "zero"),
        ("SELECT order_id, nofunc(customer) AS customer, amount FROM orders", QueryError, "nofunc"),
    ],
)
def test_a_query_that_cannot_work(project, sql, kind, expected):
    project.with_orders()
    query(project, sql)
    assert expected.lower() in failing(project, kind).lower()


@pytest.mark.proves("bad-files")
def test_a_csv_row_with_too_many_fields_stops_the_run(project):
    project.with_orders(rows=[("1", "ada", "1.00"), ("2", "b", "2.00", "what", "else")])
    assert "orders.csv" in failing(project, SourceError)


@pytest.mark.every_engine
def test_a_header_alone_is_no_rows(project):
    done = project.with_orders(rows=[]).flow().run("load_orders")
    assert (done.rows.read, done.rows.inserted) == (0, 0)


def test_a_folder_of_files_is_one_table(project):
    project.with_orders()
    first = project.path / "data" / "orders.csv"
    folder = project.path / "data" / "orders"
    folder.mkdir()
    first.rename(folder / "a.csv")
    (folder / "b.csv").write_text("order_id,customer,amount\n4,kurt,1.00\n")
    assert project.flow().run("load_orders").rows.inserted == 4
    (folder / "c.csv").write_text("order_id,amount,customer\n5,1.00,emmy\n")
    assert "c.csv' has other columns" in failing(project, SourceError)


def test_a_path_of_odd_characters(make_project):
    odd = make_project("a [b] {c}, d*?é")
    assert odd.with_orders().flow().run("load_orders").rows.inserted == 3


@pytest.mark.proves("nothing-half-written")
def test_the_same_rows_again_are_refused_by_the_key_and_the_first_stay(project):
    project.with_orders("duckdb").flow().run("load_orders")
    assert "already there" in failing(project, TargetError)


@pytest.mark.proves("one-lease")
@pytest.mark.every_engine
def test_a_second_run_at_the_same_time_is_refused(project):
    flow = project.with_orders().flow()
    held = pipeline_lease(project.path / ".ematix-flow" / "leases", "load_orders", flow.clock)
    with held, pytest.raises(PipelineBusy, match="already running"):
        flow.run("load_orders")
    assert flow.runs() == []
    assert flow.run("load_orders").rows.inserted == 3


def test_a_function_that_raises_is_recorded_with_its_line(project):
    project.with_orders()
    pipelines = project.path / "pipelines.py"
    pipelines.write_text(pipelines.read_text().replace("    return", "    1 / 0\n    return"))
    assert "pipelines.py:" in failing(project, UserCodeError)


@pytest.mark.proves("bad-engine")
@pytest.mark.parametrize("engine", ["locl", "http://x", "spark://", "sc://"])
def test_an_unknown_engine(project, engine):
    project.with_orders()
    with pytest.raises(FlowError, match="engine"):
        project.flow(engine=engine).run("load_orders")


@pytest.mark.proves("bad-engine")
def test_nobody_at_a_connect_address(project):
    project.with_orders()
    with pytest.raises(EngineError, match="nothing answers at sc://localhost:1"):
        project.flow(engine="sc://localhost:1").run("load_orders")
    assert _target_rows(project) == []


def test_a_far_engine_needs_a_shared_staging_path(project):
    project.with_orders()
    with pytest.raises(FlowError, match="does not share this machine's disk"):
        project.flow(engine="spark://far.example:7077").run("load_orders")


@pytest.mark.proves("nothing-half-written")
def test_rows_that_the_engine_staged_elsewhere_are_missed(project, monkeypatch):
    """A disk that is not shared must not look like a load of no rows."""
    project.with_orders("sqlite", "truncate").flow().run("load_orders")
    monkeypatch.setattr(Path, "glob", lambda *_: iter(()))
    with pytest.raises(EngineError, match="the engine staged 3 rows, but 0 are in"):
        project.flow().run("load_orders")
    monkeypatch.undo()
    assert project.rows("out.db", ROWS) == LOADED


def test_a_state_folder_that_cannot_be_written(project):
    project.with_orders()
    (project.path / ".ematix-flow").write_text("a file, not a folder")
    with pytest.raises(FlowError, match="state cannot be written"):
        project.flow().run("load_orders")


def test_what_runs_leave_is_private(project):
    project.with_orders().flow().run("load_orders")
    state = project.path / ".ematix-flow"
    assert state.stat().st_mode & 0o077 == 0
    assert (state / "runs.jsonl").stat().st_mode & 0o077 == 0


def test_a_shared_staging_path_is_split_by_project(make_project, tmp_path):
    for name in ("one", "two"):
        project = make_project(name).with_orders()
        project.write("ematix-flow.toml", f'staging_path = "{tmp_path}/shared"')
        project.flow().run("load_orders")
    assert len(list((tmp_path / "shared").iterdir())) == 2


@pytest.mark.every_engine
def test_one_pipeline_after_another_reads_what_was_just_written(project):
    project.with_orders("duckdb")
    pipelines = project.path / "pipelines.py"
    pipelines.write_text(
        pipelines.read_text()
        + """
@ematix.table(schema="mart")
class Totals:
    orders: BigInt
    amount: Numeric[38, 2] | None

@ematix.pipeline(target=Totals, mode="truncate", source_connection=out, target_connection=out,
                 depends_on="load_orders")
def totals(src):
    assert src.kind == "duckdb"
    return "SELECT count(*) AS orders, sum(amount) AS amount FROM orders"
"""
    )
    flow = project.flow()
    for name in flow.order(()):
        flow.run(name)
    assert project.rows("out.db", "SELECT orders, CAST(amount AS VARCHAR) FROM mart.totals") == [
        (3, "24.90")
    ]


@pytest.mark.every_engine
def test_source_table_reads_a_table_whole(project):
    project.sqlite(
        "app.db",
        "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, score REAL)",
        "INSERT INTO customers VALUES (1, 'ada', 0.5), (2, 'grace', NULL)",
    )
    project.declare(
        """
        @ematix.connection
        class app:
            kind = "sqlite"
            path = "app.db"

        @ematix.connection
        class out:
            kind = "duckdb"
            path = "out.db"

        @ematix.table
        class Customers:
            id: Annotated[BigInt, pk()]
            name: Text
            score: Double | None

        @ematix.pipeline(target=Customers, source_connection="app", target_connection="out",
                         source_table="customers")
        def load():
            pass
        """
    )
    assert project.flow().run("load").rows.inserted == 2
    assert project.rows("out.db", "SELECT id, name, score FROM customers ORDER BY id") == [
        (1, "ada", 0.5),
        (2, "grace", None),
    ]


@pytest.mark.proves("values-refused")
@pytest.mark.parametrize(
    ("path", "error", "told"),
    [
        ("spark", SourceError, r"column 'n' holds 'seven'.*row id=2"),
        ("in_database", ContractError, r"(?s)1 of 2 rows.*row id=2.*'seven' does not fit"),
    ],
)
def test_a_sqlite_value_that_is_not_its_type_names_the_row(project, path, error, told):
    project.sqlite(
        "app.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)",
        "INSERT INTO t VALUES (1, 7), (2, 'seven')",
    )
    project.declare(
        f"""
        @ematix.connection
        class app:
            kind = "sqlite"
            path = "app.db"

        @ematix.table
        class Out:
            id: BigInt
            n: BigInt

        @ematix.pipeline(
            target=Out, source_connection=app, target_connection=app, force_path="{path}"
        )
        def load():
            return "SELECT id, n FROM t"
        """
    )
    with pytest.raises(error, match=told):
        project.flow().run("load")


def test_a_query_the_source_refuses(project):
    project.sqlite("app.db", "CREATE TABLE t (id INTEGER PRIMARY KEY)")
    project.declare(
        """
        @ematix.connection
        class app:
            kind = "sqlite"
            path = "app.db"

        @ematix.table
        class Out:
            id: BigInt

        @ematix.pipeline(target=Out, source_connection=app, target_connection=app)
        def load():
            return "SELECT idd AS id FROM t"
        """
    )
    with pytest.raises(QueryError, match="no such column: idd") as caught:
        project.flow().run("load")
    assert "pipelines.py:" in str(caught.value)
    assert "source 'app'" in str(caught.value)


@pytest.mark.proves("borrowed-session")
def test_a_borrowed_session_is_neither_changed_nor_stopped(project):
    project.with_orders()
    owner = project.flow()
    from ematix_flow.engine.host.machine import this_machine
    from ematix_flow.engine.opening import open_engine
    from ematix_flow.engine.spark.sizing import size

    with open_engine(
        owner.engine_choice(), sizing=size(this_machine()), state_dir=owner.config.state_directory
    ) as engine:
        session = engine.new_session()
        session.conf.set("spark.sql.shuffle.partitions", "17")
        before = dict(session.conf.getAll)
        views = [table.name for table in session.catalog.listTables()]
        done = project.flow(session=session).run("load_orders")
        assert done.engine["mode"] == "borrowed"
        assert dict(session.conf.getAll) == before
        assert [table.name for table in session.catalog.listTables()] == views
        assert session.range(3).count() == 3


@pytest.mark.proves("record-of-run")
def test_runs_as_json_have_the_documented_shape(project):
    project.with_orders().flow().run("load_orders")
    shown = project.json("runs")
    assert shown["version"] == 1
    [run] = shown["runs"]
    assert {"run_id", "pipeline", "status", "started_at", "ended_at", "rows", "error"} <= set(run)
    assert run["status"] == "succeeded"
    assert json.dumps(run)
    assert Path(project.path / ".ematix-flow" / "runs.jsonl").exists()
