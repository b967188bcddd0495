"""What a user gets wrong, and what is answered: the text, the place, the way out.

Each mistake is one change to a project that is right. The first test holds the project itself to
that, so a mistake's error can have no other cause.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import dedent

import pytest

from ematix_flow.errors import FlowError

RIGHT = """
@ematix.connection
class app:
    kind = "sqlite"
    path = "app.db"

@ematix.connection
class files:
    kind = "csv"
    path = "data"

@ematix.connection
class lake:
    kind = "parquet"
    path = "lake"

warehouse = connect("warehouse", kind="duckdb", path="warehouse.duckdb")

@ematix.table(schema="shop")
class Customers:
    customer_id: Annotated[BigInt, pk()]
    email: Annotated[Text, natural_key()]
    country: String[2] | None
    spent: Numeric[10, 2] | None

@ematix.table(schema="shop")
class Totals:
    country: Annotated[String[2], pk()]
    spent: Numeric[12, 2]

class Plain:
    pass

@ematix.pipeline(
    target=Customers,
    source_connection="app",
    target_connection="warehouse",
    mode="append",
)
def load_customers():
    return "SELECT customer_id, email, country, spent FROM customers"

@ematix.pipeline(
    target=Totals,
    source_connection="warehouse",
    target_connection="warehouse",
    mode="truncate",
)
def totals():
    return "SELECT country, sum(spent) AS spent FROM shop.customers GROUP BY country"

@ematix.pipeline(
    target=Totals,
    source_connection="files",
    target_connection="app",
)
def from_files():
    return "SELECT country, spent FROM spending"
