"""The generated table of kinds and properties."""

from ematix_flow.connections.describe import kinds_markdown
from ematix_flow.connections.model import KINDS, properties_of


def test_every_kind_and_every_property_is_described():
    page = kinds_markdown()
    for kind, model in KINDS.items():
        _, found, rest = page.partition(f"#### `{kind}`\n")
        assert found
        section = rest.partition("\n#")[0]
        for key, each in properties_of(model).items():
            [row] = [line for line in section.splitlines() if line.startswith(f"| `{key}` |")]
            assert ("**Secret.**" in row) == each.secret
            assert row.count(" | ") == 3


def test_a_few_rows():
    page = kinds_markdown()
    assert "| `port` | number | `5432` | Its port |" in page
    assert "| `database` | text | required | The database |" in page
    assert "| `header` | `true`, `false` | `true` | The first line names the columns |" in page
    assert page == kinds_markdown()
