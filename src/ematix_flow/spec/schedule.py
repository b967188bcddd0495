"""When a pipeline or workflow is due: a cron line in a time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from ematix_flow._base.suggest import did_you_mean
from ematix_flow._base.zones import is_zone, zone_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Five cron fields, read in the wall time of *timezone*; ValueError if they cannot be."""

    cron: str
    timezone: str = "UTC"

    def __post_init__(self) -> None:
        check_timezone(self.timezone)
        if len(self.cron.split()) != 5:
            raise ValueError(
                f"schedule {self.cron!r} is no cron line: it has {len(self.cron.split())} fields, "
                "not 5 (minute hour day-of-month month day-of-week), e.g. '0 2 * * *'"
            )
        try:
            CronSim(self.cron, datetime(2024, 1, 1, tzinfo=ZoneInfo("UTC")))
        except CronSimError as error:
            raise ValueError(
                f"schedule {self.cron!r} is no cron line: {str(error).lower()} "
                "(minute hour day-of-month month day-of-week), e.g. '0 2 * * *'"
            ) from None

    def last_slot(self, now: datetime) -> datetime | None:
        """Return the newest slot at or before *now*."""
        zone = ZoneInfo(self.timezone)
        return next(islice(CronSim(self.cron, _just_after(now, zone), reverse=True), 1), None)

    def next_slot(self, now: datetime) -> datetime | None:
        """Return the first slot after *now*."""
        zone = ZoneInfo(self.timezone)
        return next(islice(CronSim(self.cron, now.astimezone(zone)), 1), None)

    def __str__(self) -> str:
        return f"{self.cron} ({self.timezone})"


def check_timezone(name: str) -> None:
    """Refuse what is no IANA time zone, with the nearest one."""
    if not is_zone(name):
        raise ValueError(
            f"unknown time zone {name!r}"
            + did_you_mean(name, zone_names())
            + " (IANA names, e.g. 'UTC', 'Europe/Berlin')"
        )


def _just_after(now: datetime, zone: ZoneInfo) -> datetime:
    # CronSim in reverse starts strictly before; the slot of this very minute counts.
    return now.astimezone(zone).replace(second=0, microsecond=0) + timedelta(minutes=1)
