"""What is put aside: what a quarantine that stands has taken out of use, known to every capability.

A row goes when its quarantine is released: that it is there says that the thing is held. Who makes and ends
quarantines stands in `governance`.
"""

from collections.abc import Collection, Sequence
from typing import Final

from sqlalchemy import ForeignKeyConstraint, Index, bindparam
from sqlmodel import Field, Session, SQLModel, col, select

from service.core.any_of import is_any_of
from service.core.errors import Conflict
from service.core.locks import lock_names, share_name

_LOCK: Final = "quarantines"
SOURCE: Final = "source"
"""Stands as the status of a run that is itself the source of a quarantine."""


class SourceQuarantined(Conflict):
    """It was made from, or shows, something that is under quarantine."""

    code = "source_quarantined"
    title = "Something that this was made from is under quarantine"


class ExecutionQuarantined(Conflict):
    """The run itself is the source of a quarantine: nothing is written to it while that stands."""

    code = "execution_quarantined"
    title = "This execution is under quarantine"


class QuarantineItemRow(SQLModel, table=True):
    """One thing that a quarantine has put aside. The row goes when the quarantine is released."""

    __tablename__ = "quarantine_items"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "quarantine_id"],
            ["quarantines.tenant_id", "quarantines.id"],
            name="fk_quarantine_items_quarantine",
        ),
        Index("ix_quarantine_items_item", "tenant_id", "kind", "item_id"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    quarantine_id: str = Field(primary_key=True, max_length=36)
    kind: str = Field(primary_key=True, max_length=20)
    item_id: str = Field(primary_key=True, max_length=100)
    status: str | None = Field(default=None, max_length=20)
    """What a memory's status was before, where it is another meanwhile; `SOURCE` of a run."""


_AMONG: Final = (
    select(QuarantineItemRow.item_id)
    .where(
        QuarantineItemRow.tenant_id == bindparam("tenant_id"),
        QuarantineItemRow.kind == bindparam("kind"),
        is_any_of(col(QuarantineItemRow.item_id), "item_ids"),
    )
    .distinct()
)

_SOURCE_RUN: Final = select(QuarantineItemRow.quarantine_id).where(
    QuarantineItemRow.tenant_id == bindparam("tenant_id"),
    QuarantineItemRow.kind == "execution",
    QuarantineItemRow.item_id == bindparam("item_id"),
    QuarantineItemRow.status == SOURCE,
)


class Quarantined:
    """What is put aside in one tenant, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    def share(self) -> None:
        """Let no quarantine begin or end until this transaction does.

        Whoever is about to keep something made from others calls it before looking at them: else a closure
        could be taken between the look and the keeping, and miss what was made.
        """
        share_name(self._session, self._tenant_id, _LOCK)

    def lock(self) -> None:
        """Wait for all who share, and let nobody else pass until this transaction ends."""
        lock_names(self._session, self._tenant_id, [_LOCK])

    def among(self, kind: str, item_ids: Collection[str]) -> frozenset[str]:
        """Answer those of the things that are put aside."""
        if not item_ids:
            return frozenset()
        known = {"tenant_id": self._tenant_id, "kind": kind, "item_ids": sorted(item_ids)}
        return frozenset(self._session.connection().execute(_AMONG, known).scalars())

    def holds(self, kind: str, item_id: str) -> bool:
        """Say whether the thing is put aside."""
        return bool(self.among(kind, [item_id]))

    def refuse_run(self, execution_id: str) -> None:
        """Raise `ExecutionQuarantined` for a run that is itself the source of a quarantine."""
        # Asked at each write to any run: plain rows take half as long as the session's.
        known = {"tenant_id": self._tenant_id, "item_id": execution_id}
        found = self._session.connection().execute(_SOURCE_RUN, known).first()
        if found is not None:
            raise ExecutionQuarantined

    def newest(self, kind: str, *, count: int, status: str | None = None) -> Sequence[str]:
        """Answer the ids of up to `count` things of a kind that are put aside, the newest first.

        Of memories a `status` keeps those that had it before.
        """
        query = select(QuarantineItemRow.item_id).where(
            QuarantineItemRow.tenant_id == self._tenant_id, QuarantineItemRow.kind == kind
        )
        if status is not None:
            query = query.where(QuarantineItemRow.status == status)
        return self._session.exec(
            query.order_by(col(QuarantineItemRow.item_id).desc()).distinct().limit(count)
        ).all()
