"""The data map holds every field of every store, and says of each what is true."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from erasure_world import ErasureWorld, erasure_world
from sqlalchemy import Column, LargeBinary, MetaData, String, Table
from sqlmodel import SQLModel

from service.adapters.keystore_tables import METADATA
from service.adapters.subject_cipher import _header_of, _key_ids_of
from service.core.database import Database
from service.entry.cli import main
from service.entry.data_map import REQUEST_LINE, data_map
from service.entry.data_map_page import render_page
from service.governance import handling, retention
from service.governance.columns import ColumnUnknown, Personal, SealedUnder, describe
from service.governance.data_map import Place, is_sealed, map_record
from service.governance.registry import INDEX, KEYS, STORES

ROOT = Path(__file__).parents[1]
FIELDS = data_map()
SEALED = [field for field in FIELDS if is_sealed(field)]
TABLES = SQLModel.metadata.tables


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[ErasureWorld]:
    with erasure_world(database, tmp_path / "data", clock) as world:
        yield world


def test_every_field_of_the_record_and_of_the_key_store_is_mapped() -> None:
    mapped = {(field.store, field.table, field.field) for field in FIELDS}
    record = {
        (Place.RECORD, table.name, column.name) for table in TABLES.values() for column in table.columns
    }
    keys = {
        (Place.KEY_STORE, table.name, column.name)
        for table in METADATA.tables.values()
        for column in table.columns
    }

    assert len(record) > 400
    assert record | keys <= mapped
    assert len(mapped) == len(FIELDS)
    assert {field.store for field in FIELDS} == set(Place)


def test_why_and_how_long_is_said_of_every_table_and_of_none_that_is_gone() -> None:
    assert set(handling.OF_TABLE) == set(TABLES)
    assert set(retention.OF_TABLE) == set(TABLES)


def test_a_new_table_or_column_is_refused_until_somebody_says_what_it_holds() -> None:
    unknown = Table("gossip", MetaData(), Column("tenant_id", String(36), primary_key=True))

    with pytest.raises(LookupError):
        map_record(unknown.metadata)
    with pytest.raises(ColumnUnknown):
        describe("turns", Column("whisper", String(200)))


def test_every_ciphertext_is_personal_and_sealed_and_every_erasing_store_is_one_of_a_receipt() -> None:
    ciphertexts = {
        (table.name, column.name)
        for table in TABLES.values()
        for column in table.columns
        if isinstance(column.type, LargeBinary)
    }
    sealed = {
        (field.table, field.field) for field in FIELDS if field.store is Place.RECORD and is_sealed(field)
    }
    receipts = {store.name for store in STORES} | {KEYS, INDEX}

    assert sealed == ciphertexts
    assert {name for field in FIELDS for name in field.erased_by} <= receipts
    assert all(field.described.personal is Personal.PERSONAL for field in SEALED)


def test_words_about_a_person_are_erased_by_some_store() -> None:
    kept = {
        f"{field.table}.{field.field}"
        for field in FIELDS
        if field.store is Place.RECORD
        and field.described.personal is Personal.PERSONAL
        and not field.erased_by
    }

    # The name in an erasure goes at its end; a quarantine's reason is about a source.
    assert kept == {"erasures.subject", "quarantines.reason"}


def test_each_ciphertext_rests_under_the_key_that_the_map_names(world: ErasureWorld) -> None:
    world.leave_traces()
    hold = {"scope": "subject", "ref": "user-1", "basis": "a claim"}
    world.call("POST", "/holds", world.admin(), hold, expect=201)
    runtime, tenant_id = world.memories.site.runtime, world.memories.site.tenants["acme"]
    sealed = {(field.table, field.field): field.described.sealed_under for field in SEALED}
    own = runtime.ciphers.for_tenant(tenant_id).seal("x", subjects=(), place="x")
    tenant_key = _key_ids_of(_header_of(own))
    found = []

    with runtime.database.read(tenant_id) as session:
        for (table, column), under in sealed.items():
            if table not in TABLES:
                continue
            query = TABLES[table].select().where(TABLES[table].c[column].is_not(None))
            for row in session.connection().execute(query).mappings().all():
                if not row[column]:
                    continue
                is_tenants = _key_ids_of(_header_of(row[column])) == tenant_key
                found.append((table, column, under, is_tenants))

    assert len({(table, column) for table, column, *_ in found}) >= 18
    # What is about nobody rests under the tenant's key: the derived item, and an answer of ids and codes.
    wrong = [entry for entry in found if entry[3] is not (entry[2] is SealedUnder.TENANT)]
    assert {table for table, *_ in wrong} <= {"evidence_versions", "evidence_chunks", "idempotency"}


def test_a_request_logs_the_fields_of_the_map_and_no_others(
    world: ErasureWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    import structlog  # noqa: PLC0415 - only this test configures it

    logging.getLogger().handlers.clear()
    with structlog.testing.capture_logs() as lines:
        world.memories.site.client.get("/healthz")
    del capsys
    request = next(line for line in lines if line["event"] == "request")

    assert set(request) - {"log_level"} == set(REQUEST_LINE) - {"level", "timestamp"}


def test_the_page_is_up_to_date() -> None:
    # `muniment data-map > docs/data-map.md` writes it anew.
    assert (ROOT / "docs/data-map.md").read_text() == render_page(FIELDS)


def test_the_command_answers_every_field_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data-map", "--json"]) == 0

    assert len(json.loads(capsys.readouterr().out)["items"]) == len(FIELDS)
