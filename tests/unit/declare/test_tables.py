import dataclasses

import pytest

from ematix_flow.declare.project import Project, declaring_into
from ematix_flow.errors import DeclarationError
from ematix_flow.spec.types import BigInt, Numeric, String, Struct, Text


def declare(project, body):
    project.declare(f"@ematix.table\nclass T:\n    {body}\n")
    return project.flow().project.tables["t"].columns


@pytest.mark.proves("tables-declared")
@pytest.mark.parametrize(
    ("annotation", "shown", "nullable"),
    [
        ("BigInt", "BigInt", False),
        ("BigInt | None", "BigInt", True),
        ("None | BigInt", "BigInt", True),
        ("Annotated[BigInt, nullable()]", "BigInt", True),
        ("Annotated[String[2] | None, natural_key()]", "String[2]", True),
        ("Numeric[10, 2]", "Numeric[10, 2]", False),
        ("Numeric[10]", "Numeric[10, 0]", False),
        ("Array[Text]", "Array[Text]", False),
        ("Array[Array[String[3]]] | None", "Array[Array[String[3]]]", True),
        (
            'Struct[("street", Text), ("zip", String[5])]',
            "Struct[street Text, zip String[5]]",
            False,
        ),
        ('Struct[("a", Text)]', "Struct[a Text]", False),
        ('Struct[("a", Text)] | None', "Struct[a Text]", True),
        ('Array[Struct[("a", Struct[("b", Text)])]]', "Array[Struct[a Struct[b Text]]]", False),
    ],
)
def test_annotations_become_columns(project, annotation, shown, nullable):
    [column] = declare(project, f"c: {annotation}")
    assert (str(column.type), column.nullable) == (shown, nullable)


def test_annotations_as_strings_work_too(project):
    project.write(
        "pipelines.py",
        """
        from __future__ import annotations
        from typing import Annotated
        from ematix_flow import BigInt, String, Struct, Text, ematix, pk

        @ematix.table
        class T:
            a: Annotated[BigInt, pk()]
            b: String[2] | None
            c: Struct[("x", Text)]
        """,
    )
    first, second, third = project.flow().project.tables["t"].columns
    assert first.primary_key
    assert second.type == String(2)
    assert third.type == Struct(("x", Text))


@pytest.mark.proves("tables-declared")
def test_keys_and_names(project):
    project.declare(
        """
        @ematix.table(schema="raw")
        class HTTPRequestLog:
            id: Annotated[BigInt, pk()]
            code: Annotated[Text, natural_key()]

        @ematix.table(name="Weird Name")
        class Other:
            id: Annotated[BigInt, pk()]
        """
    )
    tables = project.flow().project.tables
    assert set(tables) == {"raw.http_request_log", "Weird Name"}
    assert tables["raw.http_request_log"].key_columns == ("code",)
    assert tables["Weird Name"].key_columns == ("id",)


@pytest.mark.proves("tables-declared")
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("pass", "table T declares no columns"),
        ("c: int", "column 'c' of T: int is not a column type"),
        ("c: BigInt | Text", "is not a column type"),
        ("c: String", "missing 1 required positional argument: 'length'"),
        ("c: String[0]", "String[n] takes a positive length, not 0"),
        ("c: String[1.5]", "String[n] takes a positive length, not 1.5"),
        ("c: Numeric[39, 2]", "precision of 1 to 38, not 39"),
        ("c: Numeric[4, 5]", "scale of 0 to 4, not 5"),
        ("c: Array[int]", "is not a column type"),
        ("c: Annotated[BigInt, pk]", "call the marker: pk()"),
        ("c: Annotated[BigInt, 'x']", "is annotated with 'x', which marks nothing"),
        ("c: Struct[(1, Text)]", "Struct takes (name, type) pairs, not 1"),
        ("c: Struct[('a', Text), Text]", "Struct takes (name, type) pairs, not"),
        ("c: Annotated[BigInt | None, pk()]", "column 'c' of T is pk() and nullable"),
        ("c: Annotated[BigInt, pk(), nullable()]", "column 'c' of T is pk() and nullable"),
        ("c: Bigint", "name 'Bigint' is not defined"),
    ],
)
def test_mistakes_name_the_column_and_the_line(project, body, message):
    with pytest.raises(DeclarationError) as caught:
        declare(project, body)
    assert message in str(caught.value)
    assert "pipelines.py:" in str(caught.value)


def test_a_dataclass_is_refused_with_a_reason():
    from ematix_flow import ematix

    @dataclasses.dataclass
    class Orders:
        id: BigInt

    with (
        declaring_into(Project()),
        pytest.raises(DeclarationError, match="already a dataclasses class"),
    ):
        ematix.table(Orders)


def test_types_are_values():
    assert Numeric(10, 2) == Numeric(10, 2)
    assert hash(Struct(("a", Text))) == hash(Struct(("a", Text())))
    assert String(2) != String(3)


def test_our_own_tables_names_are_refused(project):
    project.declare("@ematix.table(name='_flow_ledger')\nclass T:\n    id: BigInt\n")
    with pytest.raises(DeclarationError, match="names that begin with _flow_"):
        project.flow()


def test_our_own_columns_names_are_refused(project):
    project.declare("@ematix.table\nclass T:\n    _flow_value: BigInt\n")
    with pytest.raises(DeclarationError, match="'_flow_value' cannot name a column of T"):
        project.flow()


def test_names_that_differ_only_in_case_are_refused(project):
    project.declare("@ematix.table\nclass T:\n    id: BigInt\n    ID: Text\n")
    with pytest.raises(DeclarationError, match="'id' and 'ID' of T differ only in case"):
        project.flow()
