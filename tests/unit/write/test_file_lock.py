"""The lock beside a database that is a file."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ematix_flow.errors import PipelineBusy, TargetError
from ematix_flow.write.file_lock import file_lock

HOLD = """
import sys
from pathlib import Path
from ematix_flow.write.file_lock import file_lock

with file_lock(Path(sys.argv[1]), "p", holder="box:/project", since="2026-03-01T00:00:00Z"):
    print("held", flush=True)
    sys.stdin.read()
"""


def lock(database: Path, pipeline: str = "p"):
    return file_lock(database, pipeline, holder="box:/here", since="2026-03-01T00:00:00Z")


@pytest.mark.proves("one-lease")
def test_the_second_is_refused_with_who_holds_it_and_the_file_goes_with_the_lock(tmp_path):
    database = tmp_path / "out.db"
    with lock(database):
        assert [each.name for each in tmp_path.iterdir()] == ["out.db.p.flow-lock"]
        with pytest.raises(PipelineBusy) as caught, lock(database):
            pass
        told = str(caught.value)
        assert f"'p' is already running (by box:/here, process {os.getpid()}, since 2026-" in told
        assert "Hint: wait for that run to end" in told
        with lock(database, "another"):
            pass
    assert list(tmp_path.iterdir()) == []
    with lock(database):
        pass


@pytest.mark.proves("one-lease")
def test_a_killed_holder_gives_it_up_by_dying(tmp_path):
    database = tmp_path / "out.db"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(PipelineBusy, match=rf"process {holder.pid}"), lock(database):
            pass
        holder.send_signal(signal.SIGKILL)
    assert (tmp_path / "out.db.p.flow-lock").exists(), "the crash left no file: it proves nothing"
    with lock(database):
        pass


@pytest.mark.slow
@pytest.mark.proves("one-lease")
def test_of_many_at_once_one_holds_it_at_any_time(tmp_path):
    """The file is removed and made again all the time; that must not let two in."""
    database = tmp_path / "out.db"
    inside, most, entered = [], [], []

    def enter(number):
        for _ in range(200):
            try:
                with lock(database):
                    inside.append(number)
                    most.append(len(inside))
                    entered.append(number)
                    inside.remove(number)
            except PipelineBusy:
                pass

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(enter, range(8)))
    assert set(most) == {1}
    assert len(entered) > 8


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(TargetError, match="cannot be written"), lock(tmp_path / "file" / "out.db"):
        pass
