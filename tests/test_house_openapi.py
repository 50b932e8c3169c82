"""The OpenAPI document: every operation says who may call it, how it looks, and how it refuses."""

from collections.abc import Iterator
from typing import Any

import http_notes
import jsonschema_rs
import pytest
from conftest import FixedClock
from http_support import open_site

from service.core.database import Database
from service.entry.http.problems import PROBLEM_MEDIA_TYPE, STATUS_BY_KIND
from service.identity import matrix

METHODS = {"get", "put", "post", "patch", "delete"}
SCOPES = frozenset().union(*matrix.SCOPES_BY_ROLE.values())

Operation = tuple[str, dict[str, Any]]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The document of the real application with the tests' own routes beside the service's."""
    folder = tmp_path_factory.mktemp("openapi")
    database = Database(f"sqlite:///{folder / 'record.db'}")
    with open_site(database, folder / "data", FixedClock(), routers=[http_notes.router]) as site:
        yield site.client.get("/v1/openapi.json", headers=site.headers()).raise_for_status().json()
    database.close()


@pytest.fixture(scope="module")
def operations(document: dict[str, Any]) -> list[Operation]:
    found = [
        (f"{method.upper()} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    ]
    assert len(found) >= 10
    return found


def test_it_is_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")


def test_every_operation_demands_scopes_that_exist(operations: list[Operation]) -> None:
    demanded = {
        name: {scope for requirement in operation["security"] for scope in requirement["credential"]}
        for name, operation in operations
    }

    assert [name for name, scopes in demanded.items() if not scopes or not scopes <= SCOPES] == []


def test_every_operation_has_a_summary_and_an_id_of_its_own(operations: list[Operation]) -> None:
    ids = [operation["operationId"] for _, operation in operations]

    assert [name for name, operation in operations if not operation.get("summary")] == []
    assert len(set(ids)) == len(ids)


def test_every_operation_has_an_example_that_its_schema_accepts(
    document: dict[str, Any], operations: list[Operation]
) -> None:
    faults = []
    for name, operation in operations:
        examples = list(_examples(operation))
        # What takes and answers nothing has nothing to show.
        if not examples and "204" not in operation["responses"]:
            faults.append(f"{name}: no example")
        for schema, example in examples:
            whole = {**schema, "components": document["components"]}
            faults += [f"{name}: {error.message}" for error in jsonschema_rs.iter_errors(whole, example)]

    assert faults == []


def test_every_operation_documents_its_problems_in_one_shape(operations: list[Operation]) -> None:
    faults = []
    for name, operation in operations:
        expected = {"401", "403", "422", "429", "503"} | ({"404"} if "{" in name else set())
        if "requestBody" in operation:
            expected |= {"413", "415"}
        if missing := expected - operation["responses"].keys():
            faults.append(f"{name}: {sorted(missing)} are missing")
        for status, response in operation["responses"].items():
            if int(status) in STATUS_BY_KIND.values():
                schema = response["content"][PROBLEM_MEDIA_TYPE]["schema"]
                if schema != {"$ref": "#/components/schemas/Problem"}:
                    faults.append(f"{name}: {status} has a shape of its own")

    assert faults == []


def test_no_request_names_a_tenant_and_all_refuse_unknown_fields(
    document: dict[str, Any], operations: list[Operation]
) -> None:
    used = {
        operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rsplit("/")[-1]
        for _, operation in operations
        if "requestBody" in operation
    }
    schemas = document["components"]["schemas"]

    assert used
    assert [name for name in used if schemas[name].get("additionalProperties") is not False] == []
    assert [name for name in used if "tenant" in str(schemas[name]["properties"].keys())] == []


def _examples(operation: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    answers = [response for status, response in operation["responses"].items() if status.startswith("2")]
    for part in (operation.get("requestBody", {}), *answers):
        for content in part.get("content", {}).values():
            if "example" in content:
                yield content.get("schema", {}), content["example"]
