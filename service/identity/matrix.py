"""The matrix of roles and calls (`api.md`, "Roles"), as scopes. It is law: no bundle can widen it.

Each operation demands one scope; a role holds a fixed set of them; a delegated credential holds the
intersection of the agent's and the user's.
"""

from types import MappingProxyType
from typing import Final

from service.identity.model import Role

EXECUTIONS_WRITE: Final = "executions:write"
EXECUTIONS_READ: Final = "executions:read"
EXECUTIONS_READ_REDACTED: Final = "executions:read_redacted"
EXECUTIONS_OPERATE: Final = "executions:operate"
EXECUTIONS_CANCEL_OWN: Final = "executions:cancel_own"
CONTRACTS_CONFIRM: Final = "contracts:confirm"
CHECKS_WRITE: Final = "checks:write"
APPROVALS_DECIDE: Final = "approvals:decide"
TIMELINE_READ: Final = "timeline:read"
EVIDENCE_WRITE: Final = "evidence:write"
EVIDENCE_READ: Final = "evidence:read"
PACKAGES_BUILD: Final = "packages:build"
PACKAGES_EXPLAIN: Final = "packages:explain"
PACKAGES_EXPLAIN_REDACTED: Final = "packages:explain_redacted"
MEMORIES_PROPOSE: Final = "memories:propose"
PROPOSALS_READ: Final = "proposals:read"
PROPOSALS_DECIDE: Final = "proposals:decide"
MEMORIES_READ: Final = "memories:read"
MEMORIES_OWN: Final = "memories:own"
QUARANTINES_WRITE: Final = "quarantines:write"
QUARANTINES_READ: Final = "quarantines:read"
SUBJECTS_ERASE: Final = "subjects:erase"
POLICIES_READ: Final = "policies:read"
POLICIES_VALIDATE: Final = "policies:validate"
POLICIES_ACTIVATE: Final = "policies:activate"
AUDIT_READ: Final = "audit:read"
TENANT_ADMIN: Final = "tenant:admin"

SCOPES_BY_ROLE: Final = MappingProxyType(
    {
        Role.AGENT: frozenset(
            {
                EXECUTIONS_WRITE,
                EXECUTIONS_READ,
                EVIDENCE_WRITE,
                EVIDENCE_READ,
                PACKAGES_BUILD,
                PACKAGES_EXPLAIN,
                MEMORIES_PROPOSE,
                PROPOSALS_READ,
                MEMORIES_READ,
            }
        ),
        Role.USER: frozenset(
            {
                EXECUTIONS_WRITE,
                EXECUTIONS_READ,
                EXECUTIONS_CANCEL_OWN,
                CONTRACTS_CONFIRM,
                APPROVALS_DECIDE,
                EVIDENCE_WRITE,
                EVIDENCE_READ,
                PACKAGES_BUILD,
                PACKAGES_EXPLAIN,
                MEMORIES_PROPOSE,
                PROPOSALS_READ,
                PROPOSALS_DECIDE,
                MEMORIES_READ,
                MEMORIES_OWN,
            }
        ),
        Role.REVIEWER: frozenset(
            {
                EXECUTIONS_READ,
                CONTRACTS_CONFIRM,
                APPROVALS_DECIDE,
                EVIDENCE_WRITE,
                EVIDENCE_READ,
                PACKAGES_EXPLAIN,
                PROPOSALS_READ,
                PROPOSALS_DECIDE,
                MEMORIES_READ,
                QUARANTINES_WRITE,
                QUARANTINES_READ,
            }
        ),
        # A grader reads a run with its packages' manifests, and writes nothing but checks.
        Role.GRADER: frozenset({EXECUTIONS_READ, PACKAGES_EXPLAIN, CHECKS_WRITE}),
        Role.POLICY_AUTHOR: frozenset({POLICIES_READ, POLICIES_VALIDATE}),
        Role.POLICY_ADMIN: frozenset({POLICIES_READ, POLICIES_VALIDATE, POLICIES_ACTIVATE}),
        Role.OPERATOR: frozenset(
            {
                EXECUTIONS_READ_REDACTED,
                EXECUTIONS_OPERATE,
                APPROVALS_DECIDE,
                TIMELINE_READ,
                PACKAGES_EXPLAIN_REDACTED,
                QUARANTINES_WRITE,
                QUARANTINES_READ,
            }
        ),
        Role.AUDITOR: frozenset(
            {
                EXECUTIONS_READ,
                TIMELINE_READ,
                EVIDENCE_READ,
                PACKAGES_EXPLAIN,
                QUARANTINES_READ,
                POLICIES_READ,
                AUDIT_READ,
            }
        ),
        Role.ADMIN: frozenset({TENANT_ADMIN, SUBJECTS_ERASE, QUARANTINES_WRITE, QUARANTINES_READ}),
        Role.SYSTEM: frozenset(),
    }
)

_NEVER_DELEGATED: Final = frozenset({PROPOSALS_DECIDE, APPROVALS_DECIDE, CONTRACTS_CONFIRM, MEMORIES_OWN})


def scopes_of(role: Role, *, delegated: bool) -> frozenset[str]:
    """Answer the scopes of a credential: a delegated one gets what both agent and user may do.

    An agent never approves, consents, corrects or activates, whoever it acts for.
    """
    if not delegated:
        return SCOPES_BY_ROLE[role]
    return (SCOPES_BY_ROLE[role] & SCOPES_BY_ROLE[Role.USER]) - _NEVER_DELEGATED
