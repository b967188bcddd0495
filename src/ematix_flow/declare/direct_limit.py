"""Up to how much data this process carries from database to database itself.

The environment wins over the project's TOML. Beyond the limit Spark's tasks share the work.
"""

from __future__ import annotations

from collections.abc import Mapping

from ematix_flow._base.sizes import bytes_of
from ematix_flow.declare.config import ProjectConfig
from ematix_flow.errors import ConfigError

DIRECT_LIMIT_VARIABLE = "EMATIX_FLOW_DIRECT_UP_TO"
DEFAULT = "8 GB"


def direct_limit(config: ProjectConfig, environ: Mapping[str, str]) -> int:
    """Return the limit in bytes."""
    text = environ.get(DIRECT_LIMIT_VARIABLE) or config.direct_up_to or DEFAULT
    found = bytes_of(text)
    if found is None:
        where = DIRECT_LIMIT_VARIABLE if environ.get(DIRECT_LIMIT_VARIABLE) else config.origin
        raise ConfigError(
            f"direct_up_to takes an amount of data, not {text!r}",
            where=where,
            hint='for example "8 GB", or "0" to let Spark carry all rows',
        )
    return found
