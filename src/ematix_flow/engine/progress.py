# placeholder until the engine author writes it
from contextlib import contextmanager
from dataclasses import dataclass
@dataclass(frozen=True)
class StageProgress:
    done_tasks: int
    total_tasks: int
    running_tasks: int = 0
    stages: int = 0
@contextmanager
def watch(session, callback):
    yield
