"""Keys that the input holds more than once: refused, or set aside, never left to luck."""

from __future__ import annotations

from pathlib import Path

from ematix_flow.errors import ContractError
from ematix_flow.plan.steps import Commit
from ematix_flow.ports import TargetSession
from ematix_flow.spec.modes import OnDuplicateKeys
from ematix_flow.sqltext.program import Found
from ematix_flow.write.quarantine import COLUMN, PROBLEM, make_durable

_SHOWN = 5
_BATCH = 50_000


def settle_duplicates(session: TargetSession, step: Commit, quarantine: Path | None) -> int:
    """Refuse the input, or set rows aside, and return how many; the target is not touched.

    :param quarantine: The file for rows of the run that are set aside.
    """
    program, policy = step.program, step.layout.on_duplicate_keys
    if program.duplicates is None or policy is OnDuplicateKeys.LAST:
        return 0
    found = session.fetch(program.duplicates.first(_SHOWN))
    if not found:
        return 0
    if policy is OnDuplicateKeys.ERROR:
        raise _refused(step, found, _count(session, program.duplicates))
    assert program.set_aside is not None
    if quarantine is None:
        return _count(session, program.set_aside)
    file = quarantine.with_name(f"{quarantine.stem}-duplicates.parquet")
    return _write(session, step, program.set_aside, file)


def _write(session: TargetSession, step: Commit, aside: Found, file: Path) -> int:
    """Write the rows as text beside what is wrong with them, whole or not at all; count them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.string()) for name in (*step.layout.given, COLUMN, PROBLEM)])
    problem = (", ".join(step.layout.keys), "its key comes more than once")
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}.unfinished")
    count = 0
    with pq.ParquetWriter(unfinished, schema) as writer:
        while rows := session.fetch(aside.part(_BATCH, after=count)):
            texts = [[None if value is None else str(value) for value in row] for row in rows]
            columns = zip(*([*row, *problem] for row in texts), strict=True)
            arrays = [pa.array(column, pa.string()) for column in columns]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            count += len(rows)
    make_durable(unfinished, file)
    return count


def _count(session: TargetSession, found: Found) -> int:
    [[count]] = session.fetch(found.count)
    return int(str(count))


def _refused(step: Commit, found: list[tuple[object, ...]], total: int) -> ContractError:
    lines = []
    for *key, count in found:
        # Where there is an order, a row's place in it comes after its key.
        named = ", ".join(
            f"{name}={value!r}" for name, value in zip(step.layout.keys, key, strict=False)
        )
        lines.append(f"  {named}: {count} rows")
    if total > len(found):
        lines.append(f"  ... and {total - len(found):,} more")
    counted = "1 key comes" if total == 1 else f"{total:,} keys come"
    return ContractError(
        f"{counted} more than once in the input for {step.target}; nothing was written",
        where=step.layout.table.location,
        details="\n".join(lines),
        hint="make the query return each key once, or say which row counts: "
        "sequence_by=... with on_duplicate_keys='last'; 'quarantine' sets them aside",
    )