"""

CUSTOMERS = (
    "CREATE TABLE customers (customer_id BIGINT NOT NULL, email TEXT NOT NULL, country TEXT, "
    "spent NUMERIC_TEXT(10,2))"
)


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """One thing gone wrong.

    :param wrong: Pairs of text: as it should be, as it is.
    :param more: Code below the project.
    :param at: Text on the line that the error names; None where it names another place.
    :param says: What the error's text holds.
    :param rule: What the case proves, beside that mistakes are told.
    """

    says: tuple[str, ...]
    wrong: tuple[tuple[str, str], ...] = ()
    more: str = ""
    toml: str = ""
    plan: str | None = None
    at: str | None = None
    rule: str = "mistakes-told"


LOAD = '    mode="append",\n)\ndef load_customers'


def keyword(text: str, *says: str, at: str = "@ematix.pipeline") -> Mistake:
    """A pipeline with one more keyword."""
    changed = LOAD.replace("\n)", f"\n    {text},\n)")
    return Mistake(wrong=((LOAD, changed),), says=says, at=at, rule="keywords-checked")


def mode(name: str, text: str, *says: str) -> Mistake:
    """A pipeline in another mode, with one more keyword."""
    changed = LOAD.replace('"append"', f'"{name}"').replace("\n)", f"\n    {text},\n)")
    return Mistake(
        wrong=((LOAD, changed),), says=says, at="@ematix.pipeline", rule="keywords-checked"
    )


def onto_files(connection: str, kind: str, name: str) -> Mistake:
    """A pipeline in another mode, into plain files."""
    right = 'target_connection="warehouse",\n    mode="append"'
    wrong = right.replace("warehouse", connection).replace("append", name)
    return Mistake(
        wrong=((right, wrong),),
        plan="load_customers",
        says=(
            f"asks {kind} for {name}, but it cannot",
            f"Hint: plain files only grow or are replaced: for {name} use delta or iceberg",
        ),
        at="@ematix.pipeline",
        rule="files-refuse-merge",
    )


def column(text: str, *says: str) -> Mistake:
    """A table with one more column."""
    return Mistake(
        wrong=(
            ("    country: String[2] | None\n", f"    country: String[2] | None\n    {text}\n"),
        ),
        says=says,
        at='@ematix.table(schema="shop")',
    )


def marker(text: str, kind: str, *says: str) -> Mistake:
    """A table with one more column, whose marker is wrong in itself."""
    more = f"    x: Annotated[{kind}, {text}]\n"
    old = "    country: String[2] | None\n"
    return Mistake(wrong=((old, old + more),), says=says, at="    x: Annotated")


def returns(text: str, *says: str, at: str | None = "@ematix.pipeline") -> Mistake:
    """A pipeline whose function returns something else."""
    old = '"SELECT customer_id, email, country, spent FROM customers"'
    return Mistake(wrong=((old, text),), says=says, plan="load_customers", at=at)


MISTAKES = {
    # Keywords ------------------------------------------------------------------------------
    "misspelt keyword": keyword(
        "shedule='0 2 * * *'", "a pipeline has no keyword 'shedule'; did you mean 'schedule'?"
    ),
    "keyword of nobody": keyword("frobnicate=1", "no keyword 'frobnicate' (known: alert_on"),
    "unknown mode": mode("mrge", "tags='x'", "mode cannot be 'mrge'; did you mean 'merge'?"),
    "mode of a wrong type": Mistake(
        wrong=(('mode="append"', "mode=3"),),
        says=("mode cannot be 3", "(known: append, truncate, merge, scd1, scd2)"),
        at="@ematix.pipeline",
    ),
    "bad cron": keyword(
        "schedule='61 * * * *'", "schedule '61 * * * *' is no cron line: bad minute", "0 2 * * *"
    ),
    "cron of four fields": keyword("schedule='* * * *'", "it has 4 fields, not 5"),
    "cron in words": keyword("schedule='daily'", "it has 1 fields, not 5 (minute hour"),
    "unknown time zone": keyword(
        "schedule='0 2 * * *', timezone='Europe/Berln'",
        "unknown time zone 'Europe/Berln'; did you mean 'Europe/Berlin'?",
    ),
    "zone without schedule": keyword("timezone='UTC'", "timezone says how a schedule is read"),
    "catch-up without schedule": keyword("catch_up='all'", "catch_up says how a schedule is"),
    "unknown catch-up": keyword(
        "schedule='0 2 * * *', catch_up='evry'", "catch_up cannot be 'evry' (known: none, last"
    ),
    "duration in words": keyword(
        "freshness_sla='a day'", "freshness_sla takes a duration such as '15m'", "not 'a day'"
    ),
    "duration without a unit": keyword("lease_ttl=60", "lease_ttl takes a duration", "not 60"),
    "negative duration": keyword("lease_ttl='0s'", "takes a duration above zero, not '0s'"),
    "retry in words": keyword("retry='often'", "retry takes Retry(...) or a number of attempts"),
    "retry never": keyword("retry=Retry(max_attempts=0)", "it is at least 1, not 0", at="retry="),
    "unknown backoff": keyword(
        "retry=Retry(backoff='linaer')",
        "unknown backoff 'linaer'; did you mean 'linear'?",
        at="retry=",
    ),
    "unknown drift policy": keyword(
        "on_drift='evolv'", "on_drift cannot be 'evolv'; did you mean 'evolve'?"
    ),
    "flag that is none": keyword("strict_schema='yes'", "strict_schema takes True or False"),
    "tags of numbers": keyword("tags=[1]", "tags takes a name or a list of names, not [1]"),
    "unknown path": keyword(
        "force_path='database'", "force_path cannot be 'database'", "in_database, direct, spark"
    ),
    "expectations as text": keyword(
        "expectations='amount > 0'", "expectations takes {'name': 'SQL condition'} or a list"
    ),
    "expectation that is no SQL": keyword(
        "expectations=['amount >']",
        "expectations takes an SQL condition such as",
        "not 'amount >' (something",
    ),
    "unknown quality policy": keyword(
        "on_quality_failure='dropp'", "on_quality_failure cannot be 'dropp'; did you mean 'drop'?"
    ),
    "lookback alone": keyword(
        "lookback='1d'", "there is no incremental_column", "Hint: name the column that grows"
    ),
    "lookback in hours of a number": keyword(
        "incremental_column='customer_id', lookback='2h'",
        "customer_id is BigInt, so lookback takes a whole number, not",
    ),
    "lookback in words": keyword(
        "incremental_column='customer_id', lookback='soon'", "lookback takes a duration"
    ),
    "column_map as a list": keyword("column_map=['a']", "column_map takes {'name in the query'"),
    "column_map twice": keyword(
        "column_map={'a': 'email', 'b': 'email'}", "column_map maps two columns to 'email'"
    ),
    "column_map to nobody": keyword(
        "column_map={'mail': 'e_mail'}",
        "column_map names 'e_mail', which is no column of shop.customers; did you mean 'email'?",
    ),
    "uncalled step": keyword("transforms_pre=[limit]", "transforms_pre takes limit(...), called"),
    "step that is none": keyword("transforms_pre=[3]", "transforms_pre takes SQL, a function, or"),
    "sample of too much": keyword(
        "transforms_pre=sample_pct(200)", "above 0 and up to 100, not 200", at="sample_pct"
    ),
    "dedup without columns": keyword(
        "transforms_pre=deduplicate_by(order_by='x')",
        "deduplicate_by takes column names, not ()",
        at="deduplicate_by",
    ),
    "name with a slash": keyword("name='a/b'", "'a/b' cannot name a pipeline: it takes a letter"),
    # Keys and modes ------------------------------------------------------------------------
    "merge without a key": Mistake(
        wrong=(
            ("Annotated[BigInt, pk()]", "BigInt"),
            ("Annotated[Text, natural_key()]", "Text"),
            ('mode="append"', 'mode="merge"'),
        ),
        says=(
            "mode 'merge' matches rows by key, and shop.customers has none",
            "mark a column pk()",
        ),
        at="@ematix.pipeline",
    ),
    "unknown column in keys": mode(
        "merge",
        "keys=['emial']",
        "keys names 'emial', which is no column of shop.customers; did you mean 'email'?",
        "(columns: customer_id, email, country, spent)",
    ),
    "nullable key": mode("merge", "keys='country'", "key column 'country' of shop.customers may"),
    "keys to update": mode(
        "merge", "keys='email', update_columns=['email']", "'email', which is a key and never"
    ),
    "unknown update column": mode(
        "merge", "update_columns=['spend']", "update_columns names 'spend'", "did you mean 'spent'?"
    ),
    "update columns in append": keyword(
        "update_columns=['spent']", "update_columns means nothing in mode 'append'", "merge, scd1"
    ),
    "history columns in merge": mode(
        "merge", "history_columns={'valid_from': 'since'}", "history_columns means nothing in mode"
    ),
    "unknown history column": mode(
        "scd2", "history_columns={'valid_form': 'a'}", "has no 'valid_form'; did you mean 'valid_f"
    ),
    "history columns of one name": mode(
        "scd2", "history_columns={'valid_from': 'a', 'valid_to': 'a'}", "names two columns 'a'"
    ),
    "deletes in append": keyword("handle_deletes='hard'", "handle_deletes means nothing in mode"),
    "unknown deletes": mode(
        "merge", "handle_deletes='sft'", "handle_deletes cannot be 'sft'; did you mean 'soft'?"
    ),
    "last of what": mode(
        "merge", "on_duplicate_keys='last'", "needs to know which row is last", 'sequence_by="'
    ),
    "fraction above one": mode(
        "merge", "max_delete_fraction=50", "max_delete_fraction takes a fraction from 0 to 1, not"
    ),
    "deletion that is no SQL": mode(
        "merge",
        'apply_as_deletes="op = = 1"',
        "apply_as_deletes takes an SQL condition such as",
        "not 'op = = 1' (something is missing or too much at",
    ),
    "ttl in merge": mode("merge", "ttl='7d'", "ttl means nothing in mode 'merge' (it is for scd2)"),
    **{
        f"{name} onto {kind}": onto_files(connection, kind, name)
        for connection, kind in (("files", "csv"), ("lake", "parquet"))
        for name in ("merge", "scd1", "scd2")
    },
    # Targets -------------------------------------------------------------------------------
    "no target": Mistake(
        wrong=(("    target=Customers,\n", ""),),
        says=("a pipeline needs a target table", "Hint: declare one with @ematix.table"),
        at="@ematix.pipeline",
    ),
    "target that is no table": Mistake(
        wrong=(("target=Customers", "target=Plain"),),
        says=("target=Plain is not a table class",),
        at="@ematix.pipeline",
    ),
    "no target connection": Mistake(
        wrong=(('    target_connection="warehouse",\n    mode="append"', '    mode="append"'),),
        says=("a pipeline needs a target_connection", 'target_connection="warehouse"'),
        at="@ematix.pipeline",
    ),
    "target and targets": keyword(
        "targets=[ematix.target(Totals, 'app')]", "has targets=[...] and target=: each target"
    ),
    "targets that are none": Mistake(
        wrong=(("target=Customers", "targets=[Customers]"),),
        says=("targets takes a list of ematix.target(...)",),
        at="@ematix.pipeline",
    ),
    "odd table name": Mistake(
        wrong=(("target=Customers", 'target="a.b.c"'),),
        says=("'a.b.c' is no table's name", "Hint: write table or schema.table"),
        at="@ematix.pipeline",
    ),
    "inferred, yet strict": Mistake(
        wrong=(("target=Customers,", 'target="shop.copy", strict_schema=True,'),),
        plan="load_customers",
        says=("strict_schema wants declared columns, but target='shop.copy' is only a name",),
        at="@ematix.pipeline",
    ),
    # Names ---------------------------------------------------------------------------------
    "unknown connection": Mistake(
        wrong=(('source_connection="app"', 'source_connection="ap"'),),
        plan="load_customers",
        says=("unknown connection 'ap'; did you mean 'app'?", "EMATIX_FLOW_DSN_AP", "Hint: "),
        at="@ematix.pipeline",
    ),
    "unknown upstream": Mistake(
        wrong=((LOAD, LOAD.replace("\n)", "\n    depends_on=['total'],\n)")),),
        plan="load_customers",
        says=("depends_on of 'load_customers': 'total'; did you mean 'totals'?",),
        at="@ematix.pipeline",
        rule="dag",
    ),
    "upstream freshness of a stranger": keyword(
        "depends_on=['totals'], upstream_freshness={'total': '1h'}",
        "upstream_freshness names 'total', which is not in depends_on; did you mean 'totals'?",
    ),
    "itself upstream": Mistake(
        wrong=((LOAD, LOAD.replace("\n)", "\n    depends_on=['load_customers'],\n)")),),
        plan="load_customers",
        says=("pipeline 'load_customers' depends on itself", "Hint: take it out of depends_on"),
        at="@ematix.pipeline",
        rule="dag",
    ),
    "circle": Mistake(
        wrong=((LOAD, LOAD.replace("\n)", "\n    depends_on=['totals'],\n)")),),
        plan="load_customers",
        says=(
            "pipelines depend on each other in a circle: ",
            "load_customers -> totals -> load_customers",
            "after totals: depends_on",
            "after load_customers: reads shop.customers",
            "Hint: remove one of these dependencies",
        ),
        at="@ematix.pipeline",
        rule="dag",
    ),
    "two pipelines of one name": Mistake(
        more="""
        @ematix.pipeline(name="totals", target=Totals, source_connection=app, target_connection=app)
        def again():
            return "SELECT 1"
        """,
        says=("pipeline 'totals' is declared twice: here and at ", "Hint: rename one of them"),
        at='name="totals"',
    ),
    "two tables of one name": Mistake(
        more='@ematix.table(schema="shop", name="totals")\nclass Again:\n    id: BigInt',
        says=("table 'shop.totals' is declared twice: here and at ",),
        at='name="totals")',
    ),
    "two connections of one name": Mistake(
        more='connect("app", kind="csv", path="x")',
        says=("connection 'app' is declared twice: here and at ",),
        at='connect("app"',
    ),
    "unknown parameter": Mistake(
        wrong=(("def totals():", "def totals(load_custmers):"),),
        plan="totals",
        says=("parameter 'load_custmers' that nobody declares; did you mean 'load_customers'?",),
        at=None,
    ),
    "star parameter": Mistake(
        wrong=(("def totals():", "def totals(*tables):"),),
        plan="totals",
        says=("takes *tables, and nothing could be passed to it", "Hint: name what it reads"),
    ),
    "unknown pipeline": Mistake(
        plan="load_custmers", says=("unknown pipeline 'load_custmers'; did you mean 'load_cust",)
    ),
    "override of nobody": Mistake(
        toml="[pipelines.load_custmers]\nmode = 'truncate'",
        says=("unknown pipeline 'load_custmers'; did you mean", "ematix-flow.toml [pipelines]"),
    ),
    "override of a misspelt keyword": Mistake(
        toml="[pipelines.totals]\nmodes = 'append'",
        says=("a pipeline has no keyword 'modes'; did you mean 'mode'?", "ematix-flow.toml"),
    ),
    "override that is no table": Mistake(
        toml="[pipelines]\ntotals = 3", says=("pipelines.totals takes a table of keywords, not 3",)
    ),
    # Tables --------------------------------------------------------------------------------
    "misspelt type": Mistake(
        wrong=(("    country: String[2] | None\n", "    country: Txt\n"),),
        says=("name 'Txt' is not defined", "Hint: did you mean 'Text'? from ematix_flow import"),
        at="    country: Txt",
    ),
    "Python's own type": column("day: int", "column 'day' of Customers: int is not a column type"),
    "scale above precision": column("x: Numeric[2, 5]", "takes a scale of 0 to 2, not 5"),
    "precision too high": column("x: Numeric[50, 2]", "takes a precision of 1 to 38, not 50"),
    "text of no length": column("x: String[0]", "String[n] takes a positive length, not 0"),
    "length of text": column("x: String[2.5]", "String[n] takes a positive length, not 2.5"),
    "nullable key column": column("x: Annotated[BigInt | None, pk()]", "is pk() and nullable"),
    "uncalled marker": column("x: Annotated[BigInt, pk]", "Hint: call the marker: pk()"),
    "marker that is none": column("x: Annotated[BigInt, 3]", "annotated with 3, which marks"),
    "array of nothing": column("x: Array[int]", "<class 'int'> is not a column type"),
    "misspelt marker": Mistake(
        wrong=(("    country: String[2] | None\n", "    country: Annotated[Text, trm()]\n"),),
        says=("name 'trm' is not defined", "Hint: did you mean 'trim'? from ematix_flow import"),
        at="    country: Annotated",
    ),
    "marker on a number": column(
        "x: Annotated[BigInt, trim()]", "column 'x' of Customers: trim() takes text, but BigInt is"
    ),
    "unknown unit": marker("date_trunc('hours')", "Timestamp", "did you mean 'hour'? (known: year"),
    "unknown format letter": marker("parse_date('%Q')", "Date", "%Q is not known (known: %Y"),
    "unknown failure policy": marker(
        "parse_date('%Y', on_failure='nul')", "Date", "on_failure='nul' is not known; did you mean"
    ),
    "broken pattern": marker(
        "regex_replace('(', '')", "Text", "missing ), unterminated subpattern"
    ),
    "zone that is none": marker(
        "to_timezone('Europe/Berln')",
        "Timestamp",
        "is not a time zone; did you mean 'Europe/Berlin",
    ),
    "bounds the wrong way round": marker("clamp(5, 1)", "Integer", "min=5 is above max=1"),
    "negative length": marker("truncate(-1)", "Text", "a positive number of characters, not -1"),
    "aggregate in an expression": column(
        "x: Annotated[Text, derive('sum(spent)')]", "derive('sum(spent)') holds an aggregate"
    ),
    "aggregate that only Spark knows": column(
        "x: Annotated[Text, sql('try_sum({})')]", "calls try_sum, which is no function of one row"
    ),
    "Java in an expression": column(
        "x: Annotated[Text, derive(\"reflect('a', 'b')\")]", "calls reflect, which is no function"
    ),
    "expression over nobody": column(
        "x: Annotated[Text, sql('lower(emial)')]", "reads the column 'emial'", "did you mean 'email"
    ),
    "table without columns": Mistake(
        more="@ematix.table\nclass Empty:\n    pass",
        says=("table Empty declares no columns", "Hint: annotate them"),
        at="@ematix.table\n",
    ),
    "reserved table name": Mistake(
        more="@ematix.table(name='_flow_x')\nclass X:\n    id: BigInt",
        says=("'_flow_x' cannot name a table: names that begin with _flow_",),
        at="_flow_x",
    ),
    "misspelt table keyword": Mistake(
        more="@ematix.table(shema='x')\nclass X:\n    id: BigInt",
        says=("a table has no keyword 'shema'; did you mean 'schema'?",),
        at="shema",
    ),
    "unique over nobody": Mistake(
        more="@ematix.table(unique_constraints=[['idd']])\nclass X:\n    id: BigInt",
        says=("unique_constraints of X names 'idd', which is no column; did you mean 'id'?",),
        at="unique_constraints",
    ),
    "misspelt dunder": Mistake(
        more="class X(ManagedTable):\n    __merge_key__ = ['id']\n    id: BigInt",
        says=("X has no attribute '__merge_key__'; did you mean '__merge_keys__'?",),
        at="class X(",
    ),
    "merge keys of nobody": Mistake(
        more="class X(ManagedTable):\n    __merge_keys__ = ['idd']\n    id: BigInt",
        says=("merge_keys of X names 'idd', which is no column; did you mean 'id'?",),
        at="class X(",
    ),
    "dataclass below": Mistake(
        more="import dataclasses\n@ematix.table\n@dataclasses.dataclass\nclass X:\n    id: BigInt",
        says=("X is already a dataclasses class; a table describes columns",),
        at="@ematix.table\n",
    ),
    "attrs below": Mistake(
        more="import attrs\n@ematix.table\n@attrs.define\nclass X:\n    id: BigInt",
        says=("X is already a attrs class",),
        at="@ematix.table\n",
    ),
    "pydantic below": Mistake(
        more=(
            "import pydantic\n@ematix.table\nclass X(pydantic.BaseModel):\n"
            "    model_config = {'arbitrary_types_allowed': True}\n    id: BigInt"
        ),
        says=("X is already a pydantic class",),
        at="@ematix.table\n",
    ),
    # Connections ---------------------------------------------------------------------------
    "unknown kind": Mistake(
        more="connect('x', kind='postgress')",
        says=("'postgress'; did you mean 'postgres'?",),
        at="postgress",
    ),
    "unknown property": Mistake(
        more="connect('x', kind='csv', path='d', delimeter=';')",
        says=("has no property 'delimeter'; did you mean 'delimiter'?",),
        at="delimeter",
    ),
    "property of a wrong type": Mistake(
        more="connect('x', kind='csv', path='d', header=3)", says=("header takes",), at="header=3"
    ),
    "no path": Mistake(more="connect('x', kind='csv')", says=("lacks path",), at="kind='csv')"),
    "no kind": Mistake(more="connect('x', path='d')", says=("has no kind (one of",), at="'x', p"),
    "decorated function": Mistake(
        more="@ematix.connection\ndef x(): ...",
        says=("@ematix.connection stands above a class",),
        at="@ematix.connection\ndef",
    ),
    "kind that is not built yet": Mistake(
        wrong=(
            (
                'connect("warehouse", kind="duckdb", path="warehouse.duckdb")',
                'connect("warehouse", kind="snowflake", account="a", user="u", database="d")',
            ),
        ),
        plan="load_customers",
        says=(
            "connection 'warehouse': kind 'snowflake': connections can be declared, reading",
            "what can be read or written today: csv, duckdb",
        ),
        at="@ematix.pipeline",
    ),
    "variable that is not set": Mistake(
        wrong=(('path = "app.db"', 'path = "${APP_DB}"'),),
        plan="load_customers",
        says=("the variable APP_DB is not set", "Hint: export APP_DB="),
        at="@ematix.pipeline",
    ),
    "unreachable database": Mistake(
        wrong=(
            (
                '    kind = "sqlite"\n    path = "app.db"',
                '    kind = "postgres"\n    url = "postgresql://127.0.0.1:1/app"',
            ),
        ),
        plan="load_customers",
        says=("127.0.0.1", "Hint: "),
        at="@ematix.pipeline",
    ),
    # Queries -------------------------------------------------------------------------------
    "SQL that does not parse": returns("'SELECT FROM ('", "the SQL does not parse"),
    "two statements": returns("'SELECT 1; SELECT 2'", "holds 2 statements; a pipeline returns one"),
    "not a SELECT": returns("'DROP TABLE x'", "a pipeline returns a SELECT, not 'DROP TABLE x'"),
    "a query that deletes": returns(
        "'WITH x AS (DELETE FROM customers RETURNING *) SELECT * FROM x'",
        "a pipeline's query only reads, but 'DELETE FROM customers RETURNING *' changes something",
    ),
    "the source as a table": Mistake(
        wrong=(
            ("def load_customers()", "def load_customers(src)"),
            (
                '"SELECT customer_id, email, country, spent FROM customers"',
                'f"SELECT customer_id, email, country, spent FROM {src}"',
            ),
        ),
        plan="load_customers",
        says=("src is the whole source (app), and a query reads tables", "src.table(...)"),
        at="@ematix.pipeline",
    ),
    "empty query": returns("' '", "the query is empty", "Hint: return one SELECT"),
    "nothing returned": returns("None", "returned nothing", "set source_table="),
    "a number returned": returns("42", "returned int; it returns SQL text, a Source"),
    "function that raises": returns("{}['x']", "raised KeyError: 'x'", at="{}['x']"),
    "column missing": returns(
        "'SELECT customer_id, email AS mail, country, spent FROM customers'",
        "does not return email, declared by shop.customers (it returns: customer_id, mail",
        "Hint: SELECT mail AS email",
        at=None,
    ),
    "column too many": returns(
        "'SELECT 1 AS customer_id, 2 AS email, 3 AS country, 4 AS spent, 5 AS extra'",
        "returns extra, which shop.customers does not declare",
        at=None,
    ),
    "column twice": returns(
        "'SELECT 1 AS email, 2 AS email'", "returns the column 'email' twice", at=None
    ),
    "Source of another kind": returns(
        "Source.postgres_query('app', 'SELECT 1')",
        "returned Source.postgres_query, but connection 'app' is sqlite",
    ),
    "unknown dialect": Mistake(
        wrong=((LOAD, LOAD.replace("\n)", "\n    dialect='duckdbb',\n)")),),
        plan="load_customers",
        says=("'duckdbb'; did you mean 'duckdb'?",),
        at="@ematix.pipeline",
    ),
    "dialect node without equivalent": Mistake(
        wrong=(
            ('source_connection="files",', 'source_connection="files", dialect="duckdb",'),
            ("FROM spending", "FROM spending ASOF JOIN other USING (country)"),
        ),
        plan="from_files",
        says=(
            "`ASOF JOIN other USING (country)` cannot be translated to spark",
            "Hint: join on the inequality",
        ),
        at='@ematix.pipeline(\n    target=Totals,\n    source_connection="files"',
    ),
    "function of nobody": Mistake(
        wrong=(
            ('source_connection="files",', 'source_connection="files", dialect="duckdb",'),
            ("country, spent FROM spending", "country, frobnicate(spent) AS spent FROM spending"),
        ),
        plan="from_files",
        says=("`frobnicate(spent)` cannot be translated to spark",),
    ),
    "missing table": Mistake(
        wrong=(("FROM customers", "FROM custmers"),),
        plan="load_customers",
        says=("source 'app': there is no table custmers in app.db; did you mean 'customers'?",),
        at="@ematix.pipeline",
    ),
    "missing file": Mistake(
        wrong=(("FROM spending", "FROM spendings"),),
        plan="from_files",
        says=("source 'files': there is no spendings.csv in", "did you mean 'spending'?"),
    ),
    "schema of a file": Mistake(
        wrong=(("FROM spending", "FROM shop.spending"),),
        plan="from_files",
        says=("shop.spending: files have no schemas", "Hint: write spending"),
    ),
    "not a table's name": Mistake(
        wrong=((LOAD, LOAD.replace("\n)", "\n    source_table='a..b',\n)")),),
        plan="load_customers",
        says=("source_table='a..b' is no table's name",),
        at="@ematix.pipeline",
    ),
    # Workflows -----------------------------------------------------------------------------
    "unknown job": Mistake(
        more="ematix.workflow('nightly', ['totls'])",
        plan="totals",
        says=("job of workflow 'nightly': 'totls'; did you mean 'totals'?",),
        at="ematix.workflow",
        rule="dag",
    ),
    "unknown trigger": Mistake(
        more="ematix.workflow('nightly', ['totals'], triggered_by=AllOf('load_customer'))",
        plan="totals",
        says=("trigger of workflow 'nightly': 'load_customer'; did you mean 'load_customers'?",),
        at="ematix.workflow",
        rule="dag",
    ),
    "workflow without jobs": Mistake(
        more="ematix.workflow('nightly', [])",
        says=("a workflow takes at least one job",),
        at="ematix.workflow",
    ),
    "workflow named as a pipeline": Mistake(
        more="ematix.workflow('totals', ['load_customers'])",
        says=("workflow 'totals' is declared twice: here and at ",),
        at="ematix.workflow",
    ),
    "workflows in a circle": Mistake(
        more="ematix.workflow('a', ['b'])\nematix.workflow('b', ['a'])",
        plan="totals",
        says=("workflows wait for each other in a circle: ", "Hint: remove one of these jobs"),
        at="ematix.workflow('a'",
        rule="dag",
    ),
    "workflow that waits for itself": Mistake(
        more="ematix.workflow('a', ['a'])",
        plan="totals",
        says=("'a' waits for itself", "Hint: remove one of these jobs"),
        at="ematix.workflow('a'",
        rule="dag",
    ),
    "trigger of nothing": Mistake(
        more="ematix.workflow('a', ['totals'], triggered_by=AnyOf())",
        says=("AnyOf takes at least one trigger",),
        at="AnyOf()",
    ),
    "transform into nowhere": Mistake(
        more="""
        @ematix.transform(target_connection="warehous")
        def vacuum():
            return "VACUUM"
        """,
        plan="totals",
        says=("unknown connection 'warehous'; did you mean 'warehouse'?",),
        at="@ematix.transform",
    ),
    "transform in no dialect": Mistake(
        more="""
        @ematix.transform(target_connection="warehouse", dialect="duckdbb")
        def vacuum():
            return "VACUUM"
        """,
        says=("unknown SQL dialect 'duckdbb'; did you mean 'duckdb'?",),
        at="@ematix.transform",
    ),
    "message from nowhere": Mistake(
        more="ematix.workflow('nightly', ['totals'], on_message='kafak/orders')",
        plan="totals",
        says=("unknown connection 'kafak'",),
        at="ematix.workflow",
    ),
    "unknown transform": Mistake(
        wrong=(
            (LOAD, LOAD.replace("\n)", "\n    transforms_post=ematix.transform_ref('vacum'),\n)")),
        ),
        more="""
        @ematix.transform(target_connection="warehouse")
        def vacuum():
            return "VACUUM"
        """,
        plan="totals",
        says=("transform in pipeline 'load_customers': 'vacum'; did you mean 'vacuum'?",),
        at="@ematix.pipeline",
    ),
    # The project's TOML --------------------------------------------------------------------
    "misspelt key": Mistake(
        toml="enigne = 'local'", says=("unknown key 'enigne'; did you mean 'engine'?",)
    ),
    "broken TOML": Mistake(toml="engine = ", says=("not valid TOML: ", "ematix-flow.toml")),
    "engine of a wrong type": Mistake(toml="engine = 3", says=("engine takes an engine's name",)),
    "no such module": Mistake(
        toml="modules = ['pipelin']", says=("there is no module 'pipelin' in the project",)
    ),
}


# How a message says what is allowed, where it has no hint.
ALLOWED = re.compile(
    r"\((known|columns|declared|it has|it returns|it is for|one of)\b|\btakes\b|\bat least\b|e\.g\."
)


def failure(project, mistake):
    """Return the error, and the module's text to find lines in."""
    text = RIGHT
    for right, wrong in mistake.wrong:
        assert right in text
        text = text.replace(right, wrong, 1)
    file = project.declare(text + dedent(mistake.more))
    if mistake.toml:
        project.write("ematix-flow.toml", mistake.toml)
    prepare(project)
    with pytest.raises(FlowError) as caught:
        planned(project, mistake.plan)
    return caught.value, file.read_text()


