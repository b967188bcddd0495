"""What a plan says beyond its steps."""

from datetime import UTC, datetime

import pytest

from ematix_flow.errors import EXIT_CONSENT, NeedsConsent, NotSupported, PlanError, UsageError
from ematix_flow.plan.show import plan_json, plan_text
from ematix_flow.sqltext.bookkeeping import LEDGER, Bookkeeping

PROJECT = """
@ematix.connection
class app:
    kind = "sqlite"
    path = "app.db"

@ematix.connection
class out:
    kind = "sqlite"
    path = "out.db"

@ematix.table
class Customers:
    customer_id: Annotated[BigInt, pk()]
    email: Annotated[Text, natural_key()]
    changed_at: TimestampTZ

@ematix.pipeline(target=Customers, source_connection="app", target_connection="out"{keywords})
def load():
    return "SELECT customer_id, email, changed_at FROM customers"

@ematix.pipeline(target=Customers, name="again", source_connection="app", target_connection="out")
def again():
    return "SELECT customer_id, email, changed_at FROM customers"
"""
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


class StoppedClock:
    def now(self):
        return NOW

    def monotonic(self):
        return 0.0


def planned(project, keywords="", **options):
    project.declare(PROJECT.format(keywords=keywords))
    if not (project.path / "app.db").exists():
        project.sqlite("app.db", "CREATE TABLE customers (customer_id, email, changed_at)")
    return project.flow(clock=StoppedClock(), **options).plan("load")


def landed(project, at="2026-11-15T01:00:00+00:00", watermark=None):
    sql = Bookkeeping("sqlite")
    values = ("load", "customers", 0, "r1", 0, None, None, watermark, 1, 0, at)
    values += (0,) * (len(LEDGER.columns) - len(values))
    quoted = ", ".join("NULL" if value is None else repr(value) for value in values)
    project.sqlite("out.db", *sql.create, f"INSERT INTO _flow_ledger VALUES ({quoted})")


@pytest.mark.proves("plan-shows")
@pytest.mark.parametrize(
    ("keywords", "at", "why"),
    [
        ("", None, "it was never loaded"),
        ("", "2026-11-15T01:00:00+00:00", "no schedule: it runs when asked"),
        (
            ", schedule='0 2 * * *'",
            "2026-11-15T01:00:00+00:00",
            "its slot of 2026-11-15T02:00:00+00:00 has not been loaded",
        ),
        (
            ", schedule='0 2 * * *'",
            "2026-11-15T02:00:01+00:00",
            "not due before 2026-11-16T02:00:00+00:00",
        ),
        (
            ", schedule='0 2 * * *', timezone='America/New_York'",
            "2026-11-15T06:59:00+00:00",
            "its slot of 2026-11-15T02:00:00-05:00 has not been loaded",
        ),
        (
            ", depends_on='again', upstream_freshness='1h'",
            None,
            "it was never loaded; a schedule would wait for again",
        ),
    ],
)
def test_why_it_would_run(project, keywords, at, why):
    if at:
        landed(project, at)
    assert planned(project, keywords).why == why


@pytest.mark.proves("plan-shows")
@pytest.mark.parametrize(
    ("watermark", "lookback", "text", "start"),
    [
        (None, "", "window all rows: changed_at has no watermark yet", None),
        (
            "date:2026-11-01 00:00:00.000000",
            "",
            "window changed_at > date 2026-11-01\n",
            "> date 2026-11-01",
        ),
        (
            "timestamp:2026-11-01 09:00:00.000000",
            ", lookback='2h'",
            "window changed_at > timestamp 2026-11-01 07:00:00.000000 (2h before timestamp",
            "> timestamp 2026-11-01 09:00:00.000000",
        ),
        (
            "integer:10000000000000000017",
            ", lookback=5",
            "window customer_id > integer 12 (5 before integer 17, for rows that came late)",
            "> integer 17",
        ),
    ],
)
def test_the_window_starts_at_the_ledgers_watermark(project, watermark, lookback, text, start):
    landed(project, watermark=watermark)
    column = "customer_id" if "customer_id" in text else "changed_at"
    plan = planned(project, f", incremental_column={column!r}{lookback}")
    assert text in plan_text(plan)
    assert plan_json(plan)["window"]["start"] == start


def test_a_lookback_that_does_not_fit_the_column_is_told(project):
    landed(project, watermark="integer:10000000000000000017")
    with pytest.raises(PlanError, match="an integer column takes a whole number, not '2h'"):
        planned(project, ", incremental_column='changed_at', lookback='2h'")


def test_a_key_that_is_not_the_primary_key_is_noted(project):
    plan = planned(project, ", mode='merge'")
    assert plan.first.keys.columns == ("email",)
    assert "rows match by email  (natural_key())" in plan_text(plan)
    assert "not by the primary key customer_id" in plan_text(plan)


PRICES = """
connect("house", kind="duckdb", path="house.duckdb")

@ematix.table
class Prices:
    id: Annotated[BigInt, pk()]
    price: Numeric[10, 2]

@ematix.pipeline(target=Prices, source_connection="app", target_connection="{0}")
def load():
    return "SELECT id, price FROM prices"
"""


