import importlib
import sys
import types
from pathlib import Path

import pytest

import ematix_flow
from ematix_flow._base.redact import redact
from ematix_flow.api import Flow
from ematix_flow.declare.project import Project
from ematix_flow.errors import (
    ConfigError,
    DeclarationError,
    FlowError,
    ProjectLoadError,
    UnknownName,
)
from ematix_flow.resolve.query import Place, QueryResolver


def message(project, error=FlowError, **options):
    with pytest.raises(error) as caught:
        project.flow(**options)
    return str(caught.value)


def resolved(project, dialect):
    declared = project.flow().project
    resolver = QueryResolver(
        project=declared, place_of=lambda _: Place(kind="sqlite", dialect=dialect)
    )
    return resolver.resolve(declared.pipelines["load"])


@pytest.mark.proves("discovery")
def test_every_module_of_the_folder_is_loaded_in_order(project):
    project.declare("@ematix.connection\nclass a:\n    kind = 'csv'\n    path = 'x'", "one.py")
    project.declare(
        "@ematix.connection\nclass b:\n    kind = 'csv'\n    path = 'x'", "pkg/__init__.py"
    )
    project.write("test_ignored.py", "raise SystemExit")
    project.write("_private.py", "raise SystemExit")
    project.write("notes.txt", "")
    assert set(project.flow().project.connections) == {"a", "b"}


def test_modules_can_import_each_other(project):
    project.declare("@ematix.table\nclass T:\n    id: BigInt", "tables.py")
    project.write("zz.py", "from tables import T\nassert T.__ematix_table__")
    assert set(project.flow().project.tables) == {"t"}


def test_a_second_load_sees_todays_file(project):
    project.declare("@ematix.table\nclass First:\n    id: BigInt")
    assert set(project.flow().project.tables) == {"first"}
    project.declare("@ematix.table\nclass Second:\n    id: BigInt\n# longer than before")
    assert set(project.flow().project.tables) == {"second"}


def test_packages_installed_inside_the_project_folder_are_not_reloaded(project):
    installed = project.write(".venv/lib/site-packages/some_dependency.py", "")
    sys.path.insert(0, str(installed.parent))
    try:
        before = importlib.import_module("some_dependency")
        project.declare("import some_dependency")
        project.flow()
        project.flow()
        assert sys.modules["some_dependency"] is before
    finally:
        sys.path.remove(str(installed.parent))


@pytest.mark.parametrize("name", ["json", "types", "csv", "time", "duckdb"])
def test_a_module_named_like_one_of_pythons_or_ours_is_refused(project, name):
    before = sys.modules.get(name)
    project.declare("@ematix.table\nclass T:\n    id: BigInt", f"{name}.py")
    text = message(project, ProjectLoadError)
    assert f"{name}.py: module {name!r} has the name of " in text
    assert f"Hint: rename it, for example to {name}_pipelines.py" in text
    assert sys.modules.get(name) is before


def test_a_module_named_like_an_imported_one_is_refused(project, make_project):
    elsewhere = make_project("elsewhere")
    elsewhere.write("taken_name.py", "")
    sys.path.insert(0, str(elsewhere.path))
    try:
        importlib.import_module("taken_name")
        project.declare("", "taken_name.py")
        text = message(project, ProjectLoadError)
    finally:
        sys.path.remove(str(elsewhere.path))
        sys.modules.pop("taken_name", None)
    assert "taken_name.py: module 'taken_name' has the name of one that is already imported" in text
    assert "elsewhere/taken_name.py" in text


def test_an_installed_module_may_be_named(project):
    project.write("ematix-flow.toml", 'modules = ["json"]')
    assert project.flow().project.pipelines == {}


@pytest.mark.proves("discovery")
def test_a_module_may_be_given_as_a_file(project):
    project.declare("@ematix.table\nclass A:\n    id: BigInt", "deep/a.py")
    before = list(sys.path)
    assert set(project.flow(modules=("deep/a.py",)).project.tables) == {"a"}
    assert sys.path == before


