"""The `ematix` namespace: each name builds one spec and adds it to the active project."""

from __future__ import annotations

from ematix_flow.declare.connections import connect, connection
from ematix_flow.declare.pipeline_decorator import job, pipeline
from ematix_flow.declare.pipelines import target
from ematix_flow.declare.tables import table
from ematix_flow.declare.workflows import transform, transform_ref, workflow

__all__ = [
    "connect",
    "connection",
    "job",
    "pipeline",
    "table",
    "target",
    "transform",
    "transform_ref",
    "workflow",
]
