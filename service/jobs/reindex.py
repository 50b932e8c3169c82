"""Rebuilding, verifying and repairing a tenant's index: the record says what should be there."""

from collections.abc import Callable
from dataclasses import dataclass

from service.core.passages import PassageKey
from service.jobs.indexer import Indexer
from service.retrieval.model import ItemKind


@dataclass(frozen=True, slots=True)
class IndexReport:
    """How one tenant's index of one kind differs from the record, at about one moment.

    `missing` should be there and are not; `stray` are there and should not be. Work that the outbox still
    holds shows up here too.
    """

    kind: ItemKind
    expected: int
    missing: tuple[PassageKey, ...]
    stray: tuple[PassageKey, ...]

    @property
    def is_whole(self) -> bool:
        """Whether the index holds exactly what the record says."""
        return not self.missing and not self.stray


def _say_nothing(_passages: int) -> None:
    return


def reindex(tenant_id: str, indexer: Indexer, *, progress: Callable[[int], None] = _say_nothing) -> int:
    """Write all of a tenant's passages of one kind anew and remove what the record does not hold.

    Searches go on meanwhile. `progress` is told how many passages are written so far; their number is
    answered. Raises `core.errors.Unavailable` when the index does not answer; run it again then.
    """
    written = 0
    for item_ids in indexer.list_ids(tenant_id):
        written += indexer.reconcile(tenant_id, item_ids)
        progress(written)
    repair(tenant_id, indexer)
    return written


def verify(tenant_id: str, indexer: Indexer) -> IndexReport:
    """Compare what the index holds with what the record says, changing nothing."""
    # The index first: what is new meanwhile shows as missing and what died as stray. `repair` may take
    # either for a fault at no cost, since it goes by what the record says then.
    held = set(indexer.list_keys(tenant_id))
    expected = {
        passage.key
        for item_ids in indexer.list_ids(tenant_id)
        for passage in indexer.read(tenant_id, item_ids)
    }
    return IndexReport(
        kind=indexer.kind,
        expected=len(expected),
        missing=tuple(sorted(expected - held)),
        stray=tuple(sorted(held - expected)),
    )


def repair(tenant_id: str, indexer: Indexer) -> IndexReport:
    """Bring in line what `verify` finds; answer what it found."""
    report = verify(tenant_id, indexer)
    # A stray version may be newer than the record's, after a restore: so the whole item goes first.
    indexer.remove(tenant_id, sorted({key.item_id for key in report.stray}))
    indexer.reconcile(tenant_id, sorted({key.item_id for key in (*report.missing, *report.stray)}))
    return report
