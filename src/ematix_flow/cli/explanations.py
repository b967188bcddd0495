"""A plan with its engine, for people and for programs; shared by `plan` and `explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ematix_flow._base.redact import redact_value
from ematix_flow.plan.show import plan_json, plan_text

if TYPE_CHECKING:
    from ematix_flow.api import Explanation

_NO_ENGINE = "no engine is started: no step needs Spark"
_SHOWN = {
    "spark.sql.shuffle.partitions": "shuffle partitions",
    "spark.driver.memory": "driver memory",
}


def explanation_text(told: Explanation) -> str:
    """Return the plan, and in one line what it runs on."""
    if not told.plan.path.needs_engine:
        return f"{plan_text(told.plan)}\n  {_NO_ENGINE}"
    values = {each.key: each.value for each in told.sizing.settings}
    sized = [f"{name} {values[key]}" for key, name in _SHOWN.items() if key in values]
    size = told.plan.input_bytes
    sized.append("input of unknown size" if size is None else f"input {size:,} bytes")
    engine = f"  engine {told.engine.address} ({told.engine.why}): {', '.join(sized)}"
    return f"{plan_text(told.plan)}\n{engine}"


def full_text(told: Explanation) -> str:
    """Return the plan with its SQL, and every setting of the engine with its reason."""
    if not told.plan.path.needs_engine:
        return "\n".join([plan_text(told.plan, sql=True), "", _NO_ENGINE])
    settings = [
        f"  {each.key} = {redact_value(each.key, each.value)}  ({each.why})"
        for each in told.sizing.settings
    ]
    engine = f"engine {told.engine.address}: {told.engine.why}"
    return "\n".join([plan_text(told.plan, sql=True), "", engine, *settings])


def explanation_json(told: Explanation) -> dict[str, object]:
    """Return the plan with its engine and settings."""
    return {
        **plan_json(told.plan),
        "engine": told.engine.to_json(),
        "settings": told.sizing.to_json(),
    }
