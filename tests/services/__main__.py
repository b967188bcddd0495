"""`python -m tests.services start|stop|status [names...]`: the test servers by hand."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from tests.services.catalogue import SERVICES
from tests.services.home import Home
from tests.services.service import CannotInstall, CannotStart, Service
from tests.services.state import running_to_json
from tests.services.supervisor import InUse, Supervisor


def main(arguments: Sequence[str] | None = None) -> int:
    """Do it for each service; 1 if one of them is not as asked for."""
    options = _parser().parse_args(arguments)
    home = Home.from_environment()
    as_asked = True
    for name in options.names or SERVICES:
        done, report = _carry_out(options.command, Supervisor(home), SERVICES[name](home))
        as_asked = as_asked and done
        line = json.dumps(report) if options.json else _as_text(report)
        # Flushed per service: a start may take minutes, and the ones before it are ready.
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    return 0 if as_asked else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.services", description=__doc__)
    parser.add_argument("command", choices=("start", "stop", "status"))
    parser.add_argument("names", nargs="*", metavar="name", type=_known, help=", ".join(SERVICES))
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    return parser


def _known(name: str) -> str:
    # Not argparse's `choices`, which in Python 3.11 refuses an empty list of names.
    if name not in SERVICES:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(SERVICES)}")
    return name


def _carry_out(
    command: str, supervisor: Supervisor, service: Service
) -> tuple[bool, dict[str, Any]]:
    try:
        if command == "stop":
            was_there = supervisor.stop(service)
            return True, {"name": service.name, "state": "stopped" if was_there else "absent"}
        running = supervisor.start(service) if command == "start" else supervisor.status(service)
    except (CannotInstall, CannotStart, InUse) as problem:
        return False, {"name": service.name, "state": "refused", "reason": str(problem)}
    if running is None:
        return False, {"name": service.name, "state": "absent"}
    return True, {"state": "running", **running_to_json(running)}


def _as_text(report: dict[str, Any]) -> str:
    head = f"{report['name']}: {report['state']}"
    if "reason" in report:
        return f"{head}, {report['reason']}"
    if "pid" not in report:
        return head
    lines = [f"{head}, pid {report['pid']}, {report['host']}:{report['port']}"]
    lines += [f"  port {name}: {port}" for name, port in report["ports"].items()]
    lines += [f"  {name}: {fact}" for name, fact in report["facts"].items()]
    return "\n".join([*lines, f"  data: {report['data_dir']}"])


if __name__ == "__main__":
    sys.exit(main())
