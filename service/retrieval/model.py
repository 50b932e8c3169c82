"""What the index holds and what it answers. Ids, hashes and numbers only: never text."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from service.core.passages import PassageKey


class ItemKind(StrEnum):
    """What a passage belongs to."""

    EVIDENCE = "evidence"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term weights: equally long, indices unique."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """What is written to the index for one passage.

    `scope` is the corpus that term frequencies are taken over and that searches are confined to:
    `project:<id>` or `user:<keyed hash of the subject>`. `readers` are keyed hashes of reader labels.
    `dense` may be absent (empty text has no direction); `sparse` may be empty.
    """

    key: PassageKey
    kind: ItemKind
    scope: str
    readers: tuple[str, ...]
    dense: Sequence[float] | None
    sparse: SparseVector


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Where a search may look. Every field but the tenant is a set of alternatives, and none may be empty."""

    tenant_id: str
    kind: ItemKind
    scopes: tuple[str, ...]
    readers: tuple[str, ...]

    def __post_init__(self) -> None:
        if not (self.tenant_id and self.scopes and self.readers):
            raise ValueError("a search without tenant, scope or reader would look everywhere")


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage with one list's raw score."""

    key: PassageKey
    score: float
