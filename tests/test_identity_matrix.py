"""The matrix of roles and calls, restated as it was agreed, against the scopes that roles hold."""

import pytest

from service.identity import matrix
from service.identity.matrix import SCOPES_BY_ROLE, scopes_of
from service.identity.model import Role

COLUMNS = [
    Role.AGENT,
    Role.USER,
    Role.REVIEWER,
    Role.GRADER,
    Role.POLICY_AUTHOR,
    Role.POLICY_ADMIN,
    Role.OPERATOR,
    Role.AUDITOR,
    Role.ADMIN,
]

# One line for each call, one column for each role, in the order above: the scopes that a cell gives, by the
# letters of the legend on the right; a dot gives none.
ROWS: list[tuple[str, str, dict[str, str]]] = [
    ("drive an execution", "w w . . . . . . .", {"w": matrix.EXECUTIONS_WRITE}),
    (
        "read an execution, handoff, log",
        "r r r r . . x r .",
        {"r": matrix.EXECUTIONS_READ, "x": matrix.EXECUTIONS_READ_REDACTED},
    ),
    ("confirm a task contract", ". c c . . . . . .", {"c": matrix.CONTRACTS_CONFIRM}),
    ("write a check, list check-requests", ". . . c . . . . .", {"c": matrix.CHECKS_WRITE}),
    ("decide an approval", ". d d . . . d . .", {"d": matrix.APPROVALS_DECIDE}),
    (
        "reconcile, cancel, retry, repair",
        ". c . . . . o . .",
        {"o": matrix.EXECUTIONS_OPERATE, "c": matrix.EXECUTIONS_CANCEL_OWN},
    ),
    ("timeline, dead letters", ". . . . . . t t .", {"t": matrix.TIMELINE_READ}),
    ("add and delete evidence", "w w w . . . . . .", {"w": matrix.EVIDENCE_WRITE}),
    ("search and get evidence", "r r r . . . . r .", {"r": matrix.EVIDENCE_READ}),
    ("build and replay a package", "b b . . . . . . .", {"b": matrix.PACKAGES_BUILD}),
    (
        "read and explain a package's manifest",
        "e e e e . . x e .",
        {"e": matrix.PACKAGES_EXPLAIN, "x": matrix.PACKAGES_EXPLAIN_REDACTED},
    ),
    ("propose a memory", "p p . . . . . . .", {"p": matrix.MEMORIES_PROPOSE}),
    # A proposer sees what became of its own proposals.
    ("read proposals", "r r r . . . . . .", {"r": matrix.PROPOSALS_READ}),
    ("decide a proposal", ". d d . . . . . .", {"d": matrix.PROPOSALS_DECIDE}),
    ("read memories", "r r r . . . . . .", {"r": matrix.MEMORIES_READ}),
    ("correct, delete, export memories; consent", ". o . . . . . . .", {"o": matrix.MEMORIES_OWN}),
    # The agreed matrix is silent here: reviewers judge, operators and admins stop harm, auditors look on.
    ("quarantine and release", ". . q . . . q . q", {"q": matrix.QUARANTINES_WRITE}),
    ("look at quarantines", ". . q . . . q q q", {"q": matrix.QUARANTINES_READ}),
    ("erase a subject, holds", ". . . . . . . . e", {"e": matrix.SUBJECTS_ERASE}),
    ("read policies", ". . . . r r . r .", {"r": matrix.POLICIES_READ}),
    ("validate, simulate policy", ". . . . v v . . .", {"v": matrix.POLICIES_VALIDATE}),
    ("activate, roll back policy", ". . . . . a . . .", {"a": matrix.POLICIES_ACTIVATE}),
    ("audit, evidence bundles", ". . . . . . . a .", {"a": matrix.AUDIT_READ}),
    ("tenants, projects, members, keys", ". . . . . . . . t", {"t": matrix.TENANT_ADMIN}),
]
SCOPES = {
    value
    for name, value in vars(matrix).items()
    if name.isupper() and isinstance(value, str) and ":" in value
}


def test_the_table_speaks_of_every_scope_and_every_role() -> None:
    named = {scope for _, _, legend in ROWS for scope in legend.values()}

    assert named == SCOPES
    assert len(SCOPES) == 27
    assert {*COLUMNS, Role.SYSTEM} == set(Role) == set(SCOPES_BY_ROLE)
    assert all(len(cells.split()) == len(COLUMNS) for _, cells, _ in ROWS)


@pytest.mark.parametrize(("column", "role"), list(enumerate(COLUMNS)))
def test_each_role_holds_what_its_column_gives_and_nothing_else(column: int, role: Role) -> None:
    given = {legend[cell] for _, cells, legend in ROWS if (cell := cells.split()[column]) != "."}

    assert scopes_of(role, delegated=False) == given


def test_the_services_own_role_holds_nothing() -> None:
    assert scopes_of(Role.SYSTEM, delegated=False) == set()


def test_a_delegated_credential_holds_what_both_hold_and_never_a_persons_word() -> None:
    delegated = scopes_of(Role.AGENT, delegated=True)

    assert delegated == SCOPES_BY_ROLE[Role.AGENT] & SCOPES_BY_ROLE[Role.USER]
    for scope in (
        matrix.APPROVALS_DECIDE,
        matrix.CHECKS_WRITE,
        matrix.CONTRACTS_CONFIRM,
        matrix.MEMORIES_OWN,
        matrix.POLICIES_ACTIVATE,
        matrix.PROPOSALS_DECIDE,
    ):
        assert scope not in delegated
        assert scope not in SCOPES_BY_ROLE[Role.AGENT]
