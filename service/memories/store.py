"""Queries of one tenant's memories. Expiry, consent, purpose and readers are in the query, never after it."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, or_
from sqlmodel import Session, col, select
from sqlmodel.sql.expression import Select

from service.core.cipher import Cipher, TextErased
from service.core.ids import is_id
from service.core.paging import Page, PageRequest
from service.core.passages import PassageKey
from service.identity.model import Caller
from service.identity.unit import Unit
from service.memories.model import IndexedMemory, Memory, MemoryPassage, MemoryStatus, shown_text
from service.memories.sealing import memory_place, open_content
from service.memories.store_rights import Rights, is_live
from service.memories.tables import MemoryRow, MemoryVersionRow
from service.policies.model import Bundle
from service.policies.words import Trust

_Pair = tuple[MemoryRow, MemoryVersionRow]


class MemoryStore:
    """One tenant's memories, inside one transaction, read under one policy bundle."""

    def __init__(self, session: Session, tenant_id: str, cipher: Cipher, bundle: Bundle) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._cipher = cipher
        self._bundle = bundle
        self._rights = Rights(tenant_id, cipher, bundle)

    @classmethod
    def of(cls, unit: Unit, bundle: Bundle) -> "MemoryStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id, unit.cipher, bundle)

    def passages(
        self, keys: Sequence[PassageKey], *, caller: Caller, purpose: str, now: datetime
    ) -> Mapping[PassageKey, MemoryPassage]:
        """Answer those of the memories that the caller may read now for the purpose."""
        wanted = {key for key in keys if key.ordinal == 0}
        if not wanted:
            return {}
        pairs = self._session.exec(
            self._current().where(
                col(MemoryRow.id).in_({key.item_id for key in wanted}),
                self._rights.may_use(caller, purpose=purpose, now=now),
            )
        ).all()
        found = {}
        for memory in self._open_all(pairs, now=now):
            key = PassageKey(memory.id, memory.version, 0)
            if key in wanted:
                rule = self._bundle.classes[memory.class_name]
                found[key] = MemoryPassage(key, memory, tuple(stake.value for stake in rule.revalidate_for))
        return found

    def get_readable(self, memory_id: str, *, caller: Caller, now: datetime) -> Memory | None:
        """Answer a memory that the caller may look at, or `None`. A person sees what is kept in any state."""
        if not is_id(memory_id):
            return None
        query = self._current().where(MemoryRow.id == memory_id, self._rights.may_see(caller, now=now))
        return next(iter(self._open_all(self._session.exec(query).all(), now=now)), None)

    def list_readable(
        self,
        page: PageRequest,
        *,
        caller: Caller,
        now: datetime,
        subject: str | None,
        class_name: str | None,
        key: str | None,
        status: MemoryStatus | None,
    ) -> Page[Memory]:
        """Answer what the caller may look at, newest first."""
        query = self._current().where(self._rights.may_see(caller, now=now))
        if subject is not None:
            query = query.where(MemoryRow.subject_hash == self._cipher.keyed_hash(subject))
        if class_name is not None:
            query = query.where(MemoryRow.class_name == class_name)
        if key is not None:
            query = query.where(MemoryRow.key_hash == self._cipher.keyed_hash(key))
        if status is MemoryStatus.EXPIRED:
            ran_out = and_(col(MemoryRow.status) == MemoryStatus.ACTIVE, col(MemoryRow.expires_at) <= now)
            query = query.where(or_(col(MemoryRow.status) == status, ran_out))
        elif status is MemoryStatus.ACTIVE:
            query = query.where(is_live(now))
        elif status is not None:
            query = query.where(MemoryRow.status == status)
        if page.after is not None:
            query = query.where(col(MemoryRow.id) < str(page.after[0]))
        pairs = self._session.exec(query.order_by(col(MemoryRow.id).desc()).limit(page.limit + 1)).all()
        shown = page.page(pairs, [(memory.id,) for memory, _ in pairs])
        return Page(self._open_all(shown.items, now=now), shown.next_cursor)

    def index_passages(self, *item_ids: str) -> Sequence[IndexedMemory]:
        """Answer the current version of those of the memories that may be found at all."""
        pairs = self._session.exec(
            self._current().where(col(MemoryRow.id).in_(item_ids), MemoryRow.status == MemoryStatus.ACTIVE)
        ).all()
        return [_indexed(memory) for memory in self._open_all(pairs)]

    def live_versions(self, item_ids: Sequence[str]) -> Mapping[str, int]:
        """Answer the current version of those of the memories that may be found at all: no text."""
        rows = self._session.exec(
            select(MemoryRow.id, MemoryRow.version, MemoryVersionRow.content)
            .join(MemoryVersionRow, _same_version())
            .where(
                MemoryRow.tenant_id == self._tenant_id,
                MemoryRow.status == MemoryStatus.ACTIVE,
                col(MemoryRow.id).in_(item_ids),
            )
        ).all()
        return {name: version for name, version, content in rows if self._cipher.can_open(content)}

    def list_live_ids(self, *, after: str = "", limit: int) -> Sequence[str]:
        """Answer ids of memories that may be found at all, in order, after `after`."""
        return self._session.exec(
            select(MemoryRow.id)
            .where(
                MemoryRow.tenant_id == self._tenant_id,
                MemoryRow.status == MemoryStatus.ACTIVE,
                MemoryRow.id > after,
            )
            .order_by(MemoryRow.id)
            .limit(limit)
        ).all()

    def _current(self) -> Select[MemoryRow, MemoryVersionRow]:
        return (
            select(MemoryRow, MemoryVersionRow)
            .join(MemoryVersionRow, _same_version())
            .where(MemoryRow.tenant_id == self._tenant_id)
        )

    def _open_all(self, pairs: Sequence[_Pair], *, now: datetime | None = None) -> Sequence[Memory]:
        """Open what can still be opened: of an erased person nothing is left to answer."""
        found = []
        for memory, version in pairs:
            try:
                found.append(self._open(memory, version, now))
            except TextErased:
                continue
        return found

    def _open(self, memory: MemoryRow, version: MemoryVersionRow, now: datetime | None) -> Memory:
        status = MemoryStatus(memory.status)
        if status is MemoryStatus.ACTIVE and now is not None and memory.expires_at <= now:
            status = MemoryStatus.EXPIRED
        return Memory(
            id=memory.id,
            version=memory.version,
            project_id=memory.project_id,
            class_name=memory.class_name,
            status=status,
            content=open_content(
                version.content, cipher=self._cipher, place=memory_place(memory.id, version.version)
            ),
            purpose=memory.purpose,
            confidence=version.confidence,
            trust=Trust(memory.trust),
            policy_version=memory.policy_version,
            created_at=memory.created_at,
            expires_at=memory.expires_at,
            tokens=version.tokens,
            provenance=tuple(version.provenance),
        )


def _same_version() -> ColumnElement[bool]:
    return and_(
        col(MemoryVersionRow.tenant_id) == col(MemoryRow.tenant_id),
        col(MemoryVersionRow.memory_id) == col(MemoryRow.id),
        col(MemoryVersionRow.version) == col(MemoryRow.version),
    )


def _indexed(memory: Memory) -> IndexedMemory:
    subject = memory.content.subject
    return IndexedMemory(
        key=PassageKey(memory.id, memory.version, 0),
        text=shown_text(memory.content),
        project_id=memory.project_id,
        subject=subject,
        readers=(f"project:{memory.project_id}",) if subject is None else (f"user:{subject}",),
    )
