"""What the command line writes to stderr: unexpected errors, and progress in a log."""

import json
from datetime import UTC, datetime
from io import StringIO

import pytest
from rich.console import Console
from rich.progress import Progress, TextColumn

from ematix_flow._base.ids import uuid7
from ematix_flow._base.redact import register_secret
from ematix_flow.cli.output import Output
from ematix_flow.cli.progress import LogLines, TerminalLine, run_observer
from ematix_flow.cli.root import main
from ematix_flow.observe.events import (
    BytesCarried,
    Noticed,
    RunEnded,
    StepEnded,
    StepStarted,
    TasksProgressed,
)


@pytest.fixture
def flow(monkeypatch, project, capsys):
    """`flow ...` in this process, while opening a project raises *error*."""

    def run(error, *arguments):
        def broken(*_, **__):
            raise error

        monkeypatch.setattr("ematix_flow.api.Flow.open", broken)
        monkeypatch.setattr("sys.argv", ["flow", *arguments, "--project", str(project.path)])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return ended.value.code, shown.out, shown.err

    return run


LINE = (
    "unexpected OSError: disk says ***; this is a bug in ematix-flow "
    "or an environment problem; run with -v for the stack"
)


@pytest.mark.proves("no-stack-trace")
def test_an_unexpected_error_is_one_line(flow):
    register_secret("canary-9")
    code, out, err = flow(OSError("disk says canary-9\nand more"), "list")
    assert (code, out, err) == (1, "", f"Error: {LINE}\n")


def test_an_unexpected_error_without_a_message(flow):
    assert "unexpected ValueError; this is a bug" in flow(ValueError(), "list")[2]


@pytest.mark.proves("no-stack-trace")
def test_an_unexpected_error_as_json(flow):
    register_secret("canary-9")
    code, out, err = flow(OSError("disk says canary-9"), "list", "--format", "json")
    error = json.loads(err)["error"]
    assert (code, out, error["type"], error["what"]) == (1, "", "UnexpectedError", LINE)


@pytest.mark.proves("no-stack-trace", "no-secret")
def test_an_unexpected_error_shows_its_stack_when_asked(flow):
    register_secret("canary-9")
    _, _, err = flow(OSError("disk says canary-9"), "list", "-v")
    assert err.startswith(f"Error: {LINE}\n")
    assert "Traceback (most recent call last)" in err
    assert "OSError: disk says ***" in err
    assert "canary-9" not in err


@pytest.mark.proves("no-stack-trace")
@pytest.mark.parametrize(
    ("arguments", "what", "hint"),
    [
        (["preview"], "Missing argument 'NAME'", "flow preview --help"),
        (["run", "--nope"], "No such option", "flow run --help"),
        (["runs", "--limit", "0"], "0 is not in the range", "flow runs --help"),
        (["engine", "strat"], "No such command 'strat'", "flow engine --help"),
    ],
)
@pytest.mark.parametrize("asked", [["--format", "json"], ["--format=json"]])
def test_a_program_is_told_as_json_that_its_command_is_wrong(flow, arguments, what, hint, asked):
    code, out, err = flow(AssertionError(), *arguments, *asked)
    error = json.loads(err)["error"]
    assert (code, out, error["type"], error["hint"]) == (2, "", "UsageError", hint)
    assert what in error["what"]


def test_a_person_is_told_by_click_that_a_command_is_wrong(flow):
    code, out, err = flow(AssertionError(), "run", "--nope")
    assert (code, out) == (2, "")
    assert err.startswith("Usage: flow run ")


class NarrowTerminal(StringIO):
    def isatty(self):
        return True


def test_an_id_can_be_copied_from_a_narrow_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    ids = [str(uuid7(datetime(2026, 1, day, tzinfo=UTC))) for day in (1, 2)]
    shown = NarrowTerminal()
    rows = [[each, "a long name of a pipeline", "what went wrong with it"] for each in ids]
    Output(stdout=shown).emit_table({}, ["run", "pipeline", "error"], rows, empty="")
    for each in ids:
        assert f"{each}  a long name of a pipeline  what went wrong with it" in shown.getvalue()


@pytest.mark.parametrize(
    ("folder", "told"), [("my shop", "cd 'my shop' && "), ("shop", "cd shop ")]
)
def test_what_init_says_can_be_pasted_into_a_shell(tmp_path, monkeypatch, capsys, folder, told):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["flow", "init", folder])
    with pytest.raises(SystemExit):
        main()
    assert f"  {told}" in capsys.readouterr().out


class ManualClock:
    seconds = 0.0

    def monotonic(self):
        return self.seconds


