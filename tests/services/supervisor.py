"""One server per service and home: started once, reused while provably ours, ended by its pid."""

from __future__ import annotations

import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.services import state as states
from tests.services.home import Home
from tests.services.lock import exclusive, is_held, shared
from tests.services.polling import until
from tests.services.process import PID, identify, terminate, was_started_in
from tests.services.service import CannotInstall, CannotStart, Running, Service
from tests.services.state import State


class InUse(Exception):
    """Another test run uses the server, so it must not be stopped."""


@dataclass(frozen=True, slots=True)
class Supervisor:
    """Runs services in a home.

    `patience` is how long a live server of ours may take to prove itself before it is replaced:
    generous, because on a busy machine a slow answer is likelier than a broken server, and the
    one replaced may be in use by another test run.
    """

    home: Home
    patience: float = 30.0

    @contextmanager
    def lease(self, service: Service) -> Iterator[Running]:
        """A running server that nobody stops until the block ends."""
        with ExitStack() as held:
            with exclusive(self.home.change_lock(service.name)):
                running = self._ensure(service)
                # Taken before the change lock is let go: no gap in which a stop could slip in.
                held.enter_context(shared(self.home.use_lock(service.name)))
            yield running

    def start(self, service: Service) -> Running:
        """A running server, left running for whoever comes next."""
        with self.lease(service) as running:
            return running

    def status(self, service: Service) -> Running | None:
        """The server if it runs and proves to be ours right now."""
        with exclusive(self.home.change_lock(service.name)):
            return self._proven(service, patience=0)

    def stop(self, service: Service) -> bool:
        """End the server of this home; False if there was none. Raises `InUse`."""
        with exclusive(self.home.change_lock(service.name)):
            if is_held(self.home.use_lock(service.name)):
                raise InUse(f"{service.name} is in use by another test run")
            was_there = self._process_is_ours(self._state(service))
            self._clear(service)
            return was_there

    def _ensure(self, service: Service) -> Running:
        if not sys.platform.startswith("linux"):
            raise CannotInstall("test services need Linux: they are recognised through /proc")
        proven = self._proven(service, patience=self.patience)
        if proven is not None:
            return proven
        self._clear(service)
        service.install()
        return self._start(service)

    def _start(self, service: Service) -> Running:
        token = secrets.token_hex(8)
        directory = self.home.new_directory(service.name, token, service.account())
        path = self.home.state_file(service.name)
        states.save(path, State(token=token, directory=directory))
        try:
            running = service.start(directory)
            process = identify(running.pid)
            if process is None:
                raise CannotStart(f"{service.name} answered and then died")
        except BaseException:
            self._clear(service)
            raise
        states.save(path, State(token=token, directory=directory, running=running, process=process))
        return running

    def _proven(self, service: Service, *, patience: float) -> Running | None:
        """The recorded server if process, directory and the server's own word all agree."""
        state = self._state(service)
        if state is None or state.running is None or not self._process_is_ours(state):
            return None
        running = state.running
        return running if until(lambda: service.is_ours(running), seconds=patience) else None

    def _clear(self, service: Service) -> None:
        """End what the state file tells of, if it is ours, and forget it.

        A pid that now belongs to another process is left alone, and so is a server that answers
        on the recorded port but is not the recorded process.
        """
        state = self._state(service)
        if state is None:
            return
        if state.running is not None and self._process_is_ours(state):
            service.stop(state.running)
        elif state.running is None:
            _end_half_started(state)
        if state.token in state.directory.name:
            _remove(state.directory)
        self.home.state_file(service.name).unlink(missing_ok=True)

    def _state(self, service: Service) -> State | None:
        return states.load(self.home.state_file(service.name))

    @staticmethod
    def _process_is_ours(state: State | None) -> bool:
        return (
            state is not None
            and state.process is not None
            and state.running is not None
            and state.running.pid == state.process.pid
            and state.process.is_alive()
            and state.token in state.directory.name
            and was_started_in(state.process.pid, state.directory)
        )


def _end_half_started(state: State) -> None:
    try:
        pid = int((state.directory / PID).read_text())
    except (FileNotFoundError, ValueError):
        return
    if was_started_in(pid, state.directory):
        terminate(pid)


def _remove(directory: Path) -> None:
    """Delete a server's files.

    More than once if need be: the children of a killed PostgreSQL write on for a moment.
    """

    def gone() -> bool:
        shutil.rmtree(directory, ignore_errors=True)
        return not directory.exists()

    until(gone, seconds=10)
