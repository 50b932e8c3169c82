"""Evidence: its text, headers, readers, subjects and lineage."""

from typing import Any, Final

from sqlmodel import SQLModel

from service.evidence.tables import (
    EvidenceChunkRow,
    EvidenceLineageRow,
    EvidenceReaderRow,
    EvidenceRow,
    EvidenceSubjectRow,
    EvidenceVersionRow,
)
from service.governance.model import Kind
from service.governance.stores.store_rows import ALL_KINDS, Rows, RowStore, among

_KINDS: Final = ALL_KINDS - {Kind.MEMORY}


def _gone(table: type[SQLModel], column: Any) -> Rows:  # noqa: ANN401 - a column of any of the row classes
    return Rows(table, among(column, "evidence"), kinds=_KINDS)


EVIDENCE: Final = RowStore(
    "evidence",
    (
        _gone(EvidenceChunkRow, EvidenceChunkRow.evidence_id),
        _gone(EvidenceReaderRow, EvidenceReaderRow.evidence_id),
        _gone(EvidenceSubjectRow, EvidenceSubjectRow.evidence_id),
        _gone(EvidenceLineageRow, EvidenceLineageRow.evidence_id),
        _gone(EvidenceVersionRow, EvidenceVersionRow.evidence_id),
        _gone(EvidenceRow, EvidenceRow.id),
    ),
)
