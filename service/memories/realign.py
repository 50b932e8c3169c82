"""`realign`: bring the ends of memories in line with another policy, in steps that may be repeated.

A longer time counts at once. A shorter one ends nothing before its effective date: until then everybody can
see what is coming, and take it back. What has ended stays ended.
"""

from collections.abc import Mapping
from datetime import datetime

from service.identity.unit import Unit
from service.memories.rules import expires_at_of, moved_end
from service.memories.store_realign import Ending, RealignStore
from service.policies.model import Bundle


def realign(bundle: Bundle, *, effective_at: datetime, after: str, limit: int, unit: Unit) -> str | None:
    """Bring up to `limit` memories in line; answer after which id to go on, `None` at the end.

    A memory whose class the bundle does not have, or that takes none, keeps its end.
    """
    store = RealignStore.of(unit)
    found = store.lock_next(after=after, limit=limit, now=unit.now)
    store.move(_moved(found, bundle, effective_at))
    return max(found) if len(found) == limit else None


def end_under(ending: Ending, bundle: Bundle, effective_at: datetime) -> datetime:
    """Answer when a memory ends once another policy counts. Asked again, the answer is the same."""
    rule = bundle.classes.get(ending.class_name)
    if rule is None or rule.expiry is None:
        return ending.expires_at
    wanted = expires_at_of(
        ending.class_name,
        bundle,
        created_at=ending.created_at,
        confirmed_at=ending.confirmed_at,
        used_at=ending.last_used_at,
    )
    return moved_end(ending.expires_at, wanted, effective_at)


def _moved(found: Mapping[str, Ending], bundle: Bundle, effective_at: datetime) -> Mapping[str, datetime]:
    ends = {memory_id: end_under(one, bundle, effective_at) for memory_id, one in found.items()}
    return {memory_id: end for memory_id, end in ends.items() if end != found[memory_id].expires_at}
