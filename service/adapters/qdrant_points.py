"""How a passage becomes a Qdrant point and back, and the one place that says which points are meant.

Both engines, embedded and served, translate the `Selection`s made here and never build a filter of their own:
an empty filter would match every tenant, and a list in the place of a name would match several.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from service.core.passages import PassageKey
from service.retrieval.model import ItemKind, Point, SearchScope, SparseVector
from service.retrieval.ports import Embedder, SparseEncoder

DENSE: Final = "dense"
SPARSE: Final = "sparse"

TENANT: Final = "tenant"
KIND: Final = "kind"
SCOPE: Final = "scope"
READERS: Final = "readers"
ITEM: Final = "item"
VERSION: Final = "version"
ORDINAL: Final = "ordinal"
KEYWORD_FIELDS: Final = (TENANT, KIND, SCOPE, READERS, ITEM)
INTEGER_FIELDS: Final = (VERSION,)
KEY_FIELDS: Final = (ITEM, VERSION, ORDINAL)

_LAYOUT: Final = 1
"""Part of the collection's name: raise it when payload fields or point ids change, and re-index beside."""
_SLUG_LENGTH_MAX: Final = 40
_TERM_MAX: Final = 2**32 - 1
_PLACEHOLDER_TERM: Final = _TERM_MAX
"""The only term of a passage that has none, so that every point has a sparse vector and can be counted.

No query holds it. A real term that hashes to it (one in four thousand million) is left out.
"""
_NAMESPACE: Final = uuid.UUID("6f1c1c1e-3c52-5b7e-9d0a-6d756e696d65")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which points are meant: those that hold one of the values of *every* field, and nothing wider.

    `matches` maps a payload field to its alternatives; the tenant's has exactly one and is always there.
    """

    matches: tuple[tuple[str, tuple[str, ...]], ...]
    point_ids: frozenset[str] | None = None
    version_below: int | None = None

    def __post_init__(self) -> None:
        fields = dict(self.matches)
        if len(fields.get(TENANT, ())) != 1:
            raise ValueError("points are selected for exactly one tenant")
        for values in fields.values():
            if not values or not all(type(value) is str and value for value in values):
                raise ValueError("a selection without a value, or with one that is no name, is refused")

    def among(self, point_ids: Sequence[str]) -> "Selection":
        """Answer the same selection, narrowed to these points."""
        return replace(self, point_ids=frozenset(point_ids))


def points_of_tenant(tenant_id: str) -> Selection:
    """Mean all of a tenant's points."""
    return Selection(((TENANT, (tenant_id,)),))


def points_of_kind(tenant_id: str, kind: ItemKind) -> Selection:
    """Mean a tenant's points of one kind."""
    return Selection(((TENANT, (tenant_id,)), (KIND, (kind.value,))))


def points_of_items(tenant_id: str, kind: ItemKind, item_ids: Sequence[str]) -> Selection:
    """Mean every passage of every version of the items."""
    return Selection(((TENANT, (tenant_id,)), (KIND, (kind.value,)), (ITEM, tuple(item_ids))))


def points_of_older_versions(tenant_id: str, kind: ItemKind, item_id: str, version: int) -> Selection:
    """Mean the item's passages of versions below `version`."""
    return replace(points_of_items(tenant_id, kind, (item_id,)), version_below=version)


def points_in_scope(scope: SearchScope) -> Selection:
    """Mean what a search may find. It is also the corpus of that search's document frequencies.

    Frequencies over more than that would tell a caller how often a word stands where it may not read.
    """
    return Selection(
        (
            (TENANT, (scope.tenant_id,)),
            (KIND, (scope.kind.value,)),
            (SCOPE, tuple(scope.scopes)),
            (READERS, tuple(scope.readers)),
        )
    )


def collection_name(embedder: Embedder, sparse: SparseEncoder) -> str:
    """Answer the collection that belongs to this model, dimension, encoder and layout: they never mix."""
    identity = json.dumps([_LAYOUT, embedder.name, embedder.dimension, sparse.name])
    digest = hashlib.blake2b(identity.encode(), digest_size=4).hexdigest()
    slugs = [_slug(embedder.name), str(embedder.dimension), _slug(sparse.name), digest]
    return "muniment_" + "_".join(slugs)


