"""Ending what has been kept long enough: a run's content, and rows of other tables that go by their age.

The end of a retention is no erasure of what was made from the run: memories live on by their own class and
evidence by itself; what they cite resolves to id and hash alone. The bundle handed in is the one for ending:
a time that was shortened lately counts in it from its effective date on.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from service.audit.model import Action
from service.audit.record import record
from service.executions.store import ExecutionStore
from service.governance.erase import begin_erasure, lock_deletions
from service.governance.model import Erasure, Kind
from service.governance.retention import PACKAGE_CLASS, cutoffs, days_of
from service.governance.store_retention import RetentionStore
from service.identity.unit import Unit
from service.policies.model import Bundle

ROWS_AT_ONCE: Final = 500
"""Most rows of a table that one transaction of the sweep takes."""


def runs_over(bundle: Bundle, unit: Unit, *, after: str, limit: int) -> Sequence[str]:
    """Answer ids of up to `limit` ended runs whose content has been kept long enough, ascending."""
    return RetentionStore(unit).runs_over(cutoffs(bundle, unit.now), after=after, limit=limit)


def end_retention(execution_id: str, *, bundle: Bundle, unit: Unit) -> Erasure | None:
    """Begin to destroy a run's content, `None` where that is not due any more.

    From the commit on the run is read without a word in it; the job of erasures destroys the rest. Raises
    `Held` while a hold stands over any of it: the next sweep asks again.
    """
    lock_deletions(unit)
    ExecutionStore.of(unit).get(execution_id, lock=True)
    if not RetentionStore(unit).is_over(execution_id, cutoffs(bundle, unit.now)):
        return None
    erasure = begin_erasure(Kind.RETENTION, execution_id, unit=unit)
    record(unit, Action.EXECUTION_CONTENT_ENDED, kind="execution", ref=execution_id, erasure=erasure.id)
    return erasure


def drop_aged(unit: Unit) -> int:
    """Remove a bounded number of rows that go by their age; answer how many, 0 when none is left."""
    store, now = RetentionStore(unit), unit.now
    return (
        store.drop_answers(now, limit=ROWS_AT_ONCE)
        + store.drop_denied(now, limit=ROWS_AT_ONCE)
        + store.drop_receipts(now, limit=ROWS_AT_ONCE)
    )


def empty_packages(bundle: Bundle, unit: Unit, *, after: str) -> str | None:
    """Empty requests of old packages without a run; answer after which to go on, `None` at the end."""
    days = days_of(PACKAGE_CLASS, bundle)
    if days is None:
        return None
    before = unit.now - timedelta(days=days)
    _, following = RetentionStore(unit).empty_packages(before, after=after, limit=ROWS_AT_ONCE)
    return following
