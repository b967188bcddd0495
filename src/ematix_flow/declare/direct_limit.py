"""Up to how much data this process carries from database to database itself.

The environment wins over the project's TOML. Beyond the limit Spark's tasks share the work.
"""

from __future__ import annotations

from collections.abc import Mapping

from ematix_flow._base.sizes import bytes_of
from ematix_flow.declare.config import ProjectConfig
from ematix_flow.errors import ConfigError

VARIABLE = "EMATIX_FLOW_DIRECT_UP_TO"
DEFAULT = "8 GB"


def direct_limit(config: ProjectConfig, environ: Mapping[str, str]) -> int:
    """Return the limit in bytes."""
    text = environ.get(VARIABLE) or config.direct_up_to or DEFAULT
    found = bytes_of(text)
    if found is None:
        where = VARIABLE if environ.get(VARIABLE) else config.origin
        raise ConfigError(
            f"direct_up_to takes an amount of data, not {text!r}",
            where=where,
            hint='for example "8 GB", or "0" to let Spark carry all rows',
        )
    return found
