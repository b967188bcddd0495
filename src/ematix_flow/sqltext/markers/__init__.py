"""What each marker does, once as sqlglot nodes, and rendered where it will run."""

from ematix_flow.sqltext.markers.expression import ExpressionError, read_expression
from ematix_flow.sqltext.markers.order import CycleError, in_order
from ematix_flow.sqltext.markers.projection import Projection, projections
from ematix_flow.sqltext.markers.proven import PROVEN, describe, needs_spark
from ematix_flow.sqltext.markers.render import normalized_select, rendered

__all__ = [
    "PROVEN",
    "CycleError",
    "ExpressionError",
    "Projection",
    "describe",
    "in_order",
    "needs_spark",
    "normalized_select",
    "projections",
    "read_expression",
    "rendered",
]
