"""CREATE and ALTER, as text; tests/backends/test_schema_diff.py runs them on real databases."""

import pytest

from ematix_flow._base.location import Location
from ematix_flow.errors import NotSupported
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import Array, BigInt, Date, Integer, Numeric, String, Struct, Text
from ematix_flow.sqltext.alter import (
    add_column,
    change_type,
    drop_column,
    rename_column,
    set_nullable,
)
from ematix_flow.sqltext.ddl import create_schema, create_table, drop_table

NAME = TableName(schema="s", name="t")


def table(*columns, **more):
    return Table(name=NAME, columns=columns, location=Location("x.py", 1), **more)


ORDERS = table(
    Column(name="id", type=BigInt(), primary_key=True),
    Column(name="mail", type=Text()),
    Column(name="paid", type=Numeric(10, 2), nullable=True),
    unique_constraints=(("mail",), ("mail", "paid")),
)


@pytest.mark.proves("tables-declared")
@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        (
            "postgres",
            'CREATE TABLE IF NOT EXISTS "s"."t" ("id" BIGINT NOT NULL, "mail" TEXT NOT NULL, '
            '"paid" NUMERIC(10,2), PRIMARY KEY ("id"), UNIQUE ("mail"), UNIQUE ("mail", "paid"))',
        ),
        (
            "mysql",
            "CREATE TABLE IF NOT EXISTS `s`.`t` (`id` BIGINT NOT NULL, "
            "`mail` VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL, "
            "`paid` DECIMAL(10,2), PRIMARY KEY (`id`), UNIQUE (`mail`), UNIQUE (`mail`, `paid`)) "
            "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_bin",
        ),
    ],
)
def test_a_table_with_unique_constraints(dialect, expected):
    assert create_table(ORDERS, NAME, dialect) == expected


@pytest.mark.proves("tables-declared")
@pytest.mark.parametrize("dialect", ["delta", "iceberg"])
def test_a_lake_table_has_partitions_and_nested_types_and_no_keys(dialect):
    declared = table(
        Column(name="id", type=BigInt(), primary_key=True),
        Column(name="day", type=Date()),
        Column(name="tags", type=Array(Struct(("a b", Text))), nullable=True),
        partition_columns=("day",),
    )
    assert create_table(declared, NAME, dialect) == (
        "CREATE TABLE IF NOT EXISTS `s`.`t` (`id` BIGINT NOT NULL, `day` DATE NOT NULL, "
        f"`tags` ARRAY<STRUCT<`a b`: STRING>>) USING {dialect} PARTITIONED BY (`day`)"
    )
    assert create_schema("s", dialect) == "CREATE SCHEMA IF NOT EXISTS `s`"


@pytest.mark.parametrize("dialect", ["postgres", "mysql", "sqlite", "duckdb"])
def test_a_database_refuses_partition_columns(dialect):
    declared = table(Column(name="day", type=Date()), partition_columns=("day",))
    with pytest.raises(NotSupported, match=r"partition columns \(day\) are for delta and iceberg"):
        create_table(declared, NAME, dialect)


def test_a_lake_refuses_unique_constraints():
    with pytest.raises(NotSupported, match=r"delta cannot hold the unique constraint \(mail\)"):
        create_table(ORDERS, NAME, "delta")


def test_a_key_too_long_for_mysql_is_refused():
    declared = table(
        *(Column(name=f"k{n}", type=String(400), primary_key=True) for n in range(2)),
    )
    with pytest.raises(NotSupported, match="the key with k0, k1 has 3,200 bytes in mysql"):
        create_table(declared, NAME, "mysql")


def test_a_row_too_long_for_mysql_is_refused():
    declared = table(*(Column(name=f"c{n}", type=String(6000)) for n in range(3)))
    with pytest.raises(NotSupported, match="c0, c1, c2 have 72,000 bytes in mysql"):
        create_table(declared, NAME, "mysql")


@pytest.mark.parametrize(
    ("dialect", "quoted", "typed", "nullable"),
    [
        (
            "postgres",
            '"s"."t"',
            'ALTER TABLE "s"."t" ALTER COLUMN "c" TYPE BIGINT USING CAST("c" AS BIGINT)',
            'ALTER TABLE "s"."t" ALTER COLUMN "c" DROP NOT NULL',
        ),
        (
            "mysql",
            "`s`.`t`",
            "ALTER TABLE `s`.`t` MODIFY COLUMN `c` BIGINT NOT NULL",
            "ALTER TABLE `s`.`t` MODIFY COLUMN `c` BIGINT",
        ),
        (
            "duckdb",
            '"s"."t"',
            'ALTER TABLE "s"."t" ALTER COLUMN "c" SET DATA TYPE BIGINT',
            'ALTER TABLE "s"."t" ALTER COLUMN "c" DROP NOT NULL',
        ),
        (
            "iceberg",
            "`s`.`t`",
            "ALTER TABLE `s`.`t` ALTER COLUMN `c` TYPE BIGINT",
            "ALTER TABLE `s`.`t` ALTER COLUMN `c` DROP NOT NULL",
        ),
        ("sqlite", '"s"."t"', None, None),
    ],
)
def test_alterations(dialect, quoted, typed, nullable):
    column = quoted.replace("s", "c").partition(".")[0]
    assert change_type(NAME, "c", "BIGINT", dialect, nullable=False, converted=True) == typed
    assert set_nullable(NAME, "c", "BIGINT", dialect, nullable=True) == nullable
    assert add_column(NAME, "c", "BIGINT", dialect) == (
        f"ALTER TABLE {quoted} ADD COLUMN {column} BIGINT"
    )
    assert drop_column(NAME, "c", dialect) == f"ALTER TABLE {quoted} DROP COLUMN {column}"
    renamed = rename_column(NAME, "c", "c", dialect)
    assert renamed == f"ALTER TABLE {quoted} RENAME COLUMN {column} TO {column}"


def test_a_table_may_be_a_sessions_own():
    own = TableName(name="t")
    created = create_table(table(ORDERS.columns[1]), own, "duckdb", temporary=True)
    assert created == 'CREATE TEMP TABLE IF NOT EXISTS "t" ("mail" VARCHAR NOT NULL)'
    assert drop_table(NAME, "mysql") == "DROP TABLE `s`.`t`"


def test_widening_in_postgres_needs_no_conversion():
    sql = change_type(NAME, "c", "BIGINT", "postgres", nullable=True)
    assert sql == 'ALTER TABLE "s"."t" ALTER COLUMN "c" TYPE BIGINT'


def test_an_error_names_the_column():
    declared = table(Column(name="owed", type=Numeric(38, 35)), Column(name="n", type=Integer()))
    with pytest.raises(NotSupported, match=r"column owed: Numeric\[38, 35\] cannot be held"):
        create_table(declared, NAME, "mysql")