def point_id(tenant_id: str, kind: ItemKind, key: PassageKey) -> str:
    """Answer the UUIDv5 of a passage: the same passage always has it, two tenants' never collide."""
    identity = json.dumps([tenant_id, kind.value, key.item_id, key.version, key.ordinal])
    return str(uuid.uuid5(_NAMESPACE, identity))


def payload_of(tenant_id: str, point: Point) -> dict[str, Any]:
    """Answer what is kept beside the vectors: ids, numbers and keyed hashes, never text."""
    return {
        TENANT: tenant_id,
        KIND: point.kind.value,
        SCOPE: point.scope,
        READERS: list(point.readers),
        ITEM: point.key.item_id,
        VERSION: point.key.version,
        ORDINAL: point.key.ordinal,
    }


def key_of(payload: Mapping[str, Any] | None) -> PassageKey:
    """Answer the passage that a payload names."""
    if payload is None:
        raise ValueError("a point of ours has a payload")
    return PassageKey(payload[ITEM], payload[VERSION], payload[ORDINAL])


def stored_terms(vector: SparseVector) -> SparseVector:
    """Answer the term vector to write: never empty, and without the term that stands for "none"."""
    terms = query_terms(vector)
    return terms if terms.indices else SparseVector((_PLACEHOLDER_TERM,), (1.0,))


def query_terms(vector: SparseVector) -> SparseVector:
    """Answer the term vector to search with: without the term that stands for "none"."""
    if _PLACEHOLDER_TERM not in vector.indices:
        return vector
    kept = [pair for pair in zip(vector.indices, vector.values, strict=True) if pair[0] != _PLACEHOLDER_TERM]
    return SparseVector(tuple(index for index, _ in kept), tuple(value for _, value in kept))


def check_points(tenant_id: str, points: Sequence[Point], *, dimension: int) -> None:
    """Raise `ValueError` for any point that the engine must never see.

    A write that the engine refuses half-way stays in its log, and what it takes without complaint (NaN)
    spoils every later search: so all points are looked at before the first is written.
    """
    Selection(((TENANT, (tenant_id,)),))
    names = [(point.kind, point.key) for point in points]
    if len(set(names)) != len(names):
        raise ValueError("a passage is written once in each batch")
    for point in points:
        if point.key.version < 0 or point.key.ordinal < 0:
            raise ValueError("versions and ordinals are not negative")
        for values in ((point.scope,), point.readers, (point.key.item_id,)):
            if not values or not all(type(value) is str and value for value in values):
                raise ValueError("a point needs an item, a scope and a reader")
        if point.dense is not None:
            check_dense(point.dense, dimension=dimension)
        check_sparse(point.sparse)


def check_dense(vector: Sequence[float], *, dimension: int) -> None:
    """Raise `ValueError` unless the vector is finite, has a direction and the collection's dimension."""
    # In the engine's own precision: what is finite in 64 bits may be infinite, or nothing, in 32.
    with np.errstate(over="ignore", under="ignore"):
        values = np.asarray(vector, dtype=np.float32)
        if values.shape != (dimension,):
            raise ValueError(f"a vector of {dimension} numbers is needed")
        norm = float(np.linalg.norm(values))
    if not np.isfinite(norm) or norm == 0.0:
        raise ValueError("a vector needs finite numbers and a direction")


def check_sparse(vector: SparseVector) -> None:
    """Raise `ValueError` unless indices are unique 32-bit numbers with one finite value each."""
    if len(vector.indices) != len(vector.values) or len(set(vector.indices)) != len(vector.indices):
        raise ValueError("each term needs one value and may appear once")
    if not all(0 <= index <= _TERM_MAX for index in vector.indices):
        raise ValueError("terms are unsigned 32-bit numbers")
    with np.errstate(over="ignore", under="ignore"):
        if not np.isfinite(np.asarray(vector.values, dtype=np.float32)).all():
            raise ValueError("term weights are finite numbers")


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9.-]+", "-", name.lower()).strip("-.")[:_SLUG_LENGTH_MAX] or "unnamed"
