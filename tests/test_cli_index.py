"""Rebuilding, verifying and repairing the index from the command line, on a service's own data."""

import shutil
from pathlib import Path

import httpx
import pytest

from service.entry.demo.local_service import LocalServiceFailed, environment_of, local_service, run_command

POLICIES = Path(__file__).parents[1] / "policies"


def search(folder: Path) -> list[str]:
    with local_service(folder, POLICIES) as service:
        token = service.key("acme", "--project", "alpha", "--role", "agent", "--subject", "agent-1")
        answer = httpx.post(
            f"{service.address}/v1/evidence/search",
            headers={"Authorization": f"Bearer {token}"},
            json={"project": "alpha", "query": "plot 18", "limit": 5},
        )
        return [item["text"] for item in answer.raise_for_status().json()["items"]]


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    with local_service(tmp_path, POLICIES) as service:
        service.command("tenants", "create", "acme")
        service.command("projects", "create", "--tenant", "acme", "--name", "alpha")
        token = service.key("acme", "--project", "alpha", "--role", "agent", "--subject", "agent-1")
        source = {"uri": "doc://18", "kind": "document", "observed_at": "2026-11-30T09:00:00Z"}
        answer = httpx.post(
            f"{service.address}/v1/evidence",
            headers={"Authorization": f"Bearer {token}"},
            json={"project": "alpha", "text": "Plot 18 has outline consent.", "source": source},
        )
        answer.raise_for_status()
    return tmp_path


def test_an_index_that_was_dropped_is_rebuilt_from_the_record(filled: Path) -> None:
    environment = environment_of(filled, POLICIES)
    whole = run_command(environment, "index", "verify", "--tenant", "acme")["items"]
    assert [(row["kind"], row["expected"], row["missing"]) for row in whole] == [
        ("evidence", 1, 0),
        ("memory", 0, 0),
    ]
    shutil.rmtree(filled / "data/index")

    written = run_command(environment, "reindex")["items"]

    assert [(row["kind"], row["passages"]) for row in written] == [("evidence", 1), ("memory", 0)]
    assert run_command(environment, "index", "verify", "--tenant", "acme")["items"] == whole
    assert search(filled) == ["Plot 18 has outline consent."]


def test_an_embedded_index_in_use_is_left_alone_and_says_so(filled: Path) -> None:
    with (
        local_service(filled, POLICIES) as service,
        pytest.raises(LocalServiceFailed, match="Another process"),
    ):
        run_command(service.environment, "reindex")
