import re
from datetime import timedelta
from pathlib import Path
from typing import get_type_hints

import pytest

from ematix_flow.declare import keywords
from ematix_flow.declare.keywords import PipelineKeywords, WriteKeywords
from ematix_flow.errors import DeclarationError, FlowError
from ematix_flow.spec.modes import CatchUp, HandleDeletes, Mode, OnDrift, OnDuplicateKeys
from ematix_flow.spec.pipeline import Expectation, HistoryColumns
from ematix_flow.spec.retry import Retry
from ematix_flow.spec.table import TableName
from ematix_flow.spec.transform import (
    DeduplicateBy,
    FilterWhere,
    FunctionStep,
    Limit,
    SamplePct,
    SqlStep,
    TransformRef,
)

EVERYTHING = """
@ematix.connection
class a:
    kind = "sqlite"
    path = "a.db"

@ematix.table
class T:
    id: Annotated[BigInt, pk()]
    name: Text
    at: TimestampTZ

@ematix.transform(target_connection=a, schedule="0 3 * * *")
def tidy():
    "Keep it small."
    return "VACUUM"

def shout(frame):
    return frame

@ematix.pipeline(
    target=T, mode="scd2", name="everything", schedule="0 2 * * *",
    timezone="America/New_York", source_connection=a, target_connection="a",
    source_table="things", column_map={"label": "name"}, keys="id",
    compare_columns=["name"], event_timestamp_column="at", sequence_by="version",
    apply_as_deletes="op = 'd'", history_columns={"valid_from": "since"},
    handle_deletes="ignore", incremental_column="at", lookback="2h30m", on_drift="evolve",
    strict_schema=True, on_duplicate_keys="last", ttl="90d",
    transforms_pre=[deduplicate_by("id", order_by="at DESC"), filter_where("id > 0"), limit(10),
                    sample_pct(50, seed=3), "SELECT * FROM source", shout],
    transforms_post=[ematix.transform_ref("tidy")],
    expectations={"has a name": "name <> ''"}, on_quality_failure="quarantine",
    freshness_sla="1d", freshness_column="at", depends_on=[], upstream_freshness="1h",
    retry=Retry(max_attempts=5, backoff="linear", base_secs=1), catch_up="all", lease_ttl="90s",
    max_delete_fraction=0.1, force_path="spark", continue_on_failure=True,
    continue_on_failure_post=True, alert_on_quality_warn=True, idempotent=True, engine="local",
    dialect="duckdb", partition_by=["name"], tags=["nightly"],
)
def load():
    "Load everything.\\n\\nIn detail."

ematix.workflow("nightly", [load], schedule="0 1 * * *", triggered_by=AnyOf("x", AllOf("y", load)))
"""


def declared(project, text):
    project.declare(text)
    return project.flow().project


@pytest.mark.parametrize("policy", ["hard", "soft"])
def test_a_part_of_a_snapshot_cannot_say_what_is_deleted(project, policy):
    whole = EVERYTHING.replace('handle_deletes="ignore"', f'handle_deletes="{policy}"')
    with pytest.raises(DeclarationError, match="an incremental load is only a part of one"):
        declared(project, whole)
    whole = whole.replace('incremental_column="at", lookback="2h30m",', "")
    spec = declared(project, whole).pipelines["everything"]
    assert spec.target.write.handle_deletes is HandleDeletes(policy)


