"""Where everything is kept: each field of the record and of what stands beside it, derived from the code."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Column, MetaData, Table
from sqlmodel import SQLModel

from service.governance import handling, retention
from service.governance.columns import WHO, Described, SealedUnder, describe, may_hold_words
from service.governance.handling import Handling
from service.governance.model import Kind
from service.governance.registry import NO_TEXT, PLAIN, STORES
from service.governance.retention import RetentionClass
from service.governance.stores.store_people import NAMES
from service.governance.stores.store_rows import RowStore
from service.migrations.tables import load_tables


class Place(StrEnum):
    """The kinds of store there are."""

    RECORD = "record"
    KEY_STORE = "keystore"
    INDEX = "index"
    BACKUP = "backup"
    LOGS = "logs"


@dataclass(frozen=True, slots=True)
class MappedField:
    """One field, what it holds, why, for how long, and what takes it away.

    `erased_by` names stores of a receipt; it is empty for what an erasure leaves, which holds no words.
    """

    store: Place
    table: str
    field: str
    described: Described
    handling: Handling
    retention: RetentionClass
    erased_by: Sequence[str]


@dataclass(frozen=True, slots=True)
class Beside:
    """The fields of one thing that stands beside the record."""

    store: Place
    table: str
    fields: Mapping[str, Described]
    handling: Handling
    retention: RetentionClass
    erased_by: Sequence[str] = ()


def map_record(metadata: MetaData | None = None) -> Sequence[MappedField]:
    """Answer every field of every table of the record, in order of their names.

    Raises `LookupError` for a table or a
    column that nobody has said anything about.
    """
    load_tables()
    tables = (metadata or SQLModel.metadata).tables
    return [_field(table, column) for _, table in sorted(tables.items()) for column in table.columns]


def map_beside(things: Iterable[Beside]) -> Sequence[MappedField]:
    """Answer the fields of what stands beside the record, in the order given."""
    return [
        MappedField(
            thing.store, thing.table, name, described, thing.handling, thing.retention, thing.erased_by
        )
        for thing in things
        for name, described in thing.fields.items()
    ]


def _field(table: Table, column: Column[object]) -> MappedField:
    return MappedField(
        store=Place.RECORD,
        table=table.name,
        field=column.name,
        described=describe(table.name, column),
        handling=handling.OF_TABLE[table.name],
        retention=retention.OF_TABLE[table.name],
        erased_by=_erased_by(table.name, column),
    )


def _erased_by(table: str, column: Column[object]) -> Sequence[str]:
    """Answer the stores whose receipt counts it when a person is erased."""
    if table in NO_TEXT:
        return ()
    removing = _stores_of(table, empties=False)
    if removing:
        return removing
    if (table, column.name) in WHO:
        return (NAMES.name,)
    if may_hold_words(column) and f"{table}.{column.name}" not in PLAIN:
        return _stores_of(table, empties=True)
    return ()


def _stores_of(table: str, *, empties: bool) -> Sequence[str]:
    return [
        store.name
        for store in STORES
        if isinstance(store, RowStore)
        and store is not NAMES
        and any(
            rows.name == table and Kind.SUBJECT in rows.kinds and (rows.emptied is not None) is empties
            for rows in store.rows
        )
    ]


def is_sealed(field: MappedField) -> bool:
    """Say whether it rests as ciphertext."""
    return field.described.sealed_under is not SealedUnder.NONE
