"""Declaring functions for SQL: `@udf` on a function, `@udaf` on a class."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

from ematix_flow._base.location import Location, caller_location
from ematix_flow.declare.naming import snake_case
from ematix_flow.declare.project import active_project
from ematix_flow.declare.udf_types import state_types, typed, types_of
from ematix_flow.errors import DeclarationError
from ematix_flow.spec.udf import SparkUdf, Udaf, Udf, UserFunction
from ematix_flow.sqltext.functions import why_taken

Function = TypeVar("Function", bound=Callable[..., object])
Class = TypeVar("Class", bound=type)

_SPEC = "__ematix_udf__"
# What each method of an aggregate is called with; None stands for the declared arguments.
_METHODS: dict[str, tuple[str, ...] | None] = {
    "update_batch": None,
    "merge_batch": ("states",),
    "evaluate": (),
    "state": (),
}


@overload
def udf(made_by_pyspark: Function, /) -> Function: ...
@overload
def udf(*, name: str) -> Callable[[Function], Function]: ...
@overload
def udf(
    *, args: Sequence[Any], returns: Any, name: str | None = None
) -> Callable[[Function], Function]: ...
def udf(
    made_by_pyspark: Any = None,
    /,
    *,
    args: Sequence[Any] | None = None,
    returns: Any = None,
    name: str | None = None,
) -> Any:
    """Declare a function of pyarrow arrays for SQL; the name is the function's.

    It stays the function it was. What `pandas_udf` made has types of its own and takes none here.
    """
    location = caller_location()

    def declare(function: Any) -> Any:
        spec: UserFunction
        if _is_made_by_pyspark(function):
            _refuse_types(args, returns, location)
            called = _free_name(name or function.__name__, location)
            spec = SparkUdf(name=called, function=function, location=location)
        else:
            called = _free_name(name or _own_name(function, location), location)
            spec = Udf(
                name=called,
                args=types_of("args", args, f"UDF {called}", location),
                returns=typed(returns, f"returns of UDF {called}", location),
                function=function,
                location=location,
            )
            _require_callable_with(function, len(spec.args), f"UDF {called}", location)
        _add(spec, function)
        return function

    return declare if made_by_pyspark is None else declare(made_by_pyspark)


def udaf(
    *,
    args: Sequence[Any],
    state: Sequence[Any] | Mapping[str, Any],
    returns: Any,
    name: str | None = None,
) -> Callable[[Class], Class]:
    """Declare an aggregate of pyarrow arrays for SQL; the name is the class's in snake_case."""
    location = caller_location()

    def declare(cls: Class) -> Class:
        if not isinstance(cls, type):
            raise DeclarationError(
                f"@udaf stands on a class, not on {cls!r}",
                where=location,
                hint="a function of arrays that returns one value for each row is a @udf",
            )
        called = _free_name(name or snake_case(cls.__name__), location)
        spec = Udaf(
            name=called,
            args=types_of("args", args, f"UDAF {called}", location),
            state=state_types(state, f"UDAF {called}", location),
            returns=typed(returns, f"returns of UDAF {called}", location),
            cls=cls,
            location=location,
        )
        _require_methods(spec)
        _add(spec, cls)
        return cls

    return declare


def _add(spec: UserFunction, declared: Any) -> None:
    project = active_project()
    for first in project.udfs.values():
        # SQL does not tell `Shout` from `shout`; the same spelling is refused by the project.
        if first.name != spec.name and first.name.lower() == spec.name.lower():
            raise DeclarationError(
                f"UDF {spec.name!r} and {first.name!r} at {first.location} are one name to SQL",
                where=spec.location,
                hint="rename one of them",
            )
    project.add_udf(spec)
    setattr(declared, _SPEC, spec)


def _is_made_by_pyspark(function: object) -> bool:
    return hasattr(function, "evalType") and hasattr(function, "returnType")


def _refuse_types(args: object, returns: object, location: Location) -> None:
    if args is not None or returns is not None:
        raise DeclarationError(
            "a function made by pyspark has its types already; args and returns are for "
            "functions of pyarrow arrays",
            where=location,
            hint="write @udf alone above @pandas_udf(...)",
        )


def _own_name(function: Any, location: Location) -> str:
    if inspect.isroutine(function):
        return str(function.__name__)
    raise DeclarationError(
        f"@udf stands on a function, not on {function!r}",
        where=location,
        hint="an aggregate is a class with @udaf" if isinstance(function, type) else None,
    )


def _free_name(name: object, location: Location) -> str:
    if not isinstance(name, str) or not name.isascii() or not name.isidentifier():
        raise DeclarationError(
            f"{name!r} cannot name a UDF: a letter or _ first, then letters, digits and _",
            where=location,
            hint='give it one: name="shout"',
        )
    reason = why_taken(name)
    if reason:
        raise DeclarationError(
            f"{name!r} cannot name a UDF: {reason}",
            where=location,
            hint=f'rename it, for example name="my_{name.lower()}"',
        )
    return name


def _require_methods(spec: Udaf) -> None:
    missing = [method for method in _METHODS if not callable(getattr(spec.cls, method, None))]
    if missing:
        raise DeclarationError(
            f"UDAF {spec.name}: class {spec.cls.__name__} has no {', '.join(missing)} "
            f"(it needs {', '.join(_METHODS)})",
            where=spec.location,
            hint=f"add `def {missing[0]}(self, ...)`",
        )
    _require_callable_with(spec.cls, 0, f"UDAF {spec.name}", spec.location)
    for method, parameters in _METHODS.items():
        count = len(spec.args) if parameters is None else len(parameters)
        function = inspect.getattr_static(spec.cls, method)
        of_instance = 1 if inspect.isfunction(function) else 0
        _require_callable_with(
            getattr(spec.cls, method),
            count + of_instance,
            f"UDAF {spec.name}: {method}",
            spec.location,
            besides=of_instance,
        )


def _require_callable_with(
    function: Callable[..., object], count: int, what: str, location: Location, besides: int = 0
) -> None:
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise DeclarationError(
            f"{what} is async, but it is called with whole arrays and has nothing to wait for",
            where=location,
            hint="write it with def",
        )
    if inspect.isgeneratorfunction(function):
        raise DeclarationError(
            f"{what} yields; it has to return its result", where=location, hint="use return"
        )
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # written in C: it says nothing about its parameters
        return
    try:
        signature.bind(*range(count))
    except TypeError:
        raise DeclarationError(
            f"{what} is called with {_arguments(count - besides)}, but its signature is "
            f"{signature}",
            where=location,
            hint="let the parameters match what is declared",
        ) from None


def _arguments(count: int) -> str:
    return "no arguments" if count == 0 else f"{count} argument{'s' if count > 1 else ''}"
