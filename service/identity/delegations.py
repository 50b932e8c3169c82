"""Who acts in a person's name, and how the person ends it."""

from dataclasses import dataclass
from typing import Final

from service.core.errors import NotFound
from service.core.paging import Page, PageRequest
from service.core.tombstones import Right
from service.identity.model import ApiKey
from service.identity.ports import Trail
from service.identity.store_delegations import DelegationStore
from service.identity.unit import Unit

_END: Final = "key.revoked"


@dataclass(frozen=True, slots=True)
class Delegation:
    """A living key with which an agent acts for a person. `project` is the only one it enters."""

    key: ApiKey
    project: str | None


def list_delegations(request: PageRequest, *, unit: Unit) -> Page[Delegation]:
    """Answer the living keys that act for the caller, in the order of their ids."""
    person = unit.caller.person
    if person is None:
        return Page([], None)
    page = DelegationStore(unit.session, unit.tenant_id).page(person, request, now=unit.now)
    return Page([Delegation(key, project) for key, project in page.items], page.next_cursor)


def end_delegation(key_id: str, *, unit: Unit, trail: Trail) -> None:
    """End a key that acts for the caller: it counts no more from the next request on.

    A lease that it holds lapses by itself. Raises `NotFound` for any other key, and for one that has ended.
    """
    person = unit.caller.person
    ended = person is not None and DelegationStore(unit.session, unit.tenant_id).end(
        key_id, person, now=unit.now
    )
    if not ended:
        raise NotFound
    unit.end_right(Right.KEY, key_id)
    trail(unit, _END, kind="key", ref=key_id)
