"""Queries of one tenant's consents."""

from collections.abc import Sequence
from datetime import datetime

from sqlmodel import Session, col, select

from service.core.cipher import Cipher
from service.core.locks import lock_names
from service.identity.unit import Unit
from service.memories.model import ConsentAct
from service.memories.tables import ConsentActRow, ConsentRow


class ConsentStore:
    """One tenant's consents, inside one transaction. Persons are looked up by keyed hash."""

    def __init__(self, session: Session, tenant_id: str, cipher: Cipher) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._cipher = cipher

    @classmethod
    def of(cls, unit: Unit) -> "ConsentStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id, unit.cipher)

    def stands(self, subject: str, purpose: str) -> bool:
        """Say whether the person's consent to the purpose stands now. Never asked: no."""
        row = self._session.get(ConsentRow, (self._tenant_id, self._cipher.keyed_hash(subject), purpose))
        return row is not None and row.granted

    def lock(self, subject: str, purpose: str) -> None:
        """Let one giving or withdrawing follow another."""
        lock_names(self._session, self._tenant_id, [f"consent/{self._cipher.keyed_hash(subject)}/{purpose}"])

    def set(
        self, subject: str, purpose: str, *, granted: bool, text_version: str, at: datetime, by: str
    ) -> None:
        """Give or withdraw, and keep that it was done."""
        key = (self._tenant_id, self._cipher.keyed_hash(subject), purpose)
        row = self._session.get(ConsentRow, key)
        revision = 1 if row is None else row.revision + 1
        if row is None:
            row = ConsentRow(
                tenant_id=key[0], subject_hash=key[1], purpose=purpose, granted=granted, revision=revision
            )
        row.granted, row.revision = granted, revision
        self._session.add(row)
        self._session.add(
            ConsentActRow(
                tenant_id=key[0],
                subject_hash=key[1],
                purpose=purpose,
                revision=revision,
                granted=granted,
                text_version=text_version,
                at=at,
                by=by,
            )
        )

    def history(self, subject: str) -> Sequence[ConsentAct]:
        """Answer every giving and withdrawing of the person, oldest first within a purpose."""
        rows = self._session.exec(
            select(ConsentActRow)
            .where(
                ConsentActRow.tenant_id == self._tenant_id,
                ConsentActRow.subject_hash == self._cipher.keyed_hash(subject),
            )
            .order_by(col(ConsentActRow.purpose), col(ConsentActRow.revision))
        ).all()
        return [ConsentAct(row.purpose, row.granted, row.text_version, row.at, row.by) for row in rows]
