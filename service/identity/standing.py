"""Whether somebody who is not asking now could still do what they did: rights are read when they are used."""

from service.identity.model import Role
from service.identity.store import IdentityStore
from service.identity.unit import Unit


def is_member(subject: str, *, project_id: str, unit: Unit) -> bool:
    """Say whether the subject may still enter the project, whoever holds a key for it."""
    return bool(IdentityStore.of(unit).projects_of((subject,), project_id=project_id))


def still_stands(
    role: Role, subject: str, *, project_id: str, unit: Unit, on_behalf_of: str | None = None
) -> bool:
    """Say whether the subject still holds a living key of that role that enters the project.

    With `on_behalf_of`, one that acts for that user. It need not be the key that was used before.
    """
    store = IdentityStore.of(unit)
    keys = store.living_keys_of(role, subject, on_behalf_of=on_behalf_of, now=unit.now)
    return any(
        key.project_id in (None, project_id) and store.projects_of(key.member_subjects, project_id=project_id)
        for key in keys
    )
