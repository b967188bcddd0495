"""Spark's texts become one line of ours. The texts are real ones, shortened."""

from __future__ import annotations

import pytest

from ematix_flow.engine.spark.errors import translate, translating
from ematix_flow.errors import (
    ConfigError,
    EngineAuthError,
    EngineError,
    EngineUnreachable,
    QueryError,
    SourceError,
    UserCodeError,
)


def raised(name: str, text: str, *, module: str = "pyspark.errors", base: type = Exception):
    """Make an exception as pyspark's would look to the translation."""
    return type(name, (base,), {"__module__": module})(text)


STACK = "\n\tat org.apache.spark.X.y(X.scala:1)\n\tat java.base/java.lang.Thread.run(T.java:1)"
COLUMN = (
    "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `ammount` cannot be resolved. "
    "Did you mean one of the following? [`amount`, `b`]. SQLSTATE: 42703; line 1 pos 7;\n"
    "'Project ['ammount]\n+- OneRowRelation\n"
)


@pytest.mark.parametrize(
    "stack", ["", f"\n\nJVM stacktrace:\norg.apache.spark.sql.Analysis{STACK}"]
)
def test_a_wrong_column_keeps_its_suggestion_and_loses_the_plan(stack):
    error = translate(raised("AnalysisException", COLUMN + stack))
    assert isinstance(error, QueryError)
    assert str(error) == (
        "A column with name `ammount` cannot be resolved. Did you mean one of the following? "
        "[`amount`, `b`]; line 1 pos 7 (UNRESOLVED_COLUMN.WITH_SUGGESTION)"
    )


def test_a_syntax_error_shows_the_sql():
    text = (
        "\n[PARSE_SYNTAX_ERROR] Syntax error at or near 'selec'. SQLSTATE: 42601 (line 1, pos 0)"
        "\n\n== SQL ==\nselec 1\n^^^\n"
    )
    base = type("AnalysisException", (Exception,), {})
    error = translate(raised("ParseException", text, base=base))
    assert isinstance(error, QueryError)
    assert str(error) == (
        "Syntax error at or near 'selec'. (line 1, pos 0) (PARSE_SYNTAX_ERROR)"
        "\n== SQL ==\nselec 1\n^^^"
    )


def test_bad_data_in_an_expression_is_the_querys_fault():
    text = "[CAST_INVALID_INPUT] The value 'x' cannot be cast to \"INT\". SQLSTATE: 22018"
    error = translate(raised("NumberFormatException", text))
    assert isinstance(error, QueryError)


def test_a_missing_path_is_a_source_error():
    text = "[PATH_NOT_FOUND] Path does not exist: file:/x.parquet. SQLSTATE: 42K03"
    error = translate(raised("AnalysisException", text))
    assert isinstance(error, SourceError)
    assert str(error) == "Path does not exist: file:/x.parquet."


def test_a_malformed_record_names_the_file_and_the_value():
    text = (
        "An error occurred while calling o1.parquet.\n: org.apache.spark.SparkException: "
        "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///bad.csv.  "
        f"SQLSTATE: KD001{STACK}\nCaused by: org.apache.spark.SparkException: "
        "[MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] Malformed records are detected in "
        f"record parsing: [null,b].{STACK}\n"
        f'Caused by: java.lang.NumberFormatException: For input string: "x"{STACK}\n'
    )
    error = translate(raised("Py4JJavaError", text, module="py4j.protocol"))
    assert isinstance(error, SourceError)
    assert str(error) == (
        "Encountered error while reading file file:///bad.csv: Malformed records are detected "
        'in record parsing: [null,b] (For input string: "x")'
    )


