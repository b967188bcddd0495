import pytest

from ematix_flow.resolve.keys import merge_keys

PROJECT = """
@ematix.connection
class a:
    kind = "sqlite"
    path = "a.db"

@ematix.table{merge}
class T:
    id: {id}
    email: {email}
    code: Text

@ematix.pipeline(target=T, source_connection="a", target_connection="a", mode="merge"{keys})
def load():
    return "SELECT 1"
"""


@pytest.mark.proves("tables-declared")
@pytest.mark.parametrize(
    ("parts", "columns", "why"),
    [
        ({"keys": ", keys=['code']", "merge": "(merge_keys=['email'])"}, ("code",), "keys="),
        ({"merge": "(merge_keys=['email'])"}, ("email",), "the table's merge keys"),
        ({}, ("email",), "natural_key()"),
        ({"email": "Text"}, ("id",), "pk()"),
    ],
)
def test_the_first_that_is_said_wins(project, parts, columns, why):
    given = {
        "merge": "",
        "keys": "",
        "id": "Annotated[BigInt, pk()]",
        "email": "Annotated[Text, natural_key()]",
        **parts,
    }
    project.declare(PROJECT.format(**given))
    choice = merge_keys(project.flow().project.pipelines["load"].target)
    assert (choice.columns, choice.why) == (columns, why)
    if columns == ("id",):
        assert choice.warning is None
    else:
        assert choice.warning == (f"rows match by {columns[0]} ({why}), not by the primary key id")


def test_a_mode_that_matches_nothing_has_no_keys(project):
    text = PROJECT.format(merge="", keys="", id="BigInt", email="Text")
    project.declare(text.replace('"merge"', '"append"'))
    assert merge_keys(project.flow().project.pipelines["load"].target) is None
