"""The composition root. It alone wires project, backends, engine and run log."""

from ematix_flow.api.explanation import Explanation, Unplannable
from ematix_flow.api.flow import Flow

__all__ = ["Explanation", "Flow", "Unplannable"]
