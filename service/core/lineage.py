"""What was made from what, across capabilities: memories, summaries and the states of runs, by their sources.

(Evidence keeps its own lineage with its versions.) A row says that something was once made from something; it
holds no words, and what it names may be gone.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Index, bindparam, delete
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Field, Session, SQLModel, col, select

from service.core.any_of import is_any_of


@dataclass(frozen=True, slots=True, order=True)
class Node:
    """One thing in the lineage: `memory`, `summary`, `execution`, `evidence`, `observation` or `turn`."""

    kind: str
    id: str

    def __str__(self) -> str:
        """Answer the reference that `parse` reads."""
        return f"{self.kind}:{self.id}"

    @classmethod
    def parse(cls, ref: str) -> "Node | None":
        """Read `kind:id`; `None` for a reference that names none of ours."""
        kind, colon, item_id = ref.partition(":")
        return cls(kind, item_id) if colon and kind and item_id else None


class DerivationRow(SQLModel, table=True):
    """That one thing was made from another."""

    __tablename__ = "derivations"
    __table_args__ = (Index("ix_derivations_source", "tenant_id", "source_kind", "source_id"),)

    tenant_id: str = Field(primary_key=True, max_length=36)
    kind: str = Field(primary_key=True, max_length=20)
    item_id: str = Field(primary_key=True, max_length=100)
    source_kind: str = Field(primary_key=True, max_length=20)
    source_id: str = Field(primary_key=True, max_length=100)


_FROM: Final = select(DerivationRow.kind, DerivationRow.item_id).where(
    DerivationRow.tenant_id == bindparam("tenant_id"),
    DerivationRow.source_kind == bindparam("source_kind"),
    is_any_of(col(DerivationRow.source_id), "item_ids"),
)
_SOURCES: Final = select(DerivationRow.source_kind, DerivationRow.source_id).where(
    DerivationRow.tenant_id == bindparam("tenant_id"),
    DerivationRow.kind == bindparam("kind"),
    is_any_of(col(DerivationRow.item_id), "item_ids"),
)


class Lineage:
    """One tenant's lineage, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    def note(self, made: Node, sources: Iterable[Node]) -> None:
        """Keep that `made` was made from the sources. Repeating is fine and adds nothing."""
        rows = [
            {
                "tenant_id": self._tenant_id,
                "kind": made.kind,
                "item_id": made.id,
                "source_kind": source.kind,
                "source_id": source.id,
            }
            for source in sorted(set(sources))
        ]
        if not rows:
            return
        on_postgresql = self._session.get_bind().dialect.name == "postgresql"
        insert_once = postgresql.insert if on_postgresql else sqlite.insert
        self._session.connection().execute(insert_once(DerivationRow).on_conflict_do_nothing(), rows)

    def made_from(self, kind: str, item_ids: Collection[str]) -> Sequence[Node]:
        """Answer what was made directly from any of these, each once."""
        return self._nodes(_FROM, source_kind=kind, item_ids=item_ids)

    def sources_of(self, kind: str, item_ids: Collection[str]) -> Sequence[Node]:
        """Answer what any of these was made from directly, each once."""
        return self._nodes(_SOURCES, kind=kind, item_ids=item_ids)

    def forget(self, kind: str, item_ids: Collection[str]) -> None:
        """Drop what these were made from: they are gone, and nothing is to lead to them."""
        self._session.exec(
            delete(DerivationRow).where(
                col(DerivationRow.tenant_id) == self._tenant_id,
                col(DerivationRow.kind) == kind,
                col(DerivationRow.item_id).in_(item_ids),
            )
        )

    def _nodes(self, query: object, *, item_ids: Collection[str], **names: str) -> Sequence[Node]:
        if not item_ids:
            return []
        known = {"tenant_id": self._tenant_id, "item_ids": sorted(item_ids), **names}
        rows = self._session.exec(query, params=known).all()  # type: ignore[call-overload]  # either query above
        return sorted({Node(kind, item_id) for kind, item_id in rows})
