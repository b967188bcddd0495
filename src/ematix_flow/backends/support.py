"""What kinds of backends can do, where several can do the same."""

from __future__ import annotations

from ematix_flow.spec.capability import Capability, Support

DATABASE_SUPPORT = {
    Capability.READ_QUERY: Support.FULL,
    Capability.APPEND: Support.FULL,
    Capability.TRUNCATE: Support.FULL,
    Capability.MERGE: Support.FULL,
    Capability.SCD1: Support.FULL,
    Capability.SCD2: Support.FULL,
}
FILE_SUPPORT = {
    Capability.READ_RELATION: Support.FULL,
    Capability.APPEND: Support.NOT_IMPLEMENTED,
    Capability.TRUNCATE: Support.NOT_IMPLEMENTED,
}
