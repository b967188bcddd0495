"""Turn what Spark raises into our errors: one line, no JVM stack, the suggestion kept."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from ematix_flow.engine.spark.error_text import SparkText, first_line, full_text, plain, read_text
from ematix_flow.errors import (
    ConfigError,
    EngineAuthError,
    EngineError,
    EngineUnreachable,
    FlowError,
    NotSupported,
    QueryError,
    SourceError,
    UserCodeError,
)
from ematix_flow.spec.task_failure import read_task_failure
from ematix_flow.transform.udf_failure import read_failure

_SOURCE_CONDITIONS = (
    "CANNOT_READ_FILE",
    "FAILED_READ_FILE",
    "MALFORMED_CSV_RECORD",
    "MALFORMED_RECORD_IN_PARSING",
    "PATH_NOT_FOUND",
    "UNABLE_TO_INFER_SCHEMA",
)
# Sail names no conditions; these are the words it uses.
_SOURCE_WORDS = ("is not a Parquet file", "Invalid Parquet file", "Parser error: ", "Csv error: ")
_QUERY_WORDS = ("Cannot cast ", "Cast error: ", "invalid argument: found ")
_SAYS_NOTHING = ("Job aborted", "Exception thrown in awaitResult", "Task failed", "Writing job")
_NOT_THE_QUERY = ("PATH_ALREADY_EXISTS",)
# SQLSTATE classes: 22 bad data in an expression, 42 a wrong statement, P0 raise_error().
_QUERY_STATES = ("22", "42", "P0")


@contextmanager
def translating() -> Iterator[None]:
    """Raise our error for whatever Spark raises inside; let everything else pass."""
    try:
        yield
    except FlowError:
        raise
    except Exception as error:
        translated = translate(error)
        if translated is None:
            raise
        raise translated from None


def translate(error: BaseException) -> FlowError | None:
    """Return our error for one of Spark's, or None for an exception that is not Spark's."""
    text = full_text(error)
    # A user's own function raised, or a task of ours.
    if (told := read_failure(text) or read_task_failure(text)) is not None:
        return told
    match type(error).__module__.partition(".")[0]:
        case "grpc":
            return _from_grpc(_status(error), str(error))
        case "py4j":
            return _from_py4j(error)
        case "pyspark":
            return _from_pyspark(error)
        case _ if isinstance(error, ConnectionError) and _came_through_py4j(error):
            return _jvm_gone()
        case _:
            return None


def _from_pyspark(error: BaseException) -> FlowError:
    match type(error).__name__:
        case "SparkConnectGrpcException":
            return _from_grpc(_status(error), str(error))
        case "RetriesExceeded":
            return _unreachable()
        case "PythonException":
            return _from_python(str(error))
        case "PySparkNotImplementedError":
            return NotSupported(f"this engine cannot do it: {first_line(str(error))}")
        case _:
            facts = read_text(full_text(error))
            return _from_facts(facts, analysis=_is_analysis(error))


def _from_facts(facts: SparkText, *, analysis: bool) -> FlowError:
    from_source = any(name.startswith(_SOURCE_CONDITIONS) for name in facts.conditions)
    if from_source or facts.says(_SOURCE_WORDS):
        return SourceError(_source_text(facts))
    named = f" ({facts.condition})" if facts.condition else ""
    if facts.condition == "DATA_SOURCE_NOT_FOUND":
        return EngineError(f"{facts.headline}{named}", hint="see `flow jars list`")
    if facts.condition.startswith("INVALID_CONF_VALUE"):
        return ConfigError(f"{facts.headline}{named}")
    wrong_query = analysis or facts.state.startswith(_QUERY_STATES) or facts.says(_QUERY_WORDS)
    if wrong_query and facts.condition not in _NOT_THE_QUERY:
        return QueryError(f"{facts.headline}{named}", details=facts.excerpt)
    if facts.condition:
        return EngineError(f"{facts.headline}{named}")
    return EngineError(f"Spark failed: {_root(facts)}")


def _source_text(facts: SparkText) -> str:
    if facts.condition == "PATH_NOT_FOUND":
        return facts.headline
    told = [plain(cause) for cause in facts.causes]
    malformed = next((text for text in told if text.startswith("Malformed record")), None)
    reason = malformed or next((text for text in told if "is not a Parquet file" in text), None)
    if malformed and told[-1] != malformed:
        reason = f"{malformed} ({told[-1]})"
    reason = reason or (told[-1] if told else "")
    headline = facts.headline.rstrip(". ")
    if not facts.condition:
        return reason or headline
    return f"{headline}: {reason}" if reason and reason not in headline else headline


def _root(facts: SparkText) -> str:
    """Return what failed and, where it says more, the innermost cause."""
    told = [plain(text) for text in (facts.headline, *facts.causes)]
    telling = [text for text in told if text and not text.startswith(_SAYS_NOTHING)]
    if not telling:
        return facts.headline
    first, last = telling[0], telling[-1]
    return first if last.casefold() in first.casefold() else f"{first} ({last})"


def _from_python(text: str) -> UserCodeError:
    """The worker's traceback is the user's own evidence: it is kept whole."""
    begin = text.find("Traceback (most recent call last)")
    evidence = text[max(begin, 0) :].partition("\n\nJVM stacktrace:")[0].strip()
    return UserCodeError(
        f"Python code raised in a Spark task: {evidence.splitlines()[-1]}",
        details=evidence,
    )


def _from_py4j(error: BaseException) -> FlowError:
    if type(error).__name__ == "Py4JJavaError":
        return _from_facts(read_text(str(error)), analysis=False)
    if type(error).__name__ == "Py4JNetworkError":
        return _jvm_gone()
    return EngineError(f"Spark's Python side failed: {first_line(str(error))}")


def _came_through_py4j(error: BaseException) -> bool:
    """Tell a JVM that no longer listens from a user's own refused connection."""
    frames = traceback.walk_tb(error.__traceback__)
    return any(frame.f_globals.get("__name__", "").startswith("py4j.") for frame, _ in frames)


