"""Odd projects: what a user may well write, and what was once answered wrongly."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest

from ematix_flow.errors import FlowError
from ematix_flow.plan.show import plan_text
from ematix_flow.plan.steps import SelectInTarget
from ematix_flow.spec.retry import Retry

HEAD = """
import functools

@ematix.connection
class app:
    kind = "sqlite"
    path = "app.db"

@ematix.connection
class lite:
    kind = "sqlite"
    path = "lite.db"

@ematix.connection
class house:
    kind = "duckdb"
    path = "house.duckdb"

@ematix.table(schema="shop")
class Orders:
    id: Annotated[BigInt, pk()]
    note: Text | None

@ematix.table(schema="shop")
class Totals:
    id: Annotated[BigInt, pk()]
"""
ORDERS = 'ematix.pipeline(target=Orders, source_connection="app", target_connection="house"'
TOTALS = 'ematix.pipeline(target=Totals, target_connection="house"'
SELECT = 'return "SELECT id, note FROM orders"'
LOAD = f"\n@{ORDERS})\ndef load():\n    {SELECT}\n"


@pytest.fixture
def shop(project):
    project.sqlite("app.db", "CREATE TABLE orders (id INTEGER NOT NULL, note TEXT)")

    def declared(text, toml=None):
        project.declare(HEAD + text)
        if toml is not None:
            project.write("ematix-flow.toml", toml)
        return project.flow()

    return declared


def refusal(shop, text, toml=None, name="load"):
    with pytest.raises(FlowError) as caught:
        shop(text, toml).plan(name)
    return str(caught.value)


def query_of(plan):
    """The query that runs in the source, on whichever path."""
    reads = [getattr(step, "read", step) for step in plan.steps]
    [query] = {step.query for step in reads if hasattr(step, "query")}
    return query


# The function -----------------------------------------------------------------------------------


def test_parameters_may_be_positional_only(shop):
    plan = shop(f"\n@{ORDERS})\ndef load(src, /, limit=3, *, tgt):\n    {SELECT}\n").plan("load")
    assert query_of(plan) == "SELECT id, note FROM orders"


def test_a_partial_is_a_function_and_needs_a_name(shop):
    frame = "def rows(spark, n): return spark.range(n)\n"
    plan = shop(f"{frame}{ORDERS}, name='load')(functools.partial(rows, n=3))\n").plan("load")
    assert "call load(spark) at" in plan_text(plan)
    text = refusal(shop, f"{frame}{ORDERS})(functools.partial(rows, n=3))\n")
    assert "'<partial>' cannot name a pipeline" in text
    assert 'Hint: pass name="..."' in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{ORDERS})('SELECT 1')", "stands above a function, not 'SELECT 1'"),
        (f"{ORDERS}, name='load')(dict)", "which does not tell its parameters"),
        ("@ematix.pipeline\ndef load(): pass", "with parentheses"),
        (f"@{ORDERS})\ndef load():\n    exit(0)", "raised SystemExit: 0"),
        (f"@{ORDERS})\ndef load():\n    import json\n    json.loads('{{')", "JSONDecodeError"),
        (f"@{ORDERS})\ndef load():\n    return Source.sqlite_query(app, None)", "takes SQL text"),
        (f"@{ORDERS}, source_table='orders')\ndef load(ordrs): pass", "did you mean 'orders'?"),
    ],
)
def test_what_is_no_function_of_a_pipeline(shop, text, expected):
    told = refusal(shop, text)
    assert expected in told
    assert "pipelines.py:" in told.partition(" ")[0]


def test_a_source_takes_a_connection_as_everything_else_does(shop):
    body = 'return Source.sqlite_query(app, "SELECT id, note FROM orders")'
    assert shop(f"\n@{ORDERS})\ndef load():\n    {body}\n").plan("load").source_connection == "app"


def test_an_async_function_is_planned_inside_a_running_loop(shop):
    flow = shop(f"\n@{ORDERS})\nasync def load():\n    {SELECT}\n")

    async def in_a_notebook():
        return flow.plan("load")

    assert query_of(asyncio.run(in_a_notebook())) == "SELECT id, note FROM orders"


def test_a_pipeline_above_a_pipeline_keeps_its_own_name(shop):
    flow = shop(f'\n@{ORDERS}, name="outer")\n@{ORDERS}, name="inner")\ndef load():\n    {SELECT}\n'
                f'\n@{TOTALS}, source_connection="app", depends_on=[load])\n'
                'def after():\n    return "SELECT id FROM orders"\n')  # fmt: skip
    assert [each.upstream for each in flow.after("after")] == ["outer"]


def test_a_parameter_is_a_dependency_whether_the_text_names_it_or_not(shop):
    for keywords in ("", ', source_connection="app", source_table="orders"'):
        flow = shop(
            f'{LOAD}\n@{TOTALS}{keywords})\ndef after(load):\n    return "SELECT 1 AS id"\n'
        )
        [dependency] = flow.after("after")
        assert (dependency.upstream, dependency.why) == ("load", "parameter load")


def test_a_table_of_another_schema_is_no_dependency(shop):
    flow = shop(
        '\n@ematix.pipeline(target="other.orders", source_connection="app",'
        f' target_connection="house")\ndef other():\n    {SELECT}\n'
        f"\n@{TOTALS})\ndef after(orders):\n    return orders.select('id')\n"
    )
    assert flow.after("after") == ()


def test_a_table_has_the_name_that_it_has_in_its_database(shop):
    flow = shop(
        '\n@ematix.pipeline(target=Orders, source_connection="app", target_connection="lite")\n'
        f"def load():\n    {SELECT}\n"
        '\n@ematix.pipeline(target=Totals, source_connection="lite", target_connection="lite")\n'
        'def after(load, orders, tgt):\n    return f"SELECT id FROM {load}, {orders}, {tgt}"\n'
    )
    assert (
        query_of(flow.plan("after"))
        == 'SELECT id FROM "shop__orders", "shop__orders", "shop__totals"'
    )
    assert [each.upstream for each in flow.after("after")] == ["load"]


def test_sql_cannot_name_a_table_of_another_connection(shop):
    after = f'{LOAD}\n@{TOTALS}, source_connection="app")\ndef after(load):\n    return '
    told = refusal(shop, f'{after}f"SELECT id FROM {{load}}"\n', name="after")
    assert "puts {load} into its SQL, but load writes to 'house'" in told
    assert "Hint: write FROM load, without braces" in told
    assert not shop(f'{after}"SELECT id FROM load"\n').plan("after").analysed


# Names and keywords -----------------------------------------------------------------------------


@pytest.mark.proves("keywords-checked")
@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        (', freshness_column="nte"', "freshness_column names 'nte', which is no column of"),
        (', freshness_sla="99999999999d"', "takes at most 999999999d"),
        (', upstream_freshness={"zz": "1h"}', "upstream_freshness of 'load': 'zz'"),
        (', expectations=["id > 0; DROP TABLE x"]', "takes an SQL condition such as"),
        (', expectations=["id > 0 ORDER BY id"]', "takes an SQL condition such as"),
        (", retry=Retry(base_secs=True)", "base_secs takes seconds above zero, not True"),
        (", retry=Retry(retry_on=[3])", "retry_on takes names of error classes"),
        (", engine='nonsense'", "unknown engine 'nonsense'"),
    ],
)
def test_a_keyword_that_would_mean_nothing(shop, keywords, expected):
    text = f"@{ORDERS}{keywords})\ndef load():\n    {SELECT}\n"
    with pytest.raises(FlowError) as caught:
        shop(text).explain("load")
    assert expected in str(caught.value)
    assert "pipelines.py:" in str(caught.value)


def test_error_classes_are_named_once_or_more_or_passed():
    assert Retry(retry_on="OSError").retry_on == ("OSError",)
    assert Retry(retry_on=(OSError, "ValueError")).retry_on == ("OSError", "ValueError")


def test_the_toml_cannot_rename_a_pipeline(shop):
    told = refusal(shop, LOAD, '[pipelines.load]\nname = "other"\n')
    assert "ematix-flow.toml: [pipelines.load] says name = 'other'" in told
    assert shop(LOAD, '[pipelines.load]\nname = "load"\n').plan("load").pipeline == "load"


def test_letters_are_not_only_english(shop):
    assert shop(f"\n@{ORDERS})\ndef übrig():\n    {SELECT}\n").plan("übrig").pipeline == "übrig"
    told = refusal(shop, f'\n@{ORDERS}, name="x{"y" * 100}")\ndef load():\n    {SELECT}\n')
    assert "at most 100 in all" in told


def test_a_set_has_one_order(shop):
    flow = shop(f'\n@{ORDERS}, tags={{"c", "a", "b"}})\ndef load():\n    {SELECT}\n')
    assert flow.project.pipeline("load").tags == ("a", "b", "c")


@pytest.mark.proves("dag")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ematix.workflow('load', ['other'])" + LOAD, "'load' is declared twice"),
        (LOAD + "ematix.workflow('w', [load], triggered_by=load)", "by its own job 'load'"),
        (
            "@ematix.transform(target_connection='app', depends_on='two')\ndef one(): ...\n"
            "@ematix.transform(target_connection='app', depends_on='one')\ndef two(): ...\n",
            "transforms wait for each other in a circle: one -> two -> one",
        ),
    ],
)
def test_workflows_and_transforms_are_checked(shop, text, expected):
    with pytest.raises(FlowError) as caught:
        shop(text).order(())
    assert expected in str(caught.value)


# Targets ----------------------------------------------------------------------------------------

BY_NAME = ORDERS.replace("target=Orders", 'target="shop.later"')
LATER = "\n@ematix.table(schema='shop')\nclass Later:\n    id: Annotated[BigInt, pk()]\n"


def test_a_target_by_name_is_the_table_that_is_declared_later(shop):
    body = "\ndef load():\n    return 'SELECT id FROM orders'\n"
    flow = shop(f"\n@{BY_NAME}){body}{LATER}")
    assert 'PRIMARY KEY ("id")' in plan_text(flow.plan("load"), sql=True)
    told = refusal(shop, f"\n@{BY_NAME}, mode='merge', keys=['nope']){body}{LATER}")
    assert "keys names 'nope', which is no column of shop.later" in told


def test_a_target_by_name_needs_keys_that_its_query_returns(shop):
    told = refusal(shop, f"\n@{BY_NAME}, mode='merge')\ndef load():\n    {SELECT}\n")
    assert "matches rows by key, and of shop.later only the name is known" in told
    assert "Hint: pass keys=[...]" in told
    told = refusal(shop, f"\n@{BY_NAME}, mode='merge', keys='nte')\ndef load():\n    {SELECT}\n")
    assert "keys names 'nte', which is no column of shop.later; did you mean 'note'?" in told


def test_columns_that_only_order_or_delete_need_not_be_declared(shop):
    flow = shop(
        f"\n@{ORDERS}, mode='merge', sequence_by='TS', apply_as_deletes=\"op = 'd'\")\n"
        "def load():\n    return 'SELECT id, note, ts, op FROM orders'\n"
    )
    assert flow.plan("load").first.keys.columns == ("id",)


@pytest.mark.proves("column-map")
def test_mapped_columns_are_matched_by_their_new_names(shop):
    mapped = f"\n@{ORDERS}, column_map={{'Text': 'note'}})\ndef load():\n    return "
    steps = shop(f"{mapped}'SELECT id, note AS text FROM orders'\n").plan("load").steps
    [select] = [step for step in steps if isinstance(step, SelectInTarget)]
    assert '"text" AS "note"' in select.selection.sql
    told = refusal(shop, f"{mapped}'SELECT id, id AS texts FROM orders'\n")
    assert "unknown column in column_map: 'Text'; did you mean 'texts'?" in told
    told = refusal(shop, f"{mapped}'SELECT note AS text FROM orders'\n")
    assert "the query does not return id" in told


@pytest.mark.proves("validate-analyses")
def test_validate_tells_the_users_line_and_knows_the_columns_that_only_order(shop):
    merge = f"\n@{ORDERS}, mode='merge', sequence_by='ts')\ndef load():\n    return "
    assert shop(f"{merge}'SELECT *, id AS ts FROM orders'\n").validate("load").error is None
    error = shop(f"{merge}'SELECT *, nope AS ts FROM orders'\n").validate("load").error
    assert "pipelines.py:" in str(error)
    assert "source 'app': SQLite refuses the query: no such column: nope" in str(error)


def test_what_sqlite_holds_anyway_is_no_drift(shop, project):
    project.sqlite("lite.db", "CREATE TABLE shop__totals (id INTEGER NOT NULL PRIMARY KEY)")
    text = TOTALS.replace('"house"', '"lite"')
    body = "\ndef load():\n    return 'SELECT id FROM orders'\n"
    assert shop(f'\n@{text}, source_connection="app"){body}').plan("load").first.exists


@pytest.mark.proves("files-refuse-merge")
def test_every_one_of_several_targets_is_checked(shop):
    text = (
        "files = connect('files', kind='parquet', path='lake')\n"
        "@ematix.pipeline(source_connection='app', targets=[ematix.target(Orders, 'house'), {}])\n"
        f"def load():\n    {SELECT}\n"
    )
    told = refusal(shop, text.format("ematix.target(Totals, 'files', mode='scd2')"))
    assert "asks parquet for scd2, but it cannot" in told
    told = refusal(shop, text.format("ematix.target(Totals, 'huose')"))
    assert "unknown connection 'huose'; did you mean 'house'?" in told
    told = refusal(shop, text.format("ematix.target(Orders, 'house')"))
    assert "targets names house.shop.orders twice" in told


def test_another_writer_is_told_however_it_writes_the_name(shop):
    other = ORDERS.replace("target=Orders", 'target="SHOP.Orders"')
    plan = shop(f"{LOAD}\n@{other})\ndef other():\n    {SELECT}\n").plan("load")
    assert plan.remarks == ("shop.orders is also written by other",)


# Answers for programs ---------------------------------------------------------------------------


@pytest.mark.slow
def test_what_user_code_prints_does_not_get_into_the_json(shop, project):
    shop(f"print('module')\n@{ORDERS})\ndef load():\n    print('function')\n    {SELECT}\n")
    command = [sys.executable, "-m", "ematix_flow.cli", "plan", "--format", "json"]
    done = subprocess.run(command, cwd=project.path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["plans"][0]["pipeline"] == "load"
    assert done.stderr == "module\nfunction\n"
