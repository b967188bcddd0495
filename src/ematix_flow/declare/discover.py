"""Loading the user's modules, inside an error boundary."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, TracebackType

from ematix_flow._base.location import Location
from ematix_flow._base.suggest import nearest
from ematix_flow.declare.config import ProjectConfig
from ematix_flow.declare.loading import loading
from ematix_flow.declare.project import Project, declaring_into
from ematix_flow.errors import FlowError, ProjectLoadError
from ematix_flow.spec.normalize import FACTORIES
from ematix_flow.spec.types import DATA_TYPES

# Files in a project folder that are programs or tests, not declarations.
_NOT_DECLARATIONS = {"setup", "conftest", "noxfile", "manage"}
# Packages that we import only when they are needed: a project's module of the name would be
# found in their place.
_IMPORTED_LATE = {
    *("duckdb", "google", "grpc", "numpy", "pandas", "py4j", "pyarrow", "pysail", "pyspark"),
    *("rich", "sqlglot"),
}


def load_project(config: ProjectConfig, modules: Sequence[str] = ()) -> Project:
    """Import the project's modules and return what they declared."""
    project = Project(overrides=config.pipelines, overridden_in=config.origin)
    _forget_earlier_loads(config.directory)
    chosen = tuple(modules) or config.modules or tuple(_modules_of(config.directory))
    with declaring_into(project), _importable(config.directory), loading():
        for name in chosen:
            _import(name, config.directory)
    if not modules:  # of a part of the project, the rest is not known
        project.check_overrides()
    return project


def _modules_of(directory: Path) -> Iterator[str]:
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    for entry in sorted(directory.iterdir()):
        if script is not None and entry == Path(script).absolute():
            continue  # the script that is running: it would be run a second time
        name = entry.stem
        if not name.isidentifier() or name.startswith(("_", "test_")) or name in _NOT_DECLARATIONS:
            continue
        if entry.suffix == ".py" or (entry / "__init__.py").is_file():
            yield name


@contextmanager
def _importable(directory: Path) -> Iterator[None]:
    """Let modules of the project import each other, without leaving the path behind."""
    sys.path.insert(0, str(directory))
    importlib.invalidate_caches()
    # No bytecode: a file edited twice within a second would be read from the stale one.
    writes_bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = writes_bytecode
        sys.path.remove(str(directory))


# Python keeps modules by name, and many projects have a `pipelines`. A later load in the same
# process (a test, a server) must see its own files as they are today.
_loaded_directories: set[Path] = set()
# Modules that are of none of these directories, with their files: nearly all, so each is looked at
# once.
_strangers: dict[str, tuple[object, str]] = {}
_OURSELVES = __name__.partition(".")[0]


def _forget_earlier_loads(directory: Path) -> None:
    if directory not in _loaded_directories:
        _loaded_directories.add(directory)
        _meet_again(f"{directory}{os.sep}")
    for name, module in list(sys.modules.items()):
        if name in _strangers and _strangers[name][0] is module:
            continue
        file = getattr(module, "__file__", None) or ""
        # We may live in the folder (src/), and so may the script that is running.
        is_own = name == "__main__" or name.partition(".")[0] == _OURSELVES
        if not is_own and _belongs(Path(file)):
            del sys.modules[name]
        else:
            _strangers[name] = module, file


def _meet_again(head: str) -> None:
    """Look again at modules from a folder that is a project's only now."""
    for name, (_, file) in list(_strangers.items()):
        if file.startswith(head):
            del _strangers[name]


def _belongs(file: Path) -> bool:
    """Tell whether *file* is a project's own: a .venv in its folder is not."""
    for folder in file.parents:
        if folder in _loaded_directories:
            return True
        if not folder.name.isidentifier():
            return False
    return False


def _import(name: str, directory: Path) -> None:
    path = Path(name)
    if path.suffix != ".py":
        _import_module(name, directory)
        return
    folder = (directory / path.parent).absolute()
    with _importable(folder):
        _import_module(path.stem, folder)


def _import_module(name: str, directory: Path) -> None:
    file = _file_of(name, directory)
    if file is not None:
        _refuse_names_of_others(name, file)
    try:
        module = importlib.import_module(name)
    except FlowError:
        raise
    except ModuleNotFoundError as error:
        if error.name == name:
            raise ProjectLoadError(
                f"there is no module {name!r} in the project",
                where=str(directory),
                hint="check `modules` in ematix-flow.toml, or --module",
            ) from None
        raise _broken(name, error) from error
    except SyntaxError as error:
        raise ProjectLoadError(
            f"module {name!r} has a syntax error: {error.msg}",
            where=Location(error.filename or str(file or name), error.lineno or 1),
            details=_pointed(error),
        ) from error
    except (Exception, SystemExit) as error:  # the boundary around user code
        raise _broken(name, error) from error
    if file is not None:
        _refuse_another(module, name, file)


def _file_of(name: str, directory: Path) -> Path | None:
    """Return the project's own file of a module; an installed one has none here."""
    path = directory.joinpath(*name.split("."))
    files = (path / "__init__.py", path.with_name(f"{path.name}.py"))  # as Python prefers them
    return next((file for file in files if file.is_file()), None)


def _refuse_names_of_others(name: str, file: Path) -> None:
    head = name.partition(".")[0]
    if head in sys.stdlib_module_names:
        raise _taken(name, file, "a module of Python itself")
    if head in _IMPORTED_LATE:
        raise _taken(name, file, "a package that ematix-flow imports")


def _refuse_another(module: ModuleType, name: str, file: Path) -> None:
    """Refuse what Python returned instead of *file*: a module it had imported before."""
    found = getattr(module, "__file__", None)
    if found is None or not Path(found).exists() or not file.samefile(found):
        raise _taken(name, file, f"one that is already imported ({found or 'built in'})")


def _taken(name: str, file: Path, whose: str) -> ProjectLoadError:
    suffix = ".py" if file.name != "__init__.py" else ""
    return ProjectLoadError(
        f"module {name!r} has the name of {whose}, so it cannot be loaded",
        where=str(file),
        hint=f"rename it, for example to {name.partition('.')[0]}_pipelines{suffix}",
    )


def _broken(name: str, error: BaseException) -> ProjectLoadError:
    frames = _users_frames(error.__traceback__)
    where = Location(frames[-1].filename, frames[-1].lineno or 0) if frames else None
    lines = traceback.format_list(frames) + traceback.format_exception_only(error)
    return ProjectLoadError(
        f"module {name!r} raised {type(error).__name__} while it was imported: {error}",
        where=where,
        details="".join(lines).rstrip(),
        hint=_meant(error),
    )


def _meant(error: BaseException) -> str | None:
    """Guess the type or marker behind a name that is not defined."""
    if not isinstance(error, NameError) or not error.name:
        return None
    guess = nearest(error.name, [*(kind.__name__ for kind in DATA_TYPES), *FACTORIES])
    return f"did you mean {guess!r}? from ematix_flow import {guess}" if guess else None


def _users_frames(trace: TracebackType | None) -> list[traceback.FrameSummary]:
    """Return the frames that are not ours and not the import system's."""
    ours = str(Path(__file__).resolve().parent.parent)
    return [
        frame
        for frame in traceback.extract_tb(trace)
        if not frame.filename.startswith((ours, "<frozen"))
        and str(Path(importlib.__file__).parent) not in frame.filename
    ]


def _pointed(error: SyntaxError) -> str | None:
    if not error.text:
        return None
    text = error.text.rstrip()
    indent = len(text) - len(text.lstrip())
    return f"    {text.lstrip()}\n    {' ' * max((error.offset or 1) - 1 - indent, 0)}^"