@pytest.mark.proves("keywords-checked")
def test_every_keyword_reaches_the_spec(project):
    loaded = declared(project, EVERYTHING)
    spec = loaded.pipelines["everything"]
    write, read, timing = spec.target.write, spec.read, spec.timing
    assert (write.mode, write.keys, write.compare_columns) == (Mode.SCD2, ("id",), ("name",))
    assert write.column_map == (("label", "name"),)
    assert (write.event_timestamp_column, write.sequence_by) == ("at", ("version",))
    assert write.apply_as_deletes == "op = 'd'"
    assert write.history_columns == HistoryColumns(valid_from="since")
    assert write.handle_deletes is HandleDeletes.IGNORE
    assert write.on_duplicate_keys is OnDuplicateKeys.LAST
    assert (write.on_drift, write.strict_schema) == (OnDrift.EVOLVE, True)
    assert (write.ttl, write.max_delete_fraction) == (timedelta(days=90), 0.1)
    assert write.partition_by == ("name",)
    assert (read.source_table, read.dialect) == ("things", "duckdb")
    assert (read.incremental_column, read.lookback) == ("at", timedelta(hours=2, minutes=30))
    assert str(timing.schedule) == "0 2 * * * (America/New_York)"
    assert (timing.depends_on, timing.catch_up) == ((), CatchUp.ALL)
    assert timing.upstream_freshness == (("*", timedelta(hours=1)),)
    assert timing.retry == Retry(max_attempts=5, backoff="linear", base_secs=1)
    assert (timing.freshness_sla, timing.freshness_column) == (timedelta(days=1), "at")
    assert (timing.lease_ttl, timing.idempotent) == (timedelta(seconds=90), True)
    assert timing.continue_on_failure
    assert timing.continue_on_failure_post
    [expectation] = spec.quality.expectations
    assert expectation == Expectation(name="has a name", condition="name <> ''")
    assert (spec.quality.on_failure, spec.quality.alert_on_warn) == ("quarantine", True)
    assert [type(step) for step in spec.transforms_pre] == [
        *(DeduplicateBy, FilterWhere, Limit, SamplePct, SqlStep, FunctionStep)
    ]
    assert spec.transforms_post == (TransformRef(name="tidy"),)
    assert (spec.force_path, spec.engine, spec.tags) == ("spark", "local", ("nightly",))
    assert spec.description == "Load everything."
    assert loaded.transforms["tidy"].description == "Keep it small."
    assert loaded.workflows["nightly"].jobs == ("everything",)


@pytest.mark.proves("keywords-checked")
def test_the_keywords_are_those_of_the_surface():
    surface = """target targets mode name schedule timezone source_connection target_connection
        source_table column_map keys update_columns compare_columns event_timestamp_column
        sequence_by apply_as_deletes ignore_null_updates history_columns handle_deletes
        incremental_column lookback on_drift strict_schema on_duplicate_keys ttl transforms_pre
        transforms_post expectations on_quality_failure freshness_sla freshness_column depends_on
        upstream_freshness retry catch_up lease_ttl max_delete_fraction force_path
        continue_on_failure continue_on_failure_post alert_on_quality_warn idempotent engine
        dialect partition_by tags"""
    assert set(PipelineKeywords.__annotations__) == set(surface.split())


@pytest.mark.proves("keywords-checked", "user-typing")
def test_what_editors_check_is_what_is_checked_at_run_time():
    assert set(get_type_hints(PipelineKeywords)) == set(keywords._PIPELINE_CHECKS)
    assert set(get_type_hints(WriteKeywords)) == set(keywords._WRITE_CHECKS)


def test_every_keyword_is_documented():
    page = (Path(__file__).parents[3] / "docs" / "pipelines.md").read_text()
    documented = set(re.findall(r"`(\w+)`", page))
    assert set(PipelineKeywords.__annotations__) <= documented


SMALL = """
@ematix.connection
class a:
    kind = "sqlite"
    path = "a.db"

@ematix.table
class T:
    id: Annotated[BigInt, pk()]

@ematix.pipeline(target=T, source_connection="a", target_connection="a")
def load():
    return "SELECT 1 AS id"
"""


def test_the_toml_overrides_the_decorator(project):
    project.write(
        "ematix-flow.toml",
        """
        [pipelines.load]
        mode = "merge"
        schedule = "0 4 * * *"
        depends_on = []
        retry = { max_attempts = 2 }
        target = "t"
        """,
    )
    spec = declared(project, SMALL).pipelines["load"]
    assert spec.mode is Mode.MERGE
    assert str(spec.timing.schedule) == "0 4 * * * (UTC)"
    assert spec.timing.depends_on == ()
    assert spec.timing.retry == Retry(max_attempts=2)
    assert spec.target.table.columns[0].name == "id"


