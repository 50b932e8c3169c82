"""Queries of one tenant's refusals: what persons say is never to be remembered about them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import delete
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from service.core.cipher import Cipher
from service.identity.unit import Unit
from service.memories.model import Refused
from service.memories.tables import RefusalRow

ANY_CLASS: Final = "*"


class RefusalStore:
    """One tenant's refusals, inside one transaction. Persons are looked up by keyed hash."""

    def __init__(self, session: Session, tenant_id: str, cipher: Cipher) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._cipher = cipher

    @classmethod
    def of(cls, unit: Unit) -> "RefusalStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id, unit.cipher)

    def stands(self, subject: str, class_name: str) -> bool:
        """Say whether the person refuses memories of the class, or any."""
        query = self._of(subject).where(col(RefusalRow.class_name).in_([class_name, ANY_CLASS]))
        return self._session.exec(query.limit(1)).first() is not None

    def add(self, subject: str, class_name: str | None, *, at: datetime) -> None:
        """Keep a refusal of a class (`None`: of all). Repeating is fine: the first moment stays."""
        on_postgresql = self._session.get_bind().dialect.name == "postgresql"
        insert_once = postgresql.insert if on_postgresql else sqlite.insert
        row = {
            "tenant_id": self._tenant_id,
            "subject_hash": self._cipher.keyed_hash(subject),
            "class_name": class_name or ANY_CLASS,
            "created_at": at,
        }
        self._session.connection().execute(insert_once(RefusalRow).on_conflict_do_nothing(), [row])

    def remove(self, subject: str, class_name: str | None) -> None:
        """Take a refusal back: that of the class, or the one of all."""
        self._session.exec(
            delete(RefusalRow).where(
                col(RefusalRow.tenant_id) == self._tenant_id,
                col(RefusalRow.subject_hash) == self._cipher.keyed_hash(subject),
                col(RefusalRow.class_name) == (class_name or ANY_CLASS),
            )
        )

    def list_of(self, subject: str) -> Sequence[Refused]:
        """Answer what the person refuses, by class."""
        rows = self._session.exec(self._of(subject).order_by(col(RefusalRow.class_name))).all()
        return [
            Refused(None if row.class_name == ANY_CLASS else row.class_name, row.created_at) for row in rows
        ]

    def _of(self, subject: str) -> SelectOfScalar[RefusalRow]:
        return select(RefusalRow).where(
            RefusalRow.tenant_id == self._tenant_id,
            RefusalRow.subject_hash == self._cipher.keyed_hash(subject),
        )
