"""The edge: what has been erased is not answered again, and its old answers say so."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from http_support import Site, open_site

from service.core.database import Database


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    with open_site(database, tmp_path / "data", clock) as site:
        yield site


def test_repeating_the_request_of_deleted_evidence_is_410_and_revives_nothing(site: Site) -> None:
    headers = site.headers()
    keyed = headers | {"Idempotency-Key": "k-1"}
    body = {
        "project": "alpha",
        "text": "Plot 18: outline consent granted.",
        "source": {"uri": "register://plots/18", "kind": "record", "observed_at": "2026-11-30T10:00:00Z"},
    }
    added = site.client.post("/v1/evidence", headers=keyed, json=body)
    evidence = added.raise_for_status().json()["id"]
    site.client.delete(f"/v1/evidence/{evidence}", headers=headers).raise_for_status()

    again = site.client.post("/v1/evidence", headers=keyed, json=body)

    assert (again.status_code, again.json()["code"]) == (410, "erased")
    assert site.client.get(f"/v1/evidence/{evidence}", headers=headers).status_code == 404
