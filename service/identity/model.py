"""Callers and what they may see. A caller is made from a credential and from nothing else."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final


class Role(StrEnum):
    """What a credential is for. `api.md`'s matrix says which calls each may make."""

    AGENT = "agent"
    USER = "user"
    REVIEWER = "reviewer"
    GRADER = "grader"
    POLICY_AUTHOR = "policy_author"
    POLICY_ADMIN = "policy_admin"
    OPERATOR = "operator"
    AUDITOR = "auditor"
    ADMIN = "admin"
    SYSTEM = "system"
    """The service's own jobs. No key can carry it."""


TENANT_WIDE_ROLES: Final = frozenset(
    {Role.POLICY_AUTHOR, Role.POLICY_ADMIN, Role.OPERATOR, Role.AUDITOR, Role.ADMIN, Role.SYSTEM}
)
"""Roles that stand beside the projects: they see each project of the tenant unless their key names one."""


@dataclass(frozen=True, slots=True)
class Project:
    """A project's identity and name."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is asking, read anew from the record for this request.

    `subject` is the principal that holds the credential, `on_behalf_of` the user of a delegated one.
    `projects` are those that both may enter. `source_grants` are the sources it may submit evidence of.
    """

    tenant_id: str
    credential_id: str
    role: Role
    subject: str
    on_behalf_of: str | None
    projects: frozenset[Project]
    scopes: frozenset[str]
    source_grants: frozenset[str] = frozenset()

    @property
    def sub(self) -> str:
        """The acting user: for a delegated credential the user, else the holder itself."""
        return self.on_behalf_of or self.subject

    @property
    def act(self) -> str | None:
        """The agent of a delegated credential, or `None`."""
        return self.subject if self.on_behalf_of else None

    @property
    def person(self) -> str | None:
        """The person whose own things (memories, consents) this credential reaches, or `None`.

        An agent that acts for nobody has no person.
        """
        if self.on_behalf_of:
            return self.on_behalf_of
        return None if self.role in (Role.AGENT, Role.SYSTEM) else self.subject

    @property
    def principal(self) -> str:
        """A stable name for idempotency, audit and rates: role, holder and user."""
        return f"{self.role}:{self.subject}" + (f":for:{self.on_behalf_of}" if self.on_behalf_of else "")

    @property
    def project_ids(self) -> frozenset[str]:
        """Ids of the projects that the caller may enter."""
        return frozenset(project.id for project in self.projects)

    @property
    def reader_labels(self) -> frozenset[str]:
        """The labels that match this caller: `project:ID`, `user:SUB` and, undelegated, `role:ROLE`.

        A delegated credential carries no role label: user and agent have different roles, and what it may
        read is the intersection. (Clients write `project:NAME`; it is stored with the project's id.)
        """
        labels = {f"project:{project.id}" for project in self.projects} | {f"user:{self.sub}"}
        if not self.on_behalf_of:
            labels.add(f"role:{self.role}")
        return frozenset(labels)


@dataclass(frozen=True, slots=True)
class Tenant:
    """A customer: everything else belongs to exactly one."""

    id: str
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Member:
    """A subject in a project."""

    project: Project
    subject: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What may be known of a credential: everything but its secret.

    `project_id` is the one project that it names, or `None`. `sources` are the kinds of source it may submit
    evidence of.
    """

    tenant_id: str
    id: str
    role: Role
    subject: str
    on_behalf_of: str | None
    project_id: str | None
    sources: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None

    def is_live(self, now: datetime) -> bool:
        """Say whether the key counts at `now`: it is not revoked and its end has not come."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    @property
    def delegated(self) -> bool:
        """Whether it names a user beside the agent."""
        return self.on_behalf_of is not None

    @property
    def member_subjects(self) -> tuple[str, ...]:
        """The subjects that must all be members of a project for this key to enter it; none: any project."""
        if self.role in TENANT_WIDE_ROLES:
            return ()
        return (self.subject,) if self.on_behalf_of is None else (self.subject, self.on_behalf_of)


@dataclass(frozen=True, slots=True)
class NewKey:
    """What is asked for when a key is made. `project` is a name; `lifetime` of `None` means without end."""

    role: Role
    subject: str
    on_behalf_of: str | None = None
    project: str | None = None
    sources: tuple[str, ...] = ()
    lifetime: timedelta | None = None


class KeyWarning(StrEnum):
    """Why a key that was made will not reach anything yet. Append only."""

    USER_NOT_A_MEMBER = "user_not_a_member"
    NO_PROJECT = "no_project"


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A key at its making, with the token that is never shown again.

    `member_added` says that the holder became a member of the key's project by it.
    """

    key: ApiKey
    token: str = field(repr=False)
    project: Project | None
    member_added: bool
    warnings: tuple[KeyWarning, ...]
