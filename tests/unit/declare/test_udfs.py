"""Functions for SQL: what a declaration holds, and how each mistake is answered."""

from types import SimpleNamespace

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ematix_flow import Array, BigInt, Double, Numeric, Text
from ematix_flow.declare.project import Project, declaring_into
from ematix_flow.declare.udfs import udaf, udf
from ematix_flow.errors import DeclarationError, QueryError
from ematix_flow.spec.udf import SparkUdf, Udaf, Udf
from ematix_flow.sqltext.dialect import parse_query
from ematix_flow.sqltext.functions import called_functions, used_functions
from ematix_flow.transform.udf_failure import MARK, failed, read_failure


class Mean:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update_batch(self, values):
        self.total += pc.sum(values).as_py() or 0.0
        self.count += len(values) - values.null_count

    def state(self):
        return [self.total, self.count]

    def merge_batch(self, states):
        self.total += pc.sum(states[0]).as_py()
        self.count += pc.sum(states[1]).as_py()

    def evaluate(self):
        return self.total / self.count if self.count else None


@pytest.fixture
def project():
    project = Project()
    with declaring_into(project):
        yield project


def shout(names):
    return pc.utf8_upper(names)


def test_a_function_is_declared_and_stays_itself(project):
    declared = udf(args=[Text], returns=Text)(shout)
    assert declared is shout
    assert declared(pa.array(["a", None])).to_pylist() == ["A", None]
    spec = project.udfs["shout"]
    assert isinstance(spec, Udf)
    assert (spec.args, spec.returns, spec.function) == ((Text(),), Text(), shout)
    assert spec.location.file == __file__
    assert shout.__ematix_udf__ is spec


def test_types_may_have_parameters(project):
    udf(args=[Numeric[10, 2], Array[Text]], returns=Numeric(12, 4), name="f_1")(
        lambda *both: both[0]
    )
    assert project.udfs["f_1"].args == (Numeric(10, 2), Array(Text()))


@pytest.mark.parametrize(
    "state", [{"total": Double, "count": BigInt}, [Double, BigInt]], ids=["named", "listed"]
)
def test_an_aggregate_is_named_after_its_class(project, state):
    class TrimmedMean(Mean):
        pass

    declared = udaf(args=[Double], state=state, returns=Double)(TrimmedMean)
    assert declared is TrimmedMean
    spec = project.udfs["trimmed_mean"]
    assert isinstance(spec, Udaf)
    assert [kind for _, kind in spec.state] == [Double(), BigInt()]
    assert [name for name, _ in spec.state] in (["total", "count"], ["state_0", "state_1"])


def made_by_pyspark():
    return SimpleNamespace(__name__="from_pandas", evalType=200, returnType="string", func=shout)


def test_what_pyspark_made_passes_through(project):
    made = made_by_pyspark()
    assert udf(made) is made
    assert project.udfs["from_pandas"] == SparkUdf(
        name="from_pandas", function=made, location=made.__ematix_udf__.location
    )
    udf(name="other_name")(made_by_pyspark())
    assert set(project.udfs) == {"from_pandas", "other_name"}


async def later(names):
    return names


def yields(names):
    yield names


def no_merge():
    return type("NoMerge", (), {name: lambda _: 0 for name in ("evaluate", "state")})


def takes_two(self, a, b): ...


def takes_a_number(self, n): ...


def mean_with(**methods):
    return type("Odd", (Mean,), methods)


ONE = {"args": [Text], "returns": Text}
MEAN = {"args": [Double], "state": [Double, BigInt], "returns": Double}

