"""All services by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.services.home import Home
from tests.services.kafka import Kafka
from tests.services.mariadb import MariaDB
from tests.services.mysql import MySQL
from tests.services.postgres import Postgres
from tests.services.s3 import S3
from tests.services.service import Service

SERVICES: Mapping[str, Callable[[Home], Service]] = {
    "postgres": Postgres,
    "mariadb": MariaDB,
    "mysql": MySQL,
    "kafka": Kafka,
    "s3": S3,
}
