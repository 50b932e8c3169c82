"""`uses`: every package that showed a memory."""

from service.context.store_uses import Use, UseStore
from service.core.errors import NotFound
from service.core.paging import Page, PageRequest
from service.identity.model import Role
from service.identity.unit import Unit
from service.memories.store import MemoryStore
from service.policies.model import Bundle


def page_uses(memory_id: str, page: PageRequest, *, unit: Unit, bundle: Bundle) -> Page[Use]:
    """Answer a page of the packages that showed a memory, newest first.

    The person whom it is about sees all of them; others who may read it see those of their projects. Raises
    `NotFound` for a memory that the caller may not read.
    """
    caller = unit.caller
    memory = MemoryStore.of(unit, bundle).get_readable(memory_id, caller=caller, now=unit.now)
    if memory is None:
        raise NotFound
    is_theirs = caller.role is Role.USER and memory.content.subject == caller.person
    project_ids = None if is_theirs else caller.project_ids
    return UseStore.of(unit).page("memory", memory_id, page, project_ids=project_ids)
