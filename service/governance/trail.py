"""Who reads what of the trail: auditors all of it, a person what happened to their own memories."""

from service.audit.model import Link
from service.audit.read import Asked, read_trail
from service.core.errors import Forbidden
from service.core.paging import Page, PageRequest
from service.governance.store_own import own_memory_ids
from service.identity.matrix import AUDIT_READ
from service.identity.store import IdentityStore
from service.identity.unit import Unit

OWN_KIND = "memory"
"""What the events are about that a person reads."""


def list_events(asked: Asked, request: PageRequest, *, unit: Unit) -> Page[Link]:
    """Answer a page of the trail as the caller may read it.

    Raises `Forbidden` for an auditor's key that names one project: events stand beside the projects.
    """
    caller = unit.caller
    if AUDIT_READ in caller.scopes:
        only_of_the_whole_tenant(unit)
        return read_trail(asked, request, unit=unit)
    if caller.person is None or asked.wanted.kind not in (None, OWN_KIND):
        return Page([], None)
    return read_trail(asked, request, unit=unit, refs=own_memory_ids(caller.person, unit=unit))


def only_of_the_whole_tenant(unit: Unit) -> None:
    """Raise `Forbidden` for a key that names one project."""
    key = IdentityStore.of(unit).find_key(unit.caller.credential_id)
    if key is not None and key.project_id is not None:
        raise Forbidden("The trail is of the whole tenant: a key that names one project does not read it.")
