"""Server processes: started detached, recognised beyond their pid, ended by it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.services.account import Account
from tests.services.polling import until
from tests.services.service import CannotStart, PortTaken

LOG = "server.log"
PID = "server.pid"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessId:
    """A process that cannot be mistaken for a later one with the same pid.

    Pids are reused; a pid together with the tick it started at is not, within one boot.
    """

    pid: int
    started: int
    boot: str

    def is_alive(self) -> bool:
        return identify(self.pid) == self

    def as_json(self) -> dict[str, int | str]:
        return asdict(self)


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def identify(pid: int) -> ProcessId | None:
    """The live process behind `pid`; None if it is gone or only waits to be reaped."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The second field is the command's name in brackets and may itself hold spaces and brackets.
    state, *rest = stat.rpartition(")")[2].split()
    if state in "ZX":
        return None
    return ProcessId(pid=pid, started=int(rest[18]), boot=boot_id())


def was_started_in(pid: int, directory: Path) -> bool:
    """Whether the command line of `pid` names `directory`.

    The directory's name is random, so a process that names it as its data directory is one that
    this package started.
    """
    try:
        return os.fsencode(directory) in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


def spawn(
    argv: Sequence[str | Path],
    *,
    directory: Path,
    account: Account | None = None,
    env: Mapping[str, str] | None = None,
) -> int:
    """Start a server that outlives this process; return its pid.

    The shell puts the server in the background and leaves, so the server is nobody's child here:
    it needs no reaping, and no `ResourceWarning` tells a test run that it still lives. Its pid is
    noted in the directory at once, for whoever finds the directory after we were killed.
    """
    shell = subprocess.run(
        ["sh", "-c", f'"$@" </dev/null >{LOG} 2>&1 & echo $! | tee {PID}', "sh", *map(str, argv)],
        env=clean_environment(env),
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        start_new_session=True,
        umask=0o077,
        user=None if account is None else account.uid,
        group=None if account is None else account.gid,
        extra_groups=None if account is None else [],
    )
    return int(shell.stdout)


def run_tool(
    argv: Sequence[str | Path],
    *,
    directory: Path,
    account: Account | None = None,
    seconds: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Run one of the server's own tools to its end, as the server's account."""
    return subprocess.run(
        [str(word) for word in argv],
        env=clean_environment(None),
        cwd=directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
        timeout=seconds,
        umask=0o077,
        user=None if account is None else account.uid,
        group=None if account is None else account.gid,
        extra_groups=None if account is None else [],
    )


def must_run(
    argv: Sequence[str | Path], *, directory: Path, account: Account | None = None
) -> None:
    """Run a tool that has to succeed before the server can start."""
    done = run_tool(argv, directory=directory, account=account)
    if done.returncode != 0:
        output = (done.stdout + done.stderr)[-4000:]
        raise CannotStart(f"{argv[0]} ended with {done.returncode}:\n{output}")


def await_answer(
    pid: int, *, directory: Path, answers: Callable[[], bool], seconds: float = 60
) -> None:
    """Return once the server answers; end it and raise `CannotStart` if it does not."""
    process = identify(pid)

    def settled() -> bool:
        return process is None or not process.is_alive() or answers()

    try:
        answered = until(settled, seconds=seconds) and process is not None and process.is_alive()
    except BaseException:
        # Ctrl-C during the wait must not leave a server that no state file knows of.
        terminate(pid, signal.SIGKILL)
        raise
    if answered:
        return
    terminate(pid, signal.SIGKILL)
    log = (directory / LOG).read_text(errors="replace")[-4000:]
    # All servers start with LC_ALL=C, so the kernel's words for EADDRINUSE are always these.
    taken = "address already in use" in log.lower()
    raise (PortTaken if taken else CannotStart)(f"the server in {directory} did not answer:\n{log}")


def terminate(pid: int, how: signal.Signals = signal.SIGTERM, *, seconds: float = 30) -> None:
    """Send `how` to the process, then SIGKILL if it is still there after `seconds`."""
    process = identify(pid)
    if process is None:
        return
    for signum, patience in ((how, seconds), (signal.SIGKILL, 10.0)):
        try:
            os.kill(pid, signum)
        except ProcessLookupError:
            return
        if until(lambda: not process.is_alive(), seconds=patience):
            return


def clean_environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    """What a server sees of the environment: next to nothing.

    The caller's PGDATA, KAFKA_OPTS or VGW_PORT must not change what the tests run against.
    """
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": path, "LC_ALL": "C.UTF-8", "LANGUAGE": "C", "TZ": "UTC", **(extra or {})}
