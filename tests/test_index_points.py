"""Names of points: those that the standard gives, so that what is written once is found again."""

import uuid

from hypothesis import given
from hypothesis import strategies as st

from service.adapters.qdrant_points import _NAMESPACE, point_id, point_ids
from service.core.passages import PassageKey
from service.retrieval.model import ItemKind

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(
    tenant_id=WORDS,
    kind=st.sampled_from(ItemKind),
    item_id=WORDS,
    version=st.integers(1),
    ordinal=st.integers(0),
)
def test_a_point_has_the_uuid_of_version_5_of_its_passage(
    tenant_id: str, kind: ItemKind, item_id: str, version: int, ordinal: int
) -> None:
    name = f"{len(tenant_id)}:{tenant_id}/{kind}/{len(item_id)}:{item_id}/{version}/{ordinal}"

    assert point_id(tenant_id, kind, PassageKey(item_id, version, ordinal)) == str(
        uuid.uuid5(_NAMESPACE, name)
    )


def test_many_ids_are_those_of_each_and_all_differ() -> None:
    keys = [
        PassageKey(name, version, ordinal)
        for name in ("a", "1", "11")
        for version in (1, 11)
        for ordinal in (1, 11)
    ]

    ids = point_ids("acme", ItemKind.EVIDENCE, keys)

    assert ids == [point_id("acme", ItemKind.EVIDENCE, key) for key in keys]
    assert (
        len({*ids, *point_ids("acme", ItemKind.MEMORY, keys), *point_ids("other", ItemKind.EVIDENCE, keys)})
        == 36
    )
