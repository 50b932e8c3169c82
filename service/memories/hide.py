"""`hide`: what leaves search and packages leaves the answers that are kept for repeats too, at once."""

from collections.abc import Sequence

from service.core.idempotency import IdempotencyStore
from service.identity.unit import Unit


def hide_from_answers(memory_ids: Sequence[str], *, unit: Unit) -> None:
    """Empty every kept answer that showed one of the memories: a repeat of that request answers `erased`."""
    if memory_ids:
        IdempotencyStore(unit.session, unit.tenant_id, unit.cipher).erase(memory_ids)
