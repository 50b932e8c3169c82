"""Queries of one tenant's versions of memories: who wrote and changed them, and what they said."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session, col, select

from service.core.cipher import Cipher, TextErased
from service.core.ids import is_id
from service.identity.model import Caller
from service.identity.unit import Unit
from service.memories.model import Content
from service.memories.rules import readable_classes
from service.memories.sealing import memory_place, open_content, reason_place
from service.memories.store_rights import Rights
from service.memories.store_versions import same_memory
from service.memories.tables import MemoryRow, MemoryVersionRow
from service.memories.valid import Validity
from service.policies.model import Bundle


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One version: when it came, by whom and how. Its words are `None` where the caller may not read them."""

    version: int
    at: datetime
    by: str
    act: str
    validity: Validity
    content: Content | None
    reason: str | None


class HistoryStore:
    """One tenant's versions of memories, inside one transaction, read under one policy bundle."""

    def __init__(self, session: Session, tenant_id: str, cipher: Cipher, bundle: Bundle) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._cipher = cipher
        self._bundle = bundle
        self._rights = Rights(tenant_id, cipher, bundle)

    @classmethod
    def of(cls, unit: Unit, bundle: Bundle) -> "HistoryStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id, unit.cipher, bundle)

    def list_versions(self, memory_id: str, *, caller: Caller, now: datetime) -> Sequence[HistoryEntry]:
        """Answer the versions of a memory that the caller may look at, oldest first; nothing of any other.

        What an earlier one said, and why it was corrected, is there only for whoever may read old values.
        """
        if not is_id(memory_id):
            return []
        old = self._rights.may_read_old(caller, readable_classes(self._bundle, caller, purpose=None))
        rows = self._session.exec(
            select(MemoryVersionRow, MemoryRow.version, old)
            .join(MemoryRow, same_memory())
            .where(
                MemoryRow.tenant_id == self._tenant_id,
                MemoryRow.id == memory_id,
                self._rights.may_see(caller, now=now),
            )
            .order_by(col(MemoryVersionRow.version))
        ).all()
        return [
            self._entry(version, is_current=version.version == current, may_read_old=bool(may_read_old))
            for version, current, may_read_old in rows
        ]

    def _entry(self, row: MemoryVersionRow, *, is_current: bool, may_read_old: bool) -> HistoryEntry:
        content, reason = self._words(row) if is_current or may_read_old else (None, None)
        return HistoryEntry(
            version=row.version,
            at=row.at,
            by=row.by,
            act=row.act,
            validity=Validity(row.valid_from, row.valid_until),
            content=content,
            # Why something was corrected tells of what it said before, and no policy has judged these words.
            reason=reason if may_read_old else None,
        )

    def _words(self, row: MemoryVersionRow) -> tuple[Content | None, str | None]:
        place = memory_place(row.memory_id, row.version)
        try:
            content = open_content(row.content, cipher=self._cipher, place=place)
            if row.reason is None:
                return content, None
            return content, self._cipher.open(row.reason, place=reason_place(row.memory_id, row.version))
        except TextErased:
            return None, None