def _jvm_gone() -> EngineError:
    return EngineError(
        "Spark's JVM is gone",
        hint="see .ematix-flow/logs/spark.log; a killed JVM often means too little memory",
    )


def _from_grpc(status: str, text: str) -> EngineError:
    detail = re.search(r'details = "(.*?)"\n', text, re.DOTALL)
    reason = detail[1] if detail else first_line(text)
    match status:
        case "UNAUTHENTICATED" | "PERMISSION_DENIED":
            return EngineAuthError(
                f"the Spark Connect server refuses us: {reason}",
                hint="put its token into the address: sc://host:port/;token=...",
            )
        case "UNAVAILABLE" | "DEADLINE_EXCEEDED":
            return _unreachable(reason)
        case "UNIMPLEMENTED":
            return EngineError(
                f"the server does not speak Spark Connect: {reason}",
                hint="check the address and the port",
            )
        case _:
            return EngineError(f"Spark Connect failed ({status.lower()}): {reason}")


def _unreachable(reason: str = "") -> EngineUnreachable:
    return EngineUnreachable(
        "the Spark Connect server went away" + (f": {reason}" if reason else ""),
        hint="check that it is up, then run again",
    )


def _status(error: BaseException) -> str:
    for name in ("getGrpcStatusCode", "code"):
        getter = getattr(error, name, None)
        status = getter() if callable(getter) else None
        if status is not None and getattr(status, "name", "UNKNOWN") != "UNKNOWN":
            return str(status.name)
    found = re.search(r"status = StatusCode\.(\w+)", str(error))
    return found[1] if found else "UNKNOWN"


def _is_analysis(error: BaseException) -> bool:
    return any(base.__name__ == "AnalysisException" for base in type(error).__mro__)