@pytest.mark.proves("discovery")
def test_files_that_are_given_find_the_modules_beside_them(project):
    for folder in ("one", "two"):
        project.write(f"{folder}/names_of_{folder}.py", f"NAME = 'from_{folder}'")
        project.declare(
            f"from names_of_{folder} import NAME\n"
            "@ematix.table(name=NAME)\nclass T:\n    id: BigInt",
            f"{folder}/tables_{folder}.py",
        )
    modules = ("one/tables_one.py", "two/tables_two.py")
    assert set(project.flow(modules=modules).project.tables) == {"from_one", "from_two"}


def test_the_folder_of_our_own_package_can_be_a_project():
    source = Path(ematix_flow.__file__).parent.parent
    before = {name: each for name, each in sys.modules.items() if name.startswith("ematix_flow")}
    for _ in range(2):
        Flow.open(source, modules=("ematix_flow",))
    assert all(sys.modules[name] is each for name, each in before.items())


def test_the_script_that_opens_a_project_stays_imported(project, monkeypatch):
    script = project.write("_script.py", "")
    running = types.ModuleType("__main__")
    running.__file__ = str(script)
    monkeypatch.setitem(sys.modules, "__main__", running)
    project.flow()
    assert sys.modules["__main__"] is running


@pytest.mark.proves("discovery")
def test_toml_lists_modules_and_an_option_overrides_it(project):
    project.declare("@ematix.table\nclass A:\n    id: BigInt", "a.py")
    project.declare("@ematix.table\nclass B:\n    id: BigInt", "b.py")
    project.write("ematix-flow.toml", 'modules = ["a"]')
    assert set(project.flow().project.tables) == {"a"}
    assert set(project.flow(modules=("b",)).project.tables) == {"b"}


def test_a_syntax_error_points_at_its_line(project):
    project.write("pipelines.py", "x = 1\ndef f(:\n    pass\n")
    text = message(project, ProjectLoadError)
    assert "pipelines.py:2: module 'pipelines' has a syntax error" in text
    assert "^" in text


def test_a_module_that_raises_shows_its_own_traceback_only(project):
    project.write("pipelines.py", "def load():\n    raise RuntimeError('no luck')\n\nload()\n")
    text = message(project, ProjectLoadError)
    assert (
        "pipelines.py:2: module 'pipelines' raised RuntimeError while it was imported: no luck"
        in text
    )
    assert "line 4" in text
    assert "discover.py" not in text
    assert "importlib" not in text


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import sys; sys.exit(3)", "raised SystemExit"),
        ("import nonexistent_package", "No module named 'nonexistent_package'"),
    ],
)
def test_other_ways_to_fail_at_import(project, code, expected):
    project.write("pipelines.py", code)
    assert expected in message(project, ProjectLoadError)


def test_an_unknown_module_is_named(project):
    assert "there is no module 'nope' in the project" in message(project, modules=("nope",))


def test_a_missing_folder(project):
    project.path.rmdir()
    assert "there is no project folder" in message(project, ConfigError)


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ("engin = 'local'", "unknown key 'engin'; did you mean 'engine'?"),
        ("engine = 3", "engine takes an engine's name, not 3"),
        ("modules = 'a'", "modules takes a list of module names"),
        ("modules = [1]", "modules takes a list of module names"),
        ("engine = ", "not valid TOML"),
    ],
)
def test_mistakes_in_toml_name_the_file(project, toml, expected):
    project.write("ematix-flow.toml", toml)
    text = message(project, ConfigError)
    assert expected in text
    assert "ematix-flow.toml" in text


def test_spark_settings_may_be_nested_or_quoted(project):
    project.write("ematix-flow.toml", '[spark]\n"spark.a.b" = 4\nspark.sql.ansi.enabled = false\n')
    assert project.flow().config.spark == {"spark.a.b": "4", "spark.sql.ansi.enabled": "false"}


def test_secrets_among_spark_settings_are_known_at_once(project):
    project.write(
        "ematix-flow.toml",
        """
        [spark]
        spark.hadoop.fs.s3a.secret.key = "hunter2abc"
        spark.app.name = "shop-app"
        spark.secret.on = true
        """,
    )
    project.flow()
    assert redact("shop-app says hunter2abc, true") == "shop-app says ***, true"


PIPELINE = """
@ematix.table
class T:
    id: BigInt

@ematix.pipeline({})
def load():
    return "SELECT 1 AS id"
"""
GOOD = "target=T, source_connection='a', target_connection='b'"


