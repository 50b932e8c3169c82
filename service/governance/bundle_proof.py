"""The part of an evidence bundle that the audit chain proves: events, and how they hang on its end.

What happened to others in between stands in it as hashes of contents: enough to walk the chain, and no more.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from service.audit.model import Link
from service.audit.principals import named_principals
from service.audit.rules import content_of, hash_content, hash_link, head_text
from service.audit.store import AuditStore
from service.audit.verify import ChainBroken
from service.core.errors import TooLarge
from service.identity.unit import Unit

EVENTS_MAX: Final = 5_000
"""Most events of one bundle."""
SEGMENT_EVENTS_MAX: Final = 10_000
"""How far from the chain's end a bundle's first event may lie for all between to be in it: 0.7 MB."""


class BundleTooLarge(TooLarge):
    """There is more about it than one file can carry."""

    code = "bundle_too_large"
    title = f"A bundle holds at most {EVENTS_MAX:,} events, 500 packages of a run and 16 MiB"


def prove(about: Mapping[str, Collection[str]], *, unit: Unit) -> dict[str, Any]:
    """Answer the events about things (ids by kind) in their order, with the proof of their places.

    `segment` leads from the first of them to the chain's end; it is `None` where that is too far, or where
    part of it was written in the first form. Then each event proves its own content and its predecessor's
    hash alone. Raises `ChainBroken` for a chain that does not hold: for such nothing is signed.
    """
    store = AuditStore(unit.session, unit.tenant_id)
    links = _links(store, about)
    head = store.find_head()
    if head is None or head.seal != unit.cipher.keyed_hash(
        head_text(sequence=head.sequence, head_hash=head.hash)
    ):
        raise ChainBroken
    names = named_principals({link.event.principal for link in links}, unit.cipher)
    return {
        "events": [
            {
                "sequence": link.sequence,
                "previous_hash": link.previous_hash,
                "hash": link.hash,
                "content": content_of(link.event),
            }
            for link in links
        ],
        "segment": _segment(store, links, head.sequence, head.hash),
        "head": {"sequence": head.sequence, "hash": head.hash},
        "names": dict(names),
    }


def _links(store: AuditStore, about: Mapping[str, Collection[str]]) -> Sequence[Link]:
    links: list[Link] = []
    for kind, refs in about.items():
        links += store.links_about(kind, refs, limit=EVENTS_MAX + 1)
    if len(links) > EVENTS_MAX:
        raise BundleTooLarge
    return sorted(links, key=lambda link: link.sequence)


def _segment(
    store: AuditStore, links: Sequence[Link], head_sequence: int, head_hash: str
) -> dict[str, Any] | None:
    if not links or head_sequence - links[0].sequence >= SEGMENT_EVENTS_MAX:
        return None
    first = links[0]
    previous_hash, contents = first.previous_hash, []
    for sequence, link in enumerate(
        store.links_from(first.sequence, limit=SEGMENT_EVENTS_MAX), first.sequence
    ):
        content_hash = hash_content(link.event)
        if (link.sequence, link.previous_hash) != (sequence, previous_hash):
            raise ChainBroken
        if link.hash != hash_link(content_hash, sequence=sequence, previous_hash=previous_hash):
            # Altered, or of the first form: `audit verify` tells which. Neither is walked by contents alone.
            return None
        contents.append(content_hash)
        previous_hash = link.hash
        if sequence == head_sequence:
            break
    if previous_hash != head_hash:
        raise ChainBroken
    return {
        "from_sequence": first.sequence,
        "previous_hash": first.previous_hash,
        "content_hashes": contents,
    }
