"""Functions of one's own in SQL: a cleaned name, and a mean weighted by quantity."""

from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc

from ematix_flow import BigInt, Double, Text, ematix, pk, udaf, udf


@ematix.connection
class files:
    kind = "csv"
    path = "data"
    schema = "product STRING, price DOUBLE, quantity BIGINT"


@ematix.connection
class warehouse:
    kind = "duckdb"
    path = "warehouse.duckdb"


@udf(args=[Text], returns=Text)
def product_code(names: pa.Array) -> pa.Array:
    """Return ` ab-100` as `AB100`."""
    return pc.utf8_upper(pc.replace_substring_regex(names, r"[^0-9A-Za-z]", ""))


@udaf(args=[Double, BigInt], state={"total": Double, "weight": BigInt}, returns=Double)
class WeightedMean:
    """The mean of the values, each as often as its weight says; those without one do not count."""

    def __init__(self) -> None:
        self.total = 0.0
        self.weight = 0

    def update_batch(self, values: pa.Array, weights: pa.Array) -> None:
        both = pc.and_(pc.is_valid(values), pc.is_valid(weights))
        values, weights = values.filter(both), weights.filter(both)
        self._add(pc.multiply(values, pc.cast(weights, pa.float64())), weights)

    def state(self) -> list[object]:
        return [self.total, self.weight]

    def merge_batch(self, states: list[pa.Array]) -> None:
        self._add(*states)

    def evaluate(self) -> float | None:
        return self.total / self.weight if self.weight else None

    def _add(self, totals: pa.Array, weights: pa.Array) -> None:
        self.total += pc.sum(totals, min_count=0).as_py()
        self.weight += pc.sum(weights, min_count=0).as_py()


@ematix.table(schema="market")
class Prices:
    product: Annotated[Text, pk()]
    mean_price: Double


@ematix.pipeline(
    target=Prices, mode="truncate", source_connection=files, target_connection=warehouse
)
def prices():
    return """
        SELECT product_code(product) AS product, weighted_mean(price, quantity) AS mean_price
        FROM trades
        GROUP BY 1
    """