@pytest.mark.proves("keywords-checked")
@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        (GOOD + ", mod='append'", "a pipeline has no keyword 'mod'; did you mean 'mode'?"),
        (GOOD + ", mode='apend'", "mode cannot be 'apend'; did you mean 'append'?"),
        ("source_connection='a', target_connection='b'", "a pipeline needs a target table"),
        (
            "target=int, source_connection='a', target_connection='b'",
            "target=int is not a table class",
        ),
        ("target=T, source_connection='a'", "a pipeline needs a target_connection"),
        (
            "target=T, source_connection='a', target_connection=3",
            "target_connection takes a connection or its name, not 3",
        ),
        (GOOD + ", name='a/b'", "'a/b' cannot name a pipeline"),
        (GOOD + ", tags=3", "tags takes a name or a list of names, not 3"),
        (GOOD + ", tags=['a', 3]", "tags takes a name or a list of names, not ['a', 3]"),
        (GOOD + ", depends_on={'a': 1}", "depends_on takes a name or a list of names, not"),
        (GOOD + ", source_table=3", "source_table takes a name, not 3"),
        (GOOD + ", source_table=''", "source_table takes a name, not ''"),
        (GOOD + ", engine=3", "engine takes a name, not 3"),
        (GOOD + ", name=3", "name takes a name, not 3"),
    ],
)
def test_mistakes_in_a_pipeline_name_its_line(project, keywords, expected):
    project.declare(PIPELINE.format(keywords))
    text = message(project)
    assert expected in text
    assert "pipelines.py:" in text


@pytest.mark.parametrize(
    ("tags", "expected"),
    [("'nightly'", ("nightly",)), ("['a', 'b']", ("a", "b")), ("('a',)", ("a",)), ("()", ())],
)
def test_tags_are_one_name_or_several(project, tags, expected):
    project.declare(PIPELINE.format(f"{GOOD}, tags={tags}"))
    assert project.flow().project.pipelines["load"].tags == expected


@pytest.mark.proves("discovery")
def test_two_of_one_name_name_both_lines(project):
    project.declare(PIPELINE.format(GOOD))
    project.declare(
        PIPELINE.format(GOOD).replace("class T", "class U").replace("target=T", "target=U"), "zz.py"
    )
    text = message(project, DeclarationError)
    assert "pipeline 'load' is declared twice" in text
    assert "pipelines.py:" in text
    assert "zz.py:" in text


CELL = """
from ematix_flow import *

app = connect("app", kind="sqlite", path="{path}")

@ematix.table
class T:
    id: BigInt

@udf(args=[Text], returns=Text)
def shout(texts):
    return texts

@ematix.pipeline(target=T, source_connection=app, target_connection=app)
def load():
    return "SELECT 1 AS id"
"""


@pytest.fixture
def run_cell(monkeypatch):
    """Run a cell as a notebook does: in one session, under a name that is no file."""
    session = Project()
    monkeypatch.setattr("ematix_flow.declare.project._of_the_script", session)
    monkeypatch.setattr(sys, "ps1", "In: ", raising=False)
    names = {"__name__": "__main__"}

    def run(text, file="/tmp/ipykernel_1/2.py"):
        exec(compile(text, file, "exec"), names)
        return session

    return run


def test_a_cell_of_a_notebook_may_run_again(run_cell):
    run_cell(CELL.format(path="a.db"))
    run_cell(CELL.format(path="a.db"))
    session = run_cell(CELL.format(path="b.db"), file="/tmp/ipykernel_1/3.py")
    assert session.connections["app"].path == "b.db"
    assert session.pipelines["load"].location.file == "/tmp/ipykernel_1/3.py"


def test_a_script_that_is_piped_in_is_no_notebook(run_cell, monkeypatch):
    monkeypatch.delattr(sys, "ps1")
    run_cell(CELL.format(path="a.db"), file="<stdin>")
    with pytest.raises(DeclarationError, match="declared twice"):
        run_cell(CELL.format(path="b.db"), file="<stdin>")


