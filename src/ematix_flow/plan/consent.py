"""Whether a plan may be run."""

from __future__ import annotations

from ematix_flow.errors import NeedsConsent, NotSupported
from ematix_flow.plan.plan import Plan


def require_runnable(plan: Plan, *, allow_destructive: bool) -> None:
    """Refuse a plan that this version cannot carry out, or that would lose values unasked."""
    require_supported(plan)
    require_consent(plan, allow_destructive=allow_destructive)


def require_supported(plan: Plan) -> None:
    """Refuse a plan that this version cannot carry out."""
    if plan.blockers:
        raise NotSupported(
            f"pipeline {plan.pipeline!r} cannot run yet: {'; '.join(plan.blockers)}",
            where=plan.location,
            hint="`flow plan` shows the rest of it",
        )


def require_consent(plan: Plan, *, allow_destructive: bool) -> None:
    """Refuse a plan that would lose values, unless its user agreed to that."""
    if plan.destructive and not allow_destructive:
        raise NeedsConsent(
            f"pipeline {plan.pipeline!r} would change {plan.first.target} with loss: "
            f"{'; '.join(plan.destructive)}",
            where=plan.location,
            hint="look at `flow explain`, then add --allow-destructive if that is meant",
        )
