"""No store of personal text can be skipped: every table and every column has an answer."""

import pytest
from sqlalchemy import JSON, Column, LargeBinary, Table
from sqlmodel import AutoString, SQLModel

from service.core.cipher import Cipher
from service.governance.model import Kind, Target
from service.governance.registry import NO_TEXT, PLAIN, STORES, stores_of
from service.governance.stores.store_people import ACCESS, DEEDS, NAMES
from service.governance.stores.store_rows import Reach, Rows, RowStore
from service.migrations.tables import load_tables

load_tables()
TABLES = SQLModel.metadata.tables
ID_ENDINGS = ("_id", "_ids")


class _NoCipher(Cipher):
    def keyed_hash(self, text: str) -> str:
        return f"hash of {len(text)}"


def _rows_of(name: str) -> list[Rows]:
    stores = [store for store in STORES if isinstance(store, RowStore) and store is not NAMES]
    return [rows for store in stores for rows in store.rows if rows.name == name]


def _emptied(rows: Rows) -> set[str]:
    target = Target("01939b5f-0000-7000-8000-000000000000", Kind.SUBJECT, "hash", "user-1")
    assert rows.emptied is not None
    return set(rows.emptied(Reach(target, "acme", _NoCipher())))


def _may_hold_words(column: Column[object]) -> bool:
    is_id = column.name == "id" or column.name.endswith(ID_ENDINGS)
    return isinstance(column.type, LargeBinary | JSON | AutoString) and not (is_id and column.name in _IDS)


_IDS = {
    "id",
    "approval_id",
    "credential_id",
    "erasure_id",
    "evidence_id",
    "execution_id",
    "item_id",
    "memory_id",
    "package_id",
    "project_id",
    "quarantine_id",
    "source_id",
    "tenant_id",
}


def test_every_table_is_in_the_registry_or_says_why_it_needs_not_be() -> None:
    registered = {name for store in STORES for name in store.tables}

    assert registered | set(NO_TEXT) == set(TABLES)
    assert registered & set(NO_TEXT) == set()


@pytest.mark.parametrize("name", sorted({name for store in STORES for name in store.tables}))
def test_every_column_that_may_hold_words_goes_or_is_emptied_or_says_why_it_stays(name: str) -> None:
    table: Table = TABLES[name]
    if any(rows.emptied is None and Kind.SUBJECT in rows.kinds for rows in _rows_of(name)):
        return

    answered = {column for rows in _rows_of(name) if rows.emptied for column in _emptied(rows)}
    answered |= {column.name for column in (*DEEDS, *ACCESS) if column.table.__tablename__ == name}
    answered |= {column.partition(".")[2] for column in PLAIN if column.startswith(f"{name}.")}
    silent = [column.name for column in table.columns if _may_hold_words(column)]

    assert [column for column in silent if column not in answered] == []


def test_every_ciphertext_that_stays_is_about_no_person() -> None:
    kept = {
        f"{table.name}.{column.name}"
        for table in TABLES.values()
        for column in table.columns
        if isinstance(column.type, LargeBinary) and f"{table.name}.{column.name}" in PLAIN
    }

    assert kept == {"quarantines.reason"}


def test_every_column_that_names_who_did_something_gives_the_name_up() -> None:
    words = {"by", "said_by", "opened_by", "created_by", "settled_by", "decided_by", "built_by", "holder"}
    words |= {"requested_by", "released_by", "acting_user", "person", "agent", "subject", "on_behalf_of"}
    words |= {"contract_confirmed_by", "proposer", "label", "requester", "principal"}
    given_up = {(column.table.__tablename__, column.name) for column in (*DEEDS, *ACCESS)}
    naming = {
        (table.name, column.name)
        for table in TABLES.values()
        for column in table.columns
        if column.name in words
    }

    # Who asked for an erasure, plan, activation or shadow is a keyed hash; the trail keeps pseudonyms.
    assert naming - given_up == {
        ("audit_events", "principal"),
        ("erasures", "requester"),
        ("policy_activations", "requester"),
        ("policy_shadows", "requester"),
        ("policy_plans", "requester"),
        ("erasures", "subject"),
    }


def test_nothing_stays_listed_that_is_not_there() -> None:
    known = {f"{table.name}.{column.name}" for table in TABLES.values() for column in table.columns}

    assert set(PLAIN) <= known
    assert set(NO_TEXT) <= set(TABLES)


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_reaches_kept_answers_and_lineage(kind: Kind) -> None:
    names = [store.name for store in stores_of(kind)]

    assert len(names) == len(set(names))
    assert {"idempotency", "lineage", "quarantines"} <= set(names)
