"""What a home remembers of a server between test runs: one JSON file per service."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.services.process import ProcessId
from tests.services.service import Running


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A server that runs, or one that somebody began to start in `directory` (`running` is None).

    The second kind is written before the start, so that a test run killed half-way leaves a trace
    by which the next one ends the server and removes its files.
    """

    token: str
    directory: Path
    running: Running | None = None
    process: ProcessId | None = None


def load(path: Path) -> State | None:
    """The state in `path`; None where there is none or it is unreadable."""
    try:
        return _from_json(json.loads(path.read_text()))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def save(path: Path, state: State) -> None:
    """Replace the file in one step: a reader sees the old state or the new one, whole."""
    draft = path.with_suffix(".draft")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(_to_json(state), indent=2) + "\n")
    draft.replace(path)


def _to_json(state: State) -> dict[str, Any]:
    document: dict[str, Any] = {"token": state.token, "directory": str(state.directory)}
    if state.running is not None and state.process is not None:
        document["process"] = state.process.as_json()
        document["running"] = running_to_json(state.running)
    return document


def _from_json(document: dict[str, Any]) -> State:
    token, directory = str(document["token"]), Path(document["directory"])
    if "running" not in document:
        return State(token=token, directory=directory)
    fields = dict(document["running"])
    fields["data_dir"] = Path(fields["data_dir"])
    return State(
        token=token,
        directory=directory,
        running=Running(**fields),
        process=ProcessId(**document["process"]),
    )


def running_to_json(running: Running) -> dict[str, Any]:
    return {
        "name": running.name,
        "host": running.host,
        "port": running.port,
        "ports": dict(running.ports),
        "data_dir": str(running.data_dir),
        "pid": running.pid,
        "facts": dict(running.facts),
    }
