"""The training run behind the class archive: a small job that touches what most jobs touch.

Run as `python -m ematix_flow.engine.spark.archive_training ARCHIVE BASE`; the JVM writes
the archive as it ends.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from ematix_flow.engine.host.java import find_java
from ematix_flow.engine.host.machine import this_machine
from ematix_flow.engine.spark.archive import training_options
from ematix_flow.engine.spark.classic_conf import ClassicConf
from ematix_flow.engine.spark.launch import stop_jvm
from ematix_flow.engine.spark.session import classic_session
from ematix_flow.engine.spark.sizing import JAVA_OPTIONS, size
from ematix_flow.engine.spark.warmup import exercise


def train(archive: Path, base: Path) -> None:
    """Run the job on a JVM that archives its classes at exit."""
    sizing = size(this_machine())
    values = sizing.static_conf()
    values[JAVA_OPTIONS] = f"{values[JAVA_OPTIONS]} {training_options(archive, base)}"
    values |= {"spark.master": "local[*]", "spark.app.name": "ematix-flow-training"}
    conf = ClassicConf(master="local[*]", values=values, session=sizing.session_conf())
    log = archive.parent / "spark.log"
    session = classic_session(conf, java=find_java(), log=log)
    gateway = session.sparkContext._gateway
    try:
        with tempfile.TemporaryDirectory() as directory:
            exercise(session, Path(directory))
    finally:
        session.stop()
        stop_jvm(gateway, seconds=120)
    sys.stdout.write(log.read_text(errors="replace"))


if __name__ == "__main__":
    train(Path(sys.argv[1]), Path(sys.argv[2]))