def test_a_file_that_is_not_parquet_is_a_source_error():
    text = (
        "An error occurred while calling o93.parquet.\n: org.apache.spark.SparkException: Job "
        "aborted due to stage failure: Task 0 in stage 0.0 failed 1 times, most recent failure: "
        "Lost task 0.0 in stage 0.0 (TID 0) (127.0.0.1 executor driver): "
        f"org.apache.spark.SparkException: Exception thrown in awaitResult: {STACK}\n"
        "Caused by: java.lang.RuntimeException: file:/bad.parquet is not a Parquet file. "
        f"Expected magic number at tail{STACK}\n\nDriver stacktrace:{STACK}"
    )
    error = translate(raised("Py4JJavaError", text, module="py4j.protocol"))
    assert isinstance(error, SourceError)
    assert str(error) == "file:/bad.parquet is not a Parquet file. Expected magic number at tail"


def test_another_failure_is_the_root_cause_in_one_line():
    text = (
        "Job aborted due to stage failure: Task 1 in stage 9.0 failed 1 times, most recent "
        "failure: Lost task 1.0 in stage 9.0 (TID 15) (127.0.0.1 executor driver): "
        f"java.io.IOException: Mkdirs failed to create file:/proc/foo{STACK}"
    )
    error = translate(raised("SparkException", text))
    assert type(error) is EngineError
    assert str(error) == "Spark failed: Mkdirs failed to create file:/proc/foo"


def test_what_failed_is_kept_beside_its_root_cause():
    text = (
        "An error occurred while calling o1.load.\n: org.postgresql.util.PSQLException: Connection "
        f"to localhost:1 failed. Check the port.{STACK}\n"
        f"Caused by: java.net.ConnectException: Nobody listens{STACK}"
    )
    error = translate(raised("Py4JJavaError", text, module="py4j.protocol"))
    assert str(error) == (
        "Spark failed: Connection to localhost:1 failed. Check the port (Nobody listens)"
    )


def test_python_that_raised_keeps_its_traceback():
    text = (
        "\n  An exception was thrown from the Python worker. Please see the stack trace below.\n"
        'Traceback (most recent call last):\n  File "mine.py", line 12, in boom\n'
        "ValueError: my boom\n"
    )
    error = translate(raised("PythonException", text))
    assert isinstance(error, UserCodeError)
    assert error.what == "Python code raised in a Spark task: ValueError: my boom"
    assert 'File "mine.py", line 12' in (error.details or "")


GRPC = (
    "<_InactiveRpcError of RPC that terminated with:\n"
    '\tstatus = StatusCode.{0}\n\tdetails = "{1}"\n>'
)


@pytest.mark.proves("bad-engine")
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("UNAUTHENTICATED", EngineAuthError),
        ("PERMISSION_DENIED", EngineAuthError),
        ("UNAVAILABLE", EngineUnreachable),
        ("UNIMPLEMENTED", EngineError),
        ("INTERNAL", EngineError),
    ],
)
@pytest.mark.parametrize("module", ["pyspark.errors.exceptions.connect", "grpc._channel"])
def test_grpc_states(status, kind, module):
    text = GRPC.format(status, "said the server")
    error = translate(raised("SparkConnectGrpcException", text, module=module))
    assert type(error) is kind
    assert "said the server" in str(error)


def test_a_bad_setting_is_a_config_error():
    text = "[INVALID_CONF_VALUE.TYPE_MISMATCH] The value 'abc' is invalid. SQLSTATE: 22022"
    assert isinstance(translate(raised("IllegalArgumentException", text)), ConfigError)


def test_a_dead_jvm_is_said_to_be_dead():
    error = translate(raised("Py4JNetworkError", "Answer is empty", module="py4j.protocol"))
    assert str(error).startswith("Spark's JVM is gone")


def test_what_is_not_sparks_passes():
    assert translate(ValueError("mine")) is None
    with pytest.raises(ValueError, match="mine"), translating():
        raise ValueError("mine")
    own = QueryError("already ours")
    with pytest.raises(QueryError) as caught, translating():
        raise own
    assert caught.value is own


@pytest.mark.proves("no-stack-trace")
def test_the_translated_error_prints_no_jvm_stack():
    with pytest.raises(QueryError) as caught, translating():
        raise raised("AnalysisException", COLUMN + "\n\nJVM stacktrace:" + STACK)
    assert "\tat " not in str(caught.value)
    assert caught.value.__suppress_context__
