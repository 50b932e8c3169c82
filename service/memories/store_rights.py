"""Who may read which rows, as conditions of a query: nothing is read first and judged afterwards."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, exists, false, or_
from sqlalchemy.orm import Mapped
from sqlmodel import col, select

from service.core.cipher import Cipher
from service.identity.model import Caller, Role
from service.memories.model import MemoryStatus
from service.memories.rules import Readable, readable_classes
from service.memories.tables import ConsentRow, MemoryRow
from service.policies.model import Bundle

Condition = ColumnElement[bool]


def is_live(now: datetime) -> Condition:
    """Hold for memories that are active and have not run out."""
    return and_(col(MemoryRow.status) == MemoryStatus.ACTIVE, col(MemoryRow.expires_at) > now)


class Rights:
    """The reader policy of one bundle over one tenant's memories."""

    def __init__(self, tenant_id: str, cipher: Cipher, bundle: Bundle) -> None:
        self._tenant_id = tenant_id
        self._cipher = cipher
        self._bundle = bundle

    def may_use(self, caller: Caller, *, purpose: str, now: datetime) -> Condition:
        """Hold for what a search or package of the caller may rely on for `purpose`: own and project's."""
        classes = readable_classes(self._bundle, caller, purpose=purpose)
        consented = or_(col(MemoryRow.class_name).not_in(classes.consented), self._consent_stands(purpose))
        return and_(is_live(now), consented, or_(self._own(caller, classes), self._shared(caller, classes)))

    def may_see(self, caller: Caller, *, now: datetime) -> Condition:
        """Hold for what the caller may look at: a person's own in every state, others' while it lives."""
        classes = readable_classes(self._bundle, caller, purpose=None)
        consented = or_(
            col(MemoryRow.class_name).not_in(classes.consented),
            self._consent_stands(col(MemoryRow.purpose)),
        )
        by_policy = or_(
            self._own(caller, classes), self._shared(caller, classes), self._others(caller, classes)
        )
        if caller.role is Role.USER and caller.person is not None:
            return or_(self._is_about(caller.person), and_(is_live(now), consented, by_policy))
        return and_(is_live(now), consented, by_policy)

    def _own(self, caller: Caller, classes: Readable) -> Condition:
        if caller.person is None:
            return false()
        return and_(self._is_about(caller.person), col(MemoryRow.class_name).in_(classes.own))

    def _shared(self, caller: Caller, classes: Readable) -> Condition:
        return self._in_projects(caller, "", classes.shared)

    def _others(self, caller: Caller, classes: Readable) -> Condition:
        return self._in_projects(caller, None, classes.others)

    def _in_projects(self, caller: Caller, subject_hash: str | None, names: Sequence[str]) -> Condition:
        about = (
            col(MemoryRow.subject_hash) != "" if subject_hash is None else col(MemoryRow.subject_hash) == ""
        )
        return and_(
            about, col(MemoryRow.project_id).in_(caller.project_ids), col(MemoryRow.class_name).in_(names)
        )

    def _is_about(self, person: str) -> Condition:
        return col(MemoryRow.subject_hash) == self._cipher.keyed_hash(person)

    def _consent_stands(self, purpose: str | Mapped[str]) -> Condition:
        return exists(
            select(ConsentRow.purpose).where(
                ConsentRow.tenant_id == self._tenant_id,
                ConsentRow.subject_hash == MemoryRow.subject_hash,
                col(ConsentRow.purpose) == purpose,
                col(ConsentRow.granted).is_(True),
            )
        )
