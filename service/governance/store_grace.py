"""The time of grace of a deleted memory: until it is over, its subject may take the deletion back."""

from datetime import datetime

from sqlmodel import Session

from service.core.cipher import Cipher
from service.core.idempotency import IdempotencyStore
from service.identity.unit import Unit
from service.memories.model import MemoryStatus
from service.memories.tables import MemoryRow


class GraceStore:
    """One tenant's memories in their time of grace, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str, cipher: Cipher) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._answers = IdempotencyStore(session, tenant_id, cipher)

    @classmethod
    def of(cls, unit: Unit) -> "GraceStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id, unit.cipher)

    def begin(self, memory_id: str, *, until: datetime) -> None:
        """Hide the memory from all but its subject's own list, and empty the answers that showed it."""
        row = self._session.get_one(MemoryRow, (self._tenant_id, memory_id))
        row.status, row.grace_until = MemoryStatus.GRACE, until
        self._session.add(row)
        self._session.flush()
        self._answers.erase([memory_id])

    def is_over(self, memory_id: str) -> bool:
        """Say whether the memory is deleted or gone, and stays so: nobody can take that back any more."""
        key = (self._tenant_id, memory_id)
        row = self._session.get(MemoryRow, key, populate_existing=True, with_for_update=True)
        return row is None or row.status == MemoryStatus.GRACE
