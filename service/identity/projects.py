"""Projects of a tenant and who is a member of them."""

from typing import Final

from service.core.errors import Conflict, NotFound
from service.core.paging import Page, PageRequest
from service.core.tombstones import Right, right_ref
from service.identity.model import Member, Project
from service.identity.ports import Trail
from service.identity.rules import check_name
from service.identity.store import PROJECTS_MAX, IdentityStore
from service.identity.unit import Unit

MEMBER_REMOVED_TOPIC: Final = "member.removed"
"""The message that a membership has ended; it holds the project's id and the subject."""


class TooManyProjects(Conflict):
    """The tenant has as many projects as it can have."""

    code = "too_many_projects"
    title = f"A tenant has at most {PROJECTS_MAX:,} projects"


def create_project(name: str, *, unit: Unit, trail: Trail) -> Project:
    """Make a project without members. Raises `ProjectExists`, `TooManyProjects`, `Invalid` for no name."""
    project = Project(unit.ids(), check_name(name, pointer="/name"))
    store = IdentityStore.of(unit)
    if store.count_projects() >= PROJECTS_MAX:
        raise TooManyProjects
    store.add_project(project, now=unit.now)
    trail(unit, "project.created", kind="project", ref=project.id)
    return project


def get_project(name: str, *, unit: Unit) -> Project:
    """Answer the tenant's project of that name, whoever is a member. Raises `NotFound`."""
    project = IdentityStore.of(unit).find_project(name)
    if project is None:
        raise NotFound("There is no project of that name.")
    return project


def list_projects(request: PageRequest, *, unit: Unit) -> Page[Project]:
    """Answer the tenant's projects in the order of their names."""
    return IdentityStore.of(unit).list_projects(request)


def add_member(project: Project, subject: str, *, unit: Unit, trail: Trail) -> bool:
    """Make the subject a member, from its next request on; say whether it was none before."""
    check_name(subject, pointer="/subject")
    added = IdentityStore.of(unit).add_member(project.id, subject, now=unit.now)
    if added:
        trail(unit, "member.added", kind="project", ref=project.id, subject=subject)
    return added


def remove_member(project: Project, subject: str, *, unit: Unit, trail: Trail) -> bool:
    """End a membership, from the next request on; say whether there was one.

    What the subject left behind in the project is told of it by a message.
    """
    removed = IdentityStore.of(unit).remove_member(project.id, subject)
    if removed:
        unit.end_right(Right.MEMBER, right_ref(project.id, subject))
        unit.stage(MEMBER_REMOVED_TOPIC, project_id=project.id, subject=subject)
        trail(unit, "member.removed", kind="project", ref=project.id, subject=subject)
    return removed


def list_members(project: Project, request: PageRequest, *, unit: Unit) -> Page[Member]:
    """Answer a project's members in the order of their names."""
    return IdentityStore.of(unit).list_members(project, request)
