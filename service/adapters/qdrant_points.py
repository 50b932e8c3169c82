"""How a passage becomes a Qdrant point and back, and the one place that says which points are meant.

Both engines, embedded and served, translate the `Selection`s made here and never build a filter of their own:
an empty filter would match every tenant, and a list in the place of a name would match several.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
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
PLACES: Final = "places"
ITEM: Final = "item"
VERSION: Final = "version"
ORDINAL: Final = "ordinal"
KEYWORD_FIELDS: Final = (TENANT, KIND, PLACES, ITEM)
INTEGER_FIELDS: Final = (VERSION,)
HIT_FIELDS: Final = (TENANT, ITEM, VERSION, ORDINAL)
"""What a search or a listing asks back of each point."""

PLACES_MAX: Final = 10_000
"""Most combinations of scope and reader in one search."""
_LAYOUT: Final = 1
"""Part of the collection's name: raise it when payload fields or point ids change, and re-index beside."""
_SLUG_LENGTH_MAX: Final = 40
_TERM_MAX: Final = 2**32 - 1
_PLACEHOLDER_TERM: Final = _TERM_MAX
"""The only term of a passage that has none, so that every point has a sparse vector and can be counted.

No query holds it. A real term that hashes to it (one in four thousand million) is left out.
"""
_UUID_VARIANT: Final = {digit: "89ab"[int(digit, 16) % 4] for digit in "0123456789abcdef"}
_NAMESPACE: Final = uuid.UUID("6f1c1c1e-3c52-5b7e-9d0a-6d756e696d65")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which points of one tenant are meant. There is no selection over several tenants, or over none.

    A point stands in one place for each of its readers: a digest of tenant, kind, scope and reader together.
    So one condition says all that a search is confined to. As four conditions the same search took five times
    as long at 10,000 points, and most of that went into the corpus of document frequencies.
    """

    tenant_id: str
    kind: ItemKind | None = None
    places: tuple[str, ...] | None = None
    item_ids: tuple[str, ...] | None = None
    version_below: int | None = None
    point_ids: frozenset[str] | None = None

    def __post_init__(self) -> None:
        _check_names(self.tenant_id)
        for values in (self.places, self.item_ids):
            if values is not None:
                _check_names(*values)

    @property
    def conditions(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The payload fields, and of each the values that are alternatives; a point must match every field.

        Never empty: an engine would take that for "everything".
        """
        if self.places is not None:
            return ((PLACES, self.places),)
        conditions: list[tuple[str, tuple[str, ...]]] = [(TENANT, (self.tenant_id,))]
        if self.kind is not None:
            conditions.append((KIND, (self.kind.value,)))
        if self.item_ids is not None:
            conditions.append((ITEM, self.item_ids))
        return tuple(conditions)

    def among(self, point_ids: Sequence[str]) -> "Selection":
        """Answer the same selection, narrowed to these points."""
        return replace(self, point_ids=frozenset(point_ids))


def points_in_scope(scope: SearchScope) -> Selection:
    """Mean what a search may find. It is also the corpus of that search's document frequencies.

    Frequencies over more than that would tell a caller how often a word stands where it may not read.
    """
    _check_names(*scope.scopes, *scope.readers)
    if len(scope.scopes) * len(scope.readers) > PLACES_MAX:
        raise ValueError(f"at most {PLACES_MAX} combinations of scope and reader are searched at once")
    places = {
        _place(scope.tenant_id, scope.kind, one, reader) for one in scope.scopes for reader in scope.readers
    }
    return Selection(scope.tenant_id, scope.kind, places=tuple(sorted(places)))


def collection_name(embedder: Embedder, sparse: SparseEncoder) -> str:
    """Answer the collection that belongs to this model, dimension, encoder and layout: they never mix."""
    identity = json.dumps([_LAYOUT, embedder.name, embedder.dimension, sparse.name])
    digest = hashlib.blake2b(identity.encode(), digest_size=4).hexdigest()
    slugs = [_slug(embedder.name), str(embedder.dimension), _slug(sparse.name), digest]
    return "muniment_" + "_".join(slugs)


def point_id(tenant_id: str, kind: ItemKind, key: PassageKey) -> str:
    """Answer the UUIDv5 of a passage: the same passage always has it, two tenants' never collide."""
    (name,) = point_ids(tenant_id, kind, [key])
    return name


def point_ids(tenant_id: str, kind: ItemKind, keys: Iterable[PassageKey]) -> list[str]:
    """Answer the ids of a tenant's passages, in order. Hundreds are made in each search."""
    # As `uuid.uuid5` does (RFC 9562, 5.5), without its objects. Lengths stand before the names, so that no
    # two passages are spelt alike.
    start = hashlib.sha1(_NAMESPACE.bytes, usedforsecurity=False)
    start.update(f"{len(tenant_id)}:{tenant_id}/{kind.value}/".encode())
    ids = []
    for item_id, version, ordinal in keys:
        name = start.copy()
        name.update(f"{len(item_id)}:{item_id}/{version}/{ordinal}".encode())
        digest = name.hexdigest()
        variant = _UUID_VARIANT[digest[16]]
        ids.append(f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}")
    return ids


def payload_of(tenant_id: str, point: Point) -> dict[str, Any]:
    """Answer what is kept beside the vectors: ids, numbers and keyed hashes, never text."""
    return {
        TENANT: tenant_id,
        KIND: point.kind.value,
        PLACES: [_place(tenant_id, point.kind, point.scope, reader) for reader in point.readers],
        ITEM: point.key.item_id,
        VERSION: point.key.version,
        ORDINAL: point.key.ordinal,
    }


def key_of(payload: Mapping[str, Any] | None, *, tenant_id: str) -> PassageKey:
    """Answer the passage that a payload names. Raises `RuntimeError` if it is another tenant's."""
    if payload is None or payload[TENANT] != tenant_id:
        raise RuntimeError("the index answered with a passage that was not asked for")
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
    _check_names(tenant_id)
    names = [(point.kind, point.key) for point in points]
    if len(set(names)) != len(names):
        raise ValueError("a passage is written once in each batch")
    for point in points:
        if point.key.version < 0 or point.key.ordinal < 0:
            raise ValueError("versions and ordinals are not negative")
        if not point.readers:
            raise ValueError("a point that nobody may read is not written")
        _check_names(point.scope, point.key.item_id, *point.readers)
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


def _place(tenant_id: str, kind: ItemKind, scope: str, reader: str) -> str:
    identity = json.dumps([tenant_id, kind.value, scope, reader])
    return hashlib.blake2b(identity.encode(), digest_size=16).hexdigest()


def _check_names(*values: object) -> None:
    # Not `isinstance`: nothing but a plain string is a name, and a list of them would mean "any of these".
    if not values or not all(type(value) is str and value for value in values):
        raise ValueError("a name is a string that is not empty")


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9.-]+", "-", name.lower()).strip("-.")[:_SLUG_LENGTH_MAX] or "unnamed"