MISTAKES = {
    "too few parameters": (
        lambda: udf(args=[Text, Text], returns=Text)(shout),
        "UDF shout is called with 2 arguments, but its signature is (names)",
    ),
    "no such type": (
        lambda: udf(args=["text"], returns=Text)(shout),
        "args[0] of UDF shout: text is not a type; did you mean Text?",
    ),
    "a Python type": (
        lambda: udf(args=[Text], returns=int)(shout),
        "returns of UDF shout: int is not a type",
    ),
    "a bad parameter": (
        lambda: udf(args=[Numeric[99, 2]], returns=Text)(shout),
        "args[0] of UDF shout: Numeric[p, s] takes a precision of 1 to 38, not 99",
    ),
    "a type that needs one": (
        lambda: udf(args=[Numeric], returns=Text)(shout),
        "args[0] of UDF shout",
    ),
    "nullable": (
        lambda: udf(args=[Text], returns=Text | None)(shout),
        "returns of UDF shout: Text | None says nothing here, any value of a UDF may be NULL",
    ),
    "no arguments": (
        lambda: udf(args=[], returns=Text)(shout),
        "UDF shout: args takes a list of at least one type, not []",
    ),
    "bare": (lambda: udf(shout), "UDF shout: args takes a list of at least one type, not None"),
    "no identifier": (
        lambda: udf(**ONE, name="my-shout")(shout),
        "'my-shout' cannot name a UDF: a letter or _ first",
    ),
    "a lambda": (lambda: udf(**ONE)(lambda a: a), "'<lambda>' cannot name a UDF"),
    "Spark's name": (
        lambda: udf(**ONE, name="Levenshtein")(shout),
        "'Levenshtein' cannot name a UDF: Spark has a function of that name",
    ),
    "DuckDB's name": (
        lambda: udf(**ONE, name="struct_pack")(shout),
        "'struct_pack' cannot name a UDF: it means something else in duckdb SQL",
    ),
    "a word of SQL": (
        lambda: udf(**ONE, name="select")(shout),
        "'select' cannot name a UDF: it means something else in spark SQL",
    ),
    "async": (lambda: udf(**ONE)(later), "UDF later is async"),
    "a generator": (lambda: udf(**ONE)(yields), "UDF yields yields; it has to return its result"),
    "a class": (lambda: udf(**ONE)(Mean), "@udf stands on a function, not on <class"),
    "types for pandas": (
        lambda: udf(**ONE)(made_by_pyspark()),
        "a function made by pyspark has its types already",
    ),
    "an aggregate function": (
        lambda: udaf(**MEAN)(shout),
        "@udaf stands on a class, not on <function shout",
    ),
    "missing methods": (
        lambda: udaf(**MEAN)(no_merge()),
        "UDAF no_merge: class NoMerge has no update_batch, merge_batch "
        "(it needs update_batch, merge_batch, evaluate, state)",
    ),
    "a wrong method": (
        lambda: udaf(**MEAN)(mean_with(update_batch=takes_two)),
        "UDAF odd: update_batch is called with 1 argument, but its signature is (self, a, b)",
    ),
    "an async method": (
        lambda: udaf(**MEAN)(mean_with(update_batch=later)),
        "UDAF odd: update_batch is async",
    ),
    "a constructor": (
        lambda: udaf(**MEAN)(mean_with(__init__=takes_a_number)),
        "UDAF odd is called with no arguments, but its signature is (n)",
    ),
    "no state": (
        lambda: udaf(args=[Double], state=[], returns=Double)(mean_with()),
        "UDAF odd: state takes a list of at least one type, not []",
    ),
}


@pytest.mark.proves("mistakes-told")
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_at_its_line(project, mistake):
    make, said = MISTAKES[mistake]
    with pytest.raises(DeclarationError) as caught:
        make()
    assert said in caught.value.what
    assert caught.value.where == f"tests/unit/declare/test_udfs.py:{make.__code__.co_firstlineno}"
    assert caught.value.hint
    assert not project.udfs


@pytest.mark.parametrize("name", ["shout", "Shout"])
def test_two_of_one_name_are_told_with_both_lines(project, name):
    udf(**ONE)(shout)
    first = project.udfs["shout"].location
    with pytest.raises(
        DeclarationError, match=r"(is declared twice|are one name to SQL)"
    ) as caught:
        udf(**ONE, name=name)(shout)
    assert str(first) in caught.value.what
    assert caught.value.where is not None
    assert caught.value.where != str(first)


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres", "mysql", "sqlite"])
def test_calls_are_found_in_a_query(dialect):
    query = parse_query(
        """
        WITH a AS (SELECT shout(name) AS n FROM people WHERE Odd_Sum(x) > 1)
        SELECT upper(n), other.whisper(n), sum(inner_one(1)) OVER (ORDER BY by_this(n))
        FROM a GROUP BY n HAVING max(last_one(n)) > 0
        """,
        dialect=dialect,
        where="here",
    )
    assert called_functions(query) == {"shout", "odd_sum", "inner_one", "by_this", "last_one"}


def read(sql):
    return parse_query(sql, dialect="spark", where="here")


def test_used_functions_are_those_declared_and_called(project):
    udf(**ONE)(shout)
    udf(**ONE, name="unused")(shout)
    udf(made_by_pyspark())
    found = used_functions(read("SELECT SHOUT(a), from_pandas(a, b), other(a)"), project.udfs, "q")
    assert [spec.name for spec in found] == ["from_pandas", "shout"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("shout(a, b)", "shout is called with 2 argument(s), {} declares 1 (Text)"),
        ("shout()", "shout is called with 0 argument(s), {} declares 1 (Text)"),
        ("shout(names => a)", "shout takes its arguments by position: shout(names => a)"),
    ],
)
def test_a_wrong_call_is_told_before_spark_starts(project, call, said):
    udf(**ONE)(shout)
    with pytest.raises(QueryError) as caught:
        used_functions(read(f"SELECT {call}"), project.udfs, "pipelines.py:7")
    assert caught.value.what == said.format(project.udfs["shout"].location)
    assert caught.value.where == "pipelines.py:7"


def test_a_failure_survives_the_stacks_around_it():
    text = str(failed('it "broke"\nü', file="/x/pipelines.py", line=3, hint="do", details="a\nb"))
    assert "\n" not in text
    found = read_failure(f"Traceback:\nUdfFailure: {text}\n\n\tat org.apache.spark ...")
    assert found is not None
    assert (found.what, found.hint, found.details) == ('it "broke"\nü', "do", "a\nb")
    assert found.where == "/x/pipelines.py:3"
    assert read_failure("SparkException: Job aborted") is None
    assert read_failure(f"{MARK}{{cut") is None
