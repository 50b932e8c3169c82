"""The agreed matrix of roles and calls, held against every operation that the application serves."""

import re
from collections.abc import Iterator

import pytest
from conftest import FixedClock
from http_support import Site, open_site

from service.core.database import Database
from service.core.ids import new_id
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
METHODS = {"get", "put", "post", "patch", "delete"}

# Which roles may make a call: one column for each, in the order above. The first line that fits counts.
ROWS: list[tuple[str, str]] = [
    (r"GET /v1/openapi\.json", "+ + + + + + + + +"),
    (r"GET /v1/audit", ". + . . . . . + ."),
    (r"GET /v1/(data-map|records-of-processing)", ". . . . + + . + +"),
    (r"(GET|DELETE) /v1/delegations.*", ". + . . . . . . ."),
    (r"GET /v1/executions/\{\w+\}/bundle", ". . . . . . . + ."),
    (r"GET /v1/memories/\{\w+\}/bundle", ". + . . . . . + ."),
    (r"POST /v1/executions/\{\w+\}/contract/confirm", ". + + . . . . . ."),
    (r"POST /v1/executions/\{\w+\}/checks", ". . . + . . . . ."),
    (r"GET /v1/(executions/\{\w+\}/)?check-requests", ". . . + . . . . ."),
    (r"GET /v1/executions/\{\w+\}/timeline", ". . . . . . + + ."),
    (r"POST /v1/executions/\{\w+\}/cancel", ". + . . . . + . ."),
    (r"POST /v1/executions/\{\w+\}/retry", ". . . . . . + . ."),
    (r"POST /v1/executions/\{\w+\}/effects/\{\w+\}/reconcile", "+ + . . . . + . ."),
    (r"DELETE /v1/executions/\{\w+\}/lease", "+ + . . . . . . ."),
    (r"DELETE /v1/executions/\{\w+\}/content", ". + . . . . . . +"),
    (r"(POST|PUT|PATCH) /v1/executions.*", "+ + . . . . . . ."),
    (r"GET /v1/executions.*", "+ + + + . . + + ."),
    (r"POST /v1/approvals/\{\w+\}/decision", ". + + . . . + . ."),
    (r"POST /v1/approvals/\{\w+\}/redeem", "+ + . . . . . . ."),
    (r"POST /v1/approvals/\{\w+\}/cancel", "+ + + . . . + . ."),
    (r"GET /v1/approvals.*", "+ + + + . . + + ."),
    (r"POST /v1/evidence/(search|\{\w+\}/grep)", "+ + + . . . . + ."),
    (r"GET /v1/evidence/.*", "+ + + . . . . + ."),
    (r"(POST|DELETE) /v1/evidence.*", "+ + + . . . . . ."),
    (r"POST /v1/context-packages.*", "+ + . . . . . . ."),
    (r"GET /v1/context-packages/.*", "+ + + + . . + + ."),
    (r"POST /v1/memory-proposals", "+ + . . . . . . ."),
    (r"POST /v1/memory-proposals/.*", ". + + . . . . . ."),
    (r"GET /v1/memory-proposals.*", "+ + + . . . . . ."),
    (r"POST /v1/memories/search", "+ + + . . . . . ."),
    (r"GET /v1/memories.*", "+ + + . . . . . ."),
    (r"(POST|PUT|PATCH|DELETE) /v1/memories/.*", ". + . . . . . . ."),
    (r"(GET|PUT) /v1/(consents|refusals).*", ". + . . . . . . ."),
    (r"GET /v1/erasures/.*", ". + . . . . . . +"),
    (r"DELETE /v1/subjects/\{\w+\}", ". + . . . . . . +"),
    (r"(POST|GET|DELETE) /v1/holds.*", ". . . . . . . . +"),
    (r"GET /v1/quarantines.*", ". . + . . . + + +"),
    (r"POST /v1/quarantines.*", ". . + . . . + . +"),
    (r"GET /v1/subjects/\{\w+\}/export", ". + . . . . . . ."),
    (r"POST /v1/memory-imports", ". + . . . . . . ."),
    (r"GET /v1/policies.*", ". . . . + + . + ."),
    (r"POST /v1/policies/(validate|edits|simulations|differences)", ". . . . + + . . ."),
    (r"(POST|DELETE) /v1/policies/.*", ". . . . . + . . ."),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("matrix")
    database = Database(f"sqlite:///{folder / 'record.db'}")
    with open_site(database, folder / "data", FixedClock()) as opened:
        yield opened
    database.close()


@pytest.fixture(scope="module")
def operations(site: Site) -> list[tuple[str, str]]:
    document = site.client.get("/v1/openapi.json", headers=site.headers()).raise_for_status().json()
    found = [
        (method.upper(), path)
        for path, methods in document["paths"].items()
        for method in methods
        if method in METHODS and path.startswith("/v1/")
    ]
    assert len(found) >= 30
    return found


def _may_call(operation: str) -> set[Role]:
    for pattern, cells in ROWS:
        if re.fullmatch(pattern, operation):
            return {role for role, cell in zip(COLUMNS, cells.split(), strict=True) if cell == "+"}
    pytest.fail(f"{operation} is not in the matrix: say who may call it")


@pytest.mark.parametrize("role", COLUMNS)
def test_a_role_is_refused_exactly_what_the_matrix_does_not_give(
    site: Site, operations: list[tuple[str, str]], role: Role
) -> None:
    headers = site.headers(role, subject=f"{role}-1")
    wrong = []
    for method, path in operations:
        address = re.sub(r"\{\w+\}", new_id(), path)
        answer = site.client.request(method, address, headers=headers)
        refused = answer.status_code == 403
        if refused == (role in _may_call(f"{method} {path}")):
            wrong.append(f"{method} {path}: {answer.status_code}")

    assert wrong == []


def test_a_delegated_agent_is_refused_what_an_agent_is(site: Site, operations: list[tuple[str, str]]) -> None:
    headers = site.headers(Role.AGENT, subject="agent-1", on_behalf_of="user-1")

    refused = {
        f"{method} {path}"
        for method, path in operations
        if site.client.request(method, re.sub(r"\{\w+\}", new_id(), path), headers=headers).status_code == 403
    }

    names = {f"{method} {path}" for method, path in operations}
    assert refused == {name for name in names if Role.AGENT not in _may_call(name)}


def test_nobody_is_answered_without_a_credential(site: Site, operations: list[tuple[str, str]]) -> None:
    for method, path in operations:
        assert site.client.request(method, path).status_code == 401
