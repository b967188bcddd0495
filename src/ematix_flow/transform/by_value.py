"""Code of a project, sent to Spark's Python workers whole.

A worker can import installed packages only, not the modules of a project's folder, and on a
remote server not this package either.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

# What a worker runs of ours; the rest of the package stays behind.
_OURS = (
    *("ematix_flow.transform.arrow_values", "ematix_flow.transform.udf_call"),
    *("ematix_flow.transform.udf_failure", "ematix_flow.spec.udf", "ematix_flow.spec.types"),
    "ematix_flow._base.location",
)
# pyspark keeps one list for the whole process.
_lock = Lock()


@contextmanager
def pickled_by_value(code: object) -> Iterator[None]:
    """Within, let pyspark pickle the modules of *code*'s project, and ours, by value."""
    from pyspark import cloudpickle as untyped

    cloudpickle: Any = untyped
    with _lock:
        already = cloudpickle.list_registry_pickle_by_value()
        chosen = [
            module
            for module in (*(sys.modules[name] for name in _OURS), *_project_modules(code))
            if module.__name__ not in already
        ]
        for module in chosen:
            cloudpickle.register_pickle_by_value(module)
        try:
            yield
        finally:
            for module in chosen:
                cloudpickle.unregister_pickle_by_value(module)


def _project_modules(code: object) -> list[ModuleType]:
    """Return the top modules that lie beside that of *code*; none if it is installed."""
    top = sys.modules.get((getattr(code, "__module__", None) or "").partition(".")[0])
    folder = _folder(top) if top else None
    if folder is None or _is_installed(folder):
        return []
    return [
        module
        for name, module in list(sys.modules.items())
        if "." not in name and name not in ("__main__", "ematix_flow") and _folder(module) == folder
    ]


def _folder(module: ModuleType) -> Path | None:
    """Return the folder from which a top module is imported."""
    paths = list(getattr(module, "__path__", ()))
    file = getattr(module, "__file__", None)
    if paths:
        return Path(paths[0]).parent
    return Path(file).parent if file else None


def _is_installed(folder: Path) -> bool:
    places = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    return folder in {Path(place) for place in places}
