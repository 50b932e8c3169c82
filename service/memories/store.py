"""Queries of one tenant's memories. Expiry, consent, purpose and readers are in the query, never after it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, not_, or_
from sqlmodel import Session, col, select
from sqlmodel.sql.expression import Select

from service.core.cipher import Cipher
from service.core.ids import is_id
from service.core.paging import Page, PageRequest
from service.core.passages import PassageKey
from service.identity.model import Caller
from service.identity.unit import Unit
from service.memories.model import Memory, MemoryStatus, shown_text
from service.memories.passages import IndexedMemory, MemoryPassage
from service.memories.store_rights import Condition, Rights, is_held, is_true_at
from service.memories.store_versions import RUNS_OUT, Pair, open_memories, same_version, select_versions
from service.memories.tables import MemoryRow, MemoryVersionRow
from service.memories.valid import PRESENT, Moment
from service.policies.model import Bundle
from service.policies.words import Destination


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which memories a list is to hold; `None` leaves a property open."""

    subject: str | None = None
    class_name: str | None = None
    key: str | None = None
    status: MemoryStatus | None = None
    conflict_group: str | None = None


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
        self,
        keys: Sequence[PassageKey],
        *,
        caller: Caller,
        purpose: str,
        now: datetime,
        moment: Moment = PRESENT,
        destination: Destination | None = None,
    ) -> Mapping[PassageKey, MemoryPassage]:
        """Answer those of the memories that the caller may read now for the purpose, true at the moment.

        With a `destination`, only those that may go there.
        """
        wanted = {key for key in keys if key.ordinal == 0}
        if not wanted:
            return {}
        pairs = self._session.exec(
            self._versions(moment).where(
                col(MemoryRow.id).in_({key.item_id for key in wanted}),
                self._rights.may_use(
                    caller, purpose=purpose, now=now, moment=moment, destination=destination
                ),
            )
        ).all()
        found = [self._passage(memory) for memory in self._open_all(pairs, now=now)]
        return {passage.key: passage for passage in found if passage.key in wanted}

    def list_known(
        self,
        *,
        caller: Caller,
        purpose: str,
        project_ids: Collection[str],
        now: datetime,
        moment: Moment,
        destination: Destination,
        limit: int,
    ) -> Sequence[MemoryPassage]:
        """Answer what may go to the destination and was known at the moment, as it was known, newest first.

        Of projects only those of `project_ids`; at most `limit`.
        """
        in_scope = or_(col(MemoryRow.subject_hash) != "", col(MemoryRow.project_id).in_(project_ids))
        pairs = self._session.exec(
            self._versions(moment)
            .where(
                in_scope,
                self._rights.may_use(
                    caller, purpose=purpose, now=now, moment=moment, destination=destination
                ),
            )
            .order_by(col(MemoryRow.id).desc())
            .limit(limit)
        ).all()
        return [self._passage(memory) for memory in self._open_all(pairs, now=now)]

    def list_put_aside(
        self,
        ids: Collection[str],
        *,
        caller: Caller,
        purpose: str,
        project_ids: Collection[str],
        now: datetime,
    ) -> Sequence[MemoryPassage]:
        """Answer those of the memories that the caller could use but for a quarantine, newest first.

        What it answers is never shown: it tells whether they would have been.
        """
        in_scope = or_(col(MemoryRow.subject_hash) != "", col(MemoryRow.project_id).in_(project_ids))
        may_use = self._rights.would_use(caller, purpose=purpose, now=now)
        query = self._versions(PRESENT).where(col(MemoryRow.id).in_(ids), in_scope, may_use)
        pairs = self._session.exec(query.order_by(col(MemoryRow.id).desc())).all()
        return [self._passage(memory) for memory in self._open_all(pairs, now=now)]

    def list_contradicted(self, groups: Collection[str], *, at: datetime) -> Collection[str]:
        """Answer those of the conflict groups in which a value that is superseded now was in force then."""
        if not groups:
            return ()
        found = self._session.exec(
            select(MemoryRow.conflict_group)
            .join(MemoryVersionRow, same_version())
            .where(
                MemoryRow.tenant_id == self._tenant_id,
                col(MemoryRow.conflict_group).in_(groups),
                MemoryRow.status == MemoryStatus.SUPERSEDED,
                col(MemoryRow.created_at) <= at,
                col(MemoryRow.ended_at) > at,
                is_true_at(at),
            )
            .distinct()
        ).all()
        return [group for group in found if group is not None]

    def get_readable(self, memory_id: str, *, caller: Caller, now: datetime) -> Memory | None:
        """Answer a memory that the caller may look at, or `None`. A person sees what is kept in any state."""
        if not is_id(memory_id):
            return None
        query = self._versions(PRESENT).where(
            MemoryRow.id == memory_id, self._rights.may_see(caller, now=now)
        )
        return next(iter(self._open_all(self._session.exec(query).all(), now=now)), None)

    def hides_any(self, item_ids: Sequence[str], *, caller: Caller, now: datetime) -> bool:
        """Say whether any of the items is a memory that has run out, is held, or may not be looked at now."""
        hidden = or_(
            col(MemoryRow.expires_at) <= now,
            is_held(self._tenant_id, now),
            not_(self._rights.may_see(caller, now=now)),
        )
        query = self._versions(PRESENT).where(col(MemoryRow.id).in_(item_ids), hidden)
        return self._session.exec(query.limit(1)).first() is not None

    def find(self, memory_id: str, *, now: datetime) -> Memory | None:
        """Answer a memory of the tenant as it stands, or `None`: no caller is asked about."""
        query = self._versions(PRESENT).where(MemoryRow.id == memory_id)
        return next(iter(self._open_all(self._session.exec(query).all(), now=now)), None)

    def list_readable(
        self,
        page: PageRequest,
        *,
        caller: Caller,
        now: datetime,
        wanted: Wanted,
        moment: Moment = PRESENT,
    ) -> Page[Memory]:
        """Answer what the caller may look at, newest first; asked about the past, as it was known then."""
        query = self._versions(moment).where(
            self._rights.may_see(caller, now=now, moment=moment), *self._filters(wanted, now)
        )
        if page.after is not None:
            query = query.where(col(MemoryRow.id) < str(page.after[0]))
        pairs = self._session.exec(query.order_by(col(MemoryRow.id).desc()).limit(page.limit + 1)).all()
        shown = page.page(pairs, [(memory.id,) for memory, _ in pairs])
        return Page(self._open_all(shown.items, now=now), shown.next_cursor)

    def index_passages(self, *item_ids: str) -> Sequence[IndexedMemory]:
        """Answer the current version of those of the memories that may be found at all."""
        pairs = self._session.exec(
            self._versions(PRESENT).where(
                col(MemoryRow.id).in_(item_ids), MemoryRow.status == MemoryStatus.ACTIVE
            )
        ).all()
        return [_indexed(memory) for memory in self._open_all(pairs)]

    def live_versions(self, item_ids: Sequence[str]) -> Mapping[str, int]:
        """Answer the current version of those of the memories that may be found at all: no text."""
        rows = self._session.exec(
            select(MemoryRow.id, MemoryRow.version, MemoryVersionRow.content)
            .join(MemoryVersionRow, same_version())
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

    def _versions(self, moment: Moment) -> Select[MemoryRow, MemoryVersionRow]:
        return select_versions(self._tenant_id, moment)

    def _open_all(self, pairs: Sequence[Pair], *, now: datetime | None = None) -> Sequence[Memory]:
        return open_memories(pairs, cipher=self._cipher, now=now)

    def _passage(self, memory: Memory) -> MemoryPassage:
        rule = self._bundle.classes[memory.class_name]
        key = PassageKey(memory.id, memory.version, 0)
        return MemoryPassage(key, memory, tuple(stake.value for stake in rule.revalidate_for))

    def _filters(self, wanted: Wanted, now: datetime) -> Sequence[Condition]:
        conditions = []
        if wanted.subject is not None:
            conditions.append(col(MemoryRow.subject_hash) == self._cipher.keyed_hash(wanted.subject))
        if wanted.class_name is not None:
            conditions.append(col(MemoryRow.class_name) == wanted.class_name)
        if wanted.key is not None:
            conditions.append(col(MemoryRow.key_hash) == self._cipher.keyed_hash(wanted.key))
        if wanted.conflict_group is not None:
            conditions.append(col(MemoryRow.conflict_group) == wanted.conflict_group)
        if wanted.status is not None:
            conditions.append(_has_status(wanted.status, now))
        return conditions


def _has_status(status: MemoryStatus, now: datetime) -> Condition:
    """Hold for memories that have the status now: what has run out is expired before anybody sweeps."""
    is_marked = col(MemoryRow.status) == status
    if status in RUNS_OUT:
        return and_(is_marked, col(MemoryRow.expires_at) > now)
    if status is not MemoryStatus.EXPIRED:
        return is_marked
    ran_out = and_(col(MemoryRow.status).in_(RUNS_OUT), col(MemoryRow.expires_at) <= now)
    return or_(is_marked, ran_out)


def _indexed(memory: Memory) -> IndexedMemory:
    subject = memory.content.subject
    return IndexedMemory(
        key=PassageKey(memory.id, memory.version, 0),
        text=shown_text(memory.content),
        project_id=memory.project_id,
        subject=subject,
        readers=(f"project:{memory.project_id}",) if subject is None else (f"user:{subject}",),
    )
