"""The command line as a user meets it: its own process, its own exit codes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ematix_flow
from tests.projects import ProjectFolder


def test_help_shows_every_command_with_examples(project):
    shown = project.cli("--help")
    assert shown.returncode == 0
    for command in (
        "init",
        "demo",
        "list",
        "plan",
        "explain",
        "run",
        "runs",
        "doctor",
        "engine",
        "jars",
    ):
        assert command in shown.stdout
        assert project.cli(command, "--help").returncode == 0
    assert "flow run load_orders --engine sail" in project.cli("run", "--help").stdout


@pytest.mark.proves("no-stack-trace")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["rnu"], "Did you mean 'run'?"),
        (["run"], "flow run takes pipeline names, or --all"),
        (["run", "lod_orders"], "did you mean 'load_orders'?"),
        (["plan", "lod_orders"], "did you mean 'load_orders'?"),
        (["runs", "nope"], "unknown pipeline 'nope'"),
        (["list", "--project", "nowhere"], "there is no project folder"),
        (
            ["run", "load_orders", "--engine", "locl"],
            "unknown engine 'locl'; did you mean 'local'?",
        ),
        (["list", "--format", "yaml"], "'yaml' is not one of"),
    ],
)
def test_usage_errors_exit_2_on_stderr(project, arguments, expected):
    done = project.with_orders().cli(*arguments)
    assert done.returncode == 2
    assert expected in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.proves("no-stack-trace")
def test_an_error_as_json_and_with_its_stack(project):
    project.with_orders()
    done = project.cli("run", "lod_orders", "--format", "json")
    error = json.loads(done.stderr)["error"]
    assert error["type"] == "UnknownName"
    assert "load_orders" in error["what"]
    assert "Traceback" in project.cli("run", "lod_orders", "-v").stderr


@pytest.mark.proves("plan-pure")
def test_list_plan_explain_and_an_empty_project(project):
    assert "No pipelines in" in project.cli("list").stdout
    assert project.json("list")["pipelines"] == []
    project.with_orders()
    assert "load_orders" in project.cli("list").stdout
    [listed] = project.json("list")["pipelines"]
    assert [each["table"] for each in listed["targets"]] == ["orders"]
    assert re.match(r"pipelines\.py:\d+$", listed["location"])
    first, second = project.cli("plan").stdout, project.cli("plan").stdout
    assert first == second
    assert "append into orders" in first
    explained = project.json("explain", "load_orders")
    assert explained["plan"]["steps"][-1]["sql"][0].startswith('INSERT INTO "orders"')
    assert {"key", "value", "why"} == set(explained["plan"]["settings"][0])


def test_the_folder_of_our_own_source_is_a_project_like_any_other(tmp_path):
    source = Path(ematix_flow.__file__).parent.parent
    done = ProjectFolder(tmp_path).cli("list", "--project", str(source))
    assert (done.returncode, done.stderr) == (0, "")
    assert "No pipelines in" in done.stdout


def test_a_module_named_like_pythons_own_is_refused(project):
    project.with_orders()
    (project.path / "pipelines.py").rename(project.path / "json.py")
    # Not by `python -m`, which would itself import the folder's json.
    done = subprocess.run(
        [sys.executable, "-P", "-m", "ematix_flow.cli", "list"],
        cwd=project.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "module 'json' has the name of a module of Python itself" in done.stderr
    assert "Hint: rename it" in done.stderr


def test_init_makes_a_project_that_runs(tmp_path):
    folder = ProjectFolder(tmp_path)
    made = folder.cli("init", "shop")
    assert made.returncode == 0, made.stderr
    again = folder.cli("init", "shop")
    assert again.returncode == 2
    assert "already exists; nothing was changed" in again.stderr
    shop = ProjectFolder(tmp_path / "shop")
    done = shop.cli("run", "--all")
    assert done.returncode == 0, done.stderr
    assert "load_orders: succeeded, 4 rows read, 4 inserted" in done.stdout
    assert "load_orders: commit: truncate into orders" in done.stderr
    assert shop.rows(
        "warehouse.duckdb", "SELECT customer, orders FROM customer_totals ORDER BY 1"
    ) == [
        ("ada", 2),
        ("alan", 1),
        ("grace", 1),
    ]
    assert {"status": "succeeded"}.items() <= shop.json("runs")["runs"][0].items()


@pytest.mark.proves("no-stack-trace")
def test_a_failed_run_exits_1_and_says_why(project):
    project.with_orders(rows=[("1", "", "1.00")])
    done = project.cli("run", "load_orders")
    assert done.returncode == 1
    assert "customer is NULL, but declared NOT NULL" in done.stderr
    assert "Hint: " in done.stderr
    assert "Traceback" not in done.stderr
    [run] = project.json("runs")["runs"]
    assert run["status"] == "failed"
    assert "nothing was written" in run["error"]["what"]


def test_doctor_finds_what_would_stop_a_run(project):
    project.with_orders()
    healthy = project.cli("doctor")
    assert healthy.returncode == 0, healthy.stdout
    sick = project.cli("doctor", "--engine", "sc://localhost:1", "--format", "json")
    assert sick.returncode == 3
    shown = json.loads(sick.stdout)
    assert shown["healthy"] is False
    [problem] = [check for check in shown["checks"] if check["health"] == "problem"]
    assert problem["name"] == "server"
