"""The port to what must outlive every erasure: the ledger of what is gone, and the end of a person's key.

It stands apart from the record and its backups: a copy that is put back is compared with it.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Protocol

from service.core.lineage import Node


class KeyLedger(Protocol):
    """Destroys keys and remembers what was erased. Each call is kept by itself, whatever a caller's does."""

    def destroy(self, tenant_id: str, subject: str) -> int:
        """Destroy the person's key beyond recovery; answer how many there were (0 or 1)."""
        ...

    def bury_all(self, tenant_id: str, nodes: Iterable[Node]) -> None:
        """Write into the ledger that these have been erased now. Repeating moves the time."""
        ...

    def buried(self, tenant_id: str, kind: str, refs: Collection[str]) -> Mapping[str, datetime]:
        """Answer those of the things that were erased, each with the time: what is older must not come back.

        `kind` is one of `core.lineage.Node`, `proposal`, or `subject` with the person's keyed hash as `ref`.
        """
        ...