class Log:
    """The lines of one step, whose progress comes at chosen seconds."""

    def __init__(self, capsys):
        self.capsys = capsys
        self.clock = ManualClock()
        self.observe = LogLines(self.clock)
        self.observe(StepStarted(pipeline="load", step="stage", description="run it"))

    def at(self, seconds, done, total=8, stages=2, eta=4.0):
        self.clock.seconds = seconds
        self.observe(
            TasksProgressed(
                pipeline="load",
                step="stage",
                done=done,
                total=total,
                stages=stages,
                eta_seconds=eta,
            )
        )

    def end(self):
        self.observe(StepEnded(pipeline="load", step="stage", seconds=1.0))
        lines = self.capsys.readouterr().err.splitlines()
        assert lines[0] == "load: stage: run it"
        assert lines[-1] == "load: stage took 1.00 s"
        return lines[1:-1]


def test_a_quick_step_shows_its_last_numbers_only(capsys):
    log = Log(capsys)
    for tick in range(20):
        log.at(tick / 4, done=min(tick, 8))
    assert log.end() == ["load: stage: 8 of 8 tasks in 2 stages"]


def test_a_long_step_shows_a_line_every_ten_seconds(capsys):
    log = Log(capsys)
    for tick in range(25 * 4):
        log.at(tick / 4, done=1 + tick // 20)
    assert log.end() == [
        "load: stage: 3 of 8 tasks in 2 stages, about 4 s to go",
        "load: stage: 5 of 8 tasks in 2 stages, about 4 s to go",
    ]


def test_numbers_that_do_not_change_are_not_repeated(capsys):
    log = Log(capsys)
    for second in range(100):
        log.at(float(second), done=3, eta=float(second))
    assert log.end() == ["load: stage: 3 of 8 tasks in 2 stages, about 10 s to go"]


def test_a_step_without_progress_or_stages(capsys):
    assert Log(capsys).end() == []
    log = Log(capsys)
    log.at(11.0, done=3, stages=0, eta=None)
    log.at(22.0, done=4, stages=1)
    assert log.end() == [
        "load: stage: 3 of 8 tasks",
        "load: stage: 4 of 8 tasks in 1 stage, about 4 s to go",
    ]


def test_a_run_that_fails_shows_how_far_it_came(capsys):
    log = Log(capsys)
    log.at(1.0, done=3)
    log.observe(RunEnded(pipeline="load", run_id="r", status="failed", seconds=1.0))
    assert capsys.readouterr().err.splitlines()[1:] == [
        "load: stage: 3 of 8 tasks in 2 stages",
        "load: failed after 1.0 s",
    ]


def test_programs_get_no_progress(capsys):
    with run_observer(Output(format="json")) as observer:
        observer(StepEnded(pipeline="load", step="stage", seconds=1.0))
    assert capsys.readouterr().err == ""


def test_a_log_gets_lines(capsys):
    with run_observer(Output()) as observer:
        observer(StepEnded(pipeline="load", step="stage", seconds=1.0, rows=1234))
    assert capsys.readouterr().err == "load: stage took 1.00 s, 1,234 rows\n"


class Terminal:
    """A moving line on a terminal of our own, and what it shows."""

    def __init__(self):
        console = Console(file=StringIO(), width=200)
        self.progress = Progress(TextColumn("{task.fields[note]}"), console=console)
        self.observe = TerminalLine(self.progress)

    @property
    def tasks(self):
        return [(task.description, task.fields["note"]) for task in self.progress.tasks]

    @property
    def printed(self):
        return self.progress.console.file.getvalue()


def test_a_terminal_shows_the_step_at_work_and_how_far_it_is():
    terminal = Terminal()
    for step in ("read", "stage"):
        terminal.observe(StepStarted(pipeline="load", step=step, description="run it"))
        assert terminal.tasks == [(f"load: {step}", "")]
    terminal.observe(
        TasksProgressed(pipeline="load", step="stage", done=3, total=8, stages=2, eta_seconds=1.0)
    )
    assert terminal.tasks == [("load: stage", "3 of 8 tasks in 2 stages")]
    [task] = terminal.progress.tasks
    assert (task.completed, task.total) == (3, 8)
    terminal.observe(BytesCarried(pipeline="load", step="stage", bytes=2048))
    assert terminal.tasks == [("load: stage", "2 KiB carried")]
    terminal.observe(RunEnded(pipeline="load", run_id="r", status="failed", seconds=1.0))
    assert terminal.tasks == []


@pytest.mark.proves("no-secret")
def test_a_terminal_shows_notes_above_the_line_and_no_secret():
    register_secret("canary-9")
    terminal = Terminal()
    terminal.observe(TasksProgressed(pipeline="p", step="s", done=1, total=2, eta_seconds=None))
    terminal.observe(Noticed(pipeline="load", text="canary-9 [is] here"))
    assert terminal.tasks == []
    assert "note: *** [is] here" in terminal.printed