@pytest.mark.proves("type-table", "plan-shows")
@pytest.mark.parametrize(
    ("target", "notes"),
    [
        ("out", ["  note: price (Numeric[10, 2]) as canonical text: SQLite has no exact decimals"]),
        ("house", []),
    ],
)
def test_what_is_unusual_about_a_type_is_noted(project, target, notes):
    head, _, _ = PROJECT.partition("@ematix.table")
    project.declare(head + PRICES.format(target))
    project.sqlite("app.db", "CREATE TABLE prices (id BIGINT, price NUMERIC_TEXT(10,2))")
    text = plan_text(project.flow().plan("load"))
    assert [line for line in text.splitlines() if "price (" in line] == notes


def test_another_writer_of_the_table_is_noted(project):
    assert "note: customers is also written by again" in plan_text(planned(project))


@pytest.mark.proves("nothing-half-written")
@pytest.mark.parametrize(
    ("keywords", "blocker"),
    [
        (", expectations=['customer_id > 0']", "expectations are not built yet"),
    ],
)
def test_what_is_not_built_is_planned_and_not_run(project, keywords, blocker):
    plan = planned(project, keywords)
    assert f"cannot run yet: {blocker}" in plan_text(plan)
    with pytest.raises(NotSupported, match=blocker.replace("(", r"\(")):
        project.flow().run("load")
    assert not (project.path / "out.db").exists()


LOSSY = (
    "CREATE TABLE customers (customer_id BIGINT NOT NULL PRIMARY KEY, email TEXT NOT NULL, "
    "changed_at TIMESTAMPTZ_TEXT NOT NULL, phone TEXT NOT NULL)"
)


@pytest.mark.slow
@pytest.mark.proves("drift-consent", "plan-shows")
def test_a_change_with_loss_needs_consent(project):
    project.sqlite("out.db", LOSSY)
    plan = planned(project, ", on_drift='evolve'")
    assert plan.destructive
    assert "DESTRUCTIVE: phone" in plan_text(plan)
    with pytest.raises(NeedsConsent, match="would change customers with loss: phone"):
        project.flow().run("load")
    done = project.cli("plan", "load", env={"HOME": str(project.path)})
    assert done.returncode == EXIT_CONSENT
    assert "- drop: phone" in done.stdout
    assert "--allow-destructive" in done.stderr
    allowed = project.cli("plan", "load", "--allow-destructive", env={"HOME": str(project.path)})
    assert (allowed.returncode, allowed.stderr) == (0, "")


@pytest.mark.slow
def test_every_error_is_told_and_the_other_plans_are_shown(project):
    planned(project)
    more = """
@ematix.pipeline(target=Customers, name="{0}", source_connection="{0}", target_connection="out")
def {0}():
    return "SELECT 1"
"""
    module = project.path / "pipelines.py"
    module.write_text(module.read_text() + more.format("left") + more.format("right"))
    done = project.cli("plan", env={"HOME": str(project.path)})
    assert "unknown connection 'left'" in done.stderr
    assert "unknown connection 'right'" in done.stderr
    assert "app -> out.customers" in done.stdout
    assert done.returncode == UsageError.exit_code
    told = project.cli("plan", "--format", "json", env={"HOME": str(project.path)})
    assert '"pipeline": "left"' in told.stdout


@pytest.mark.slow
@pytest.mark.proves("plan-pure", "plan-shows")
def test_a_plan_in_json_is_the_same_bytes_twice(project):
    planned(project)
    first, second = (
        project.cli("plan", "--format", "json", env={"HOME": str(project.path)}).stdout
        for _ in range(2)
    )
    assert first == second
    assert '"version": 1' in first
    assert '"table": "customers"' in first  # its lineage


@pytest.mark.slow
@pytest.mark.proves("plan-pure", "light-imports")
def test_planning_imports_no_spark(project):
    planned(project)
    code = (
        "import sys; from ematix_flow.api import Flow; "
        "Flow.open('.').explain_all(with_lineage=True); "
        "print(sorted({'pyspark', 'py4j', 'pandas', 'pyarrow'} & set(sys.modules)))"
    )
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project.path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_an_inferred_table_has_the_querys_columns(project):
    project.sqlite("app.db", "CREATE TABLE customers (customer_id BIGINT, email TEXT)")
    project.declare(
        PROJECT.format(keywords="")
        + """
@ematix.pipeline(target="copy", source_connection="app", target_connection="out")
def copied():
    return "SELECT customer_id, email FROM customers"
"""
    )
    plan = project.flow().plan("copied")
    [create] = [statement for statement in plan.steps[0].ddl if '"copy"' in statement]
    assert create == (
        'CREATE TABLE IF NOT EXISTS "copy" ("customer_id" BIGINT, "email" TEXT, '
        '"_loaded_at" TIMESTAMPTZ_TEXT, "_batch_id" TEXT)'
    )