def test_what_a_file_declares_is_not_replaced_by_a_cell(run_cell, tmp_path):
    file = tmp_path / "declared.py"
    file.write_text("")
    run_cell(CELL.format(path="a.db"), file=str(file))
    with pytest.raises(DeclarationError, match="connection 'app' is declared twice"):
        run_cell(CELL.format(path="a.db"))
    with pytest.raises(DeclarationError, match="connection 'app' is declared twice"):
        run_cell(CELL.format(path="a.db"), file=str(file))


def test_a_pipeline_of_a_cell_does_not_replace_a_workflow(run_cell):
    run_cell("from ematix_flow import *\nematix.workflow('load', ['other'])")
    with pytest.raises(DeclarationError, match="pipeline 'load' is declared twice"):
        run_cell(CELL.format(path="a.db"))


def test_an_unknown_pipeline_is_guessed(project):
    project.with_orders()
    with pytest.raises(UnknownName, match="did you mean 'load_orders'"):
        project.flow().plan("lod_orders")


CHAIN = """
@ematix.table
class T:
    id: BigInt

def job(name, *after):
    @ematix.pipeline(name=name, target=T, source_connection="a", target_connection="b",
                     depends_on=after)
    def load():
        return "SELECT 1 AS id"
"""


@pytest.mark.proves("dag")
def test_pipelines_are_ordered_by_what_they_depend_on(project):
    project.declare(CHAIN + "\njob('a', 'b', 'c')\njob('b', 'c')\njob('c')\njob('d')\n")
    flow = project.flow()
    assert [each.name for each in flow.pipelines()] == ["c", "d", "b", "a"]
    assert flow.order(["a", "c"]) == ("c", "a")


@pytest.mark.proves("dag")
def test_a_circle_shows_all_of_it(project):
    project.declare(CHAIN + "\njob('a', 'b')\njob('b', 'c')\njob('c', 'a')\n")
    with pytest.raises(DeclarationError) as caught:
        project.flow().pipelines()
    text = str(caught.value)
    assert "depend on each other in a circle: " in text
    assert text.count("pipelines.py:") >= 4


@pytest.mark.proves("dag")
def test_an_unknown_upstream_is_guessed(project):
    project.declare(CHAIN + "\njob('first')\njob('second', 'frist')\n")
    with pytest.raises(UnknownName, match="depends_on of 'second': 'frist'; did you mean 'first'"):
        project.flow().pipelines()


READS_A_TABLE = """
@ematix.connection
class source:
    kind = "{kind}"
    path = "source.db"

@ematix.table
class T:
    id: BigInt

@ematix.pipeline(target=T, source_connection="source", target_connection="source",
                 source_table={table!r})
def load(): ...
"""


@pytest.mark.proves("hostile-names")
@pytest.mark.parametrize(
    ("kind", "table", "expected"),
    [
        ("sqlite", "order", 'SELECT * FROM "order"'),
        ("sqlite", "main.order", 'SELECT * FROM "main"."order"'),
        ("sqlite", "my orders", 'SELECT * FROM "my orders"'),
        ("duckdb", "shop.Order", 'SELECT * FROM "shop"."Order"'),
        ("duckdb", "db.shop.select", 'SELECT * FROM "db"."shop"."select"'),
        ("duckdb", '"odd.name"', 'SELECT * FROM "odd.name"'),
        ("duckdb", 'shop."a""b"', 'SELECT * FROM "shop"."a""b"'),
        ("spark", "order", "SELECT * FROM `order`"),
        ("spark", "`orders.csv`", "SELECT * FROM `orders.csv`"),
    ],
)
def test_a_source_table_is_quoted_as_its_source_quotes(project, kind, table, expected):
    project.declare(READS_A_TABLE.format(kind="sqlite", table=table))
    assert resolved(project, kind).text == expected


@pytest.mark.parametrize("table", ["a..b", ".a", "a.b.c.d", 'a"b', '"a', '"a"b'])
def test_what_is_no_table_name_is_refused(project, table):
    project.declare(READS_A_TABLE.format(kind="sqlite", table=table))
    with pytest.raises(DeclarationError) as caught:
        resolved(project, "sqlite")
    assert f"source_table={table!r} is no table's name" in str(caught.value)
    assert "pipelines.py:" in str(caught.value)
