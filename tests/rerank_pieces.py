"""Pieces to be ranked, for tests of the second stage."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from service.adapters.bm25 import Bm25Encoder
from service.retrieval.rerank.model import Piece, PieceKind

ENCODER: Final = Bm25Encoder()
SEEN: Final = datetime(2026, 5, 8, tzinfo=UTC)


def piece(
    text: str,
    sequence: int = 0,
    *,
    kind: PieceKind = PieceKind.CONVERSATION,
    group: str = "monday",
    ordinal: int = 0,
    fused: float = 0.0,
) -> Piece:
    return Piece(
        text=text,
        kind=kind,
        item=f"{group}/{sequence}",
        item_pieces=1,
        address=f"doc://{group}/{sequence}",
        group=group,
        group_title="8 May, 2023",
        sequence=sequence,
        ordinal=ordinal,
        observed_at=SEEN,
        fused=fused,
        sparse=fused,
        dense=fused,
    )


def document(name: str, text: str, *, ordinal: int = 0, fused: float = 0.0, title: str = "") -> Piece:
    return replace(
        piece(text, kind=PieceKind.DOCUMENT, group=name, ordinal=ordinal, fused=fused),
        item=name,
        address=f"doc://{name}",
        group_title=title or name,
    )