def planned(project, name):
    flow = project.flow()
    return None if name is None else flow.explain(name)


def prepare(project):
    project.csv("spending", ("country", "spent"), [("DE", "1.00")])
    project.sqlite("app.db", CUSTOMERS)


def line_of(text: str, module: str, error: str) -> int:
    """Return the line that holds *text*: of several, the one that the error names, if any."""
    begins = [
        module[:position].count("\n") + 1
        for position in range(len(module))
        if module.startswith(text, position)
    ]
    assert begins, f"{text!r} is not in the module"
    return next((line for line in begins if f"pipelines.py:{line}" in error), begins[0])


def test_the_project_is_right(project):
    project.declare(RIGHT)
    prepare(project)
    flow = project.flow()
    assert [told.plan.pipeline for told in flow.explain_all()] == [
        "from_files",
        "load_customers",
        "totals",
    ]


def test_there_are_enough_of_them():
    assert len(MISTAKES) >= 80


@pytest.mark.proves("mistakes-told")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.proves(each.rule)) for name, each in MISTAKES.items()],
)
def test_a_mistake_is_told(project, name):
    mistake = MISTAKES[name]
    error, module = failure(project, mistake)
    text = str(error)
    for said in mistake.says:
        assert said in text
    if mistake.at is not None:
        assert f"pipelines.py:{line_of(mistake.at, module, text)}" in text
    assert "Traceback" not in text
    assert error.hint or ALLOWED.search(error.what), "it leaves the reader alone"
