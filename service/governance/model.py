"""Erasures and their receipts."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

ERASURE_DAYS_MAX: Final = 28
"""The law gives a month (GDPR, article 12(3)), and the shortest month has so many days."""


@dataclass(frozen=True, slots=True)
class StoreReceipt:
    """What an erasure did in one store. `verified` says that a query of its own found nothing afterwards."""

    store: str
    removed: int
    verified: bool
    is_done: bool


@dataclass(frozen=True, slots=True)
class Erasure:
    """A deletion and how far it has come. Times are of asking and, once every store is done, of the end.

    `kind` and `ref` say what is erased: `"memory"` and its id.
    """

    id: str
    kind: str
    ref: str
    requester: str
    stores: tuple[StoreReceipt, ...]
    created_at: datetime
    completed_at: datetime | None

    @property
    def due_at(self) -> datetime:
        """When every store must be done at the latest."""
        return self.created_at + timedelta(days=ERASURE_DAYS_MAX)

    @property
    def is_complete(self) -> bool:
        """Whether every store is done and verified."""
        return all(store.is_done and store.verified for store in self.stores)