def test_a_wrong_override_names_both_places(project):
    project.write("ematix-flow.toml", "[pipelines.load]\nmode = 'merge'\nkeys = ['ib']")
    with pytest.raises(DeclarationError) as caught:
        declared(project, SMALL)
    assert re.search(r"pipelines\.py:\d+ with \[pipelines\.load\] of .*toml", str(caught.value))


def test_a_target_may_be_a_name(project):
    spec = declared(project, SMALL.replace("target=T", "target='raw.copy'")).pipelines["load"]
    assert spec.target.table == TableName(name="copy", schema="raw")


def test_several_targets_each_say_their_own(project):
    several = "targets=[ematix.target(T, 'a', mode='merge'), ematix.target('t2', a)]"
    text = SMALL.replace("target=T,", several + ",").replace(', target_connection="a"', "")
    spec = declared(project, text).pipelines["load"]
    assert [(str(each.name), each.write.mode.value) for each in spec.targets] == [
        ("t", "merge"),
        ("t2", "append"),
    ]


def test_a_decorated_function_is_still_a_function(project):
    project.declare(SMALL.replace("def load", "def load_it") + "\nprinted = load_it()")
    project.flow()


def test_a_pipeline_can_be_planned_and_run_from_a_script(project):
    project.sqlite("a.db", "CREATE TABLE x (id BIGINT)")
    flow = project.flow
    project.declare(SMALL + "\nhandle = load")
    flow()
    import sys

    handle = sys.modules["pipelines"].handle
    assert handle.name == "load"
    assert "pipelines.py" in repr(handle)
    with pytest.raises(FlowError):  # no connection of that name where the script runs: a.db
        handle.plan()


@pytest.mark.proves("tables-declared")
def test_a_managed_table_says_the_same_as_the_decorator(project):
    loaded = declared(
        project,
        """
        class CustomerDim(ManagedTable):
            __schema__ = "analytics"
            __tablename__ = "customers"
            __merge_keys__ = ["email"]
            __unique_constraints__ = [["email", "country"]]
            __partition_columns__ = ["country"]

            customer_id: Annotated[BigInt, pk()]
            email: Text
            country: String[2]

        @ematix.table(name="other", schema="analytics", merge_keys=["email"],
                      unique_constraints=[["email", "country"]], partition_columns=["country"])
        class Other:
            customer_id: Annotated[BigInt, pk()]
            email: Text
            country: String[2]
        """,
    )
    first, second = loaded.tables["analytics.customers"], loaded.tables["analytics.other"]
    assert first.columns == second.columns
    assert first.merge_keys == second.merge_keys == ("email",)
    assert first.unique_constraints == second.unique_constraints == (("email", "country"),)
    assert first.partition_columns == second.partition_columns == ("country",)


def test_ensure_makes_the_table_once_and_lets_it_grow(project, monkeypatch):
    text = """
    @ematix.connection
    class a:
        kind = "sqlite"
        path = "a.db"

    class T(ManagedTable):
        id: Annotated[BigInt, pk()]
        {more}
    """
    import sys

    monkeypatch.chdir(project.path.parent)
    project.path.mkdir(exist_ok=True)
    monkeypatch.chdir(project.path)
    declared(project, text.format(more=""))
    table = sys.modules["pipelines"].T
    assert [statement.split(" (")[0] for statement in table.ensure("a")] == [
        'CREATE TABLE IF NOT EXISTS "t"'
    ]
    assert table.ensure("a") == ()
    declared(project, text.format(more="name: Text | None"))
    table = sys.modules["pipelines"].T
    with pytest.raises(FlowError, match="name is declared but missing"):
        table.ensure("a")
    assert table.ensure("a", on_drift="evolve") == ('ALTER TABLE "t" ADD COLUMN "name" TEXT',)
    assert table.ensure("a") == ()
