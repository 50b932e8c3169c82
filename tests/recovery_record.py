"""What the database holds of one run, read past the service's own stores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from recovery_site import Place
from sqlalchemy import Connection, text

from service.audit.details import hashed
from service.audit.model import Event
from service.audit.store import AuditStore
from service.audit.verify import verify_chain

_OF_RUN: Final = (
    "approvals",
    "candidates",
    "check_requests",
    "checkpoints",
    "checks",
    "effects",
    "observations",
    "pins",
    "steps",
    "tasks",
    "turns",
)


@dataclass(frozen=True, slots=True)
class Record:
    """A run's rows by table, with the tenant's evidence, and what the trail tells of the run.

    `trail_fault` says how the tenant's trail is broken, where it is.
    """

    execution_id: str
    rows: Mapping[str, Sequence[Mapping[str, Any]]]
    trail: Sequence[Event]
    trail_fault: str | None

    def values(self, table: str, column: str) -> list[Any]:
        """Answer a column of all rows of a table."""
        return [row[column] for row in self.rows[table]]


def read_record(place: Place, external_ref: str) -> Record:
    """Read what stands of the tenant's run of that external reference."""
    with place.office() as office, office.registry.read(place.tenant_id) as unit:
        connection = unit.session.connection()
        runs = list(_rows(connection, "executions", tenant_id=place.tenant_id, external_ref=external_ref))
        execution_id = str(runs[0]["id"]) if runs else ""
        own = {"tenant_id": place.tenant_id, "execution_id": execution_id}
        rows = {table: list(_rows(connection, table, **own)) for table in _OF_RUN}
        evidence = list(_rows(connection, "evidence", tenant_id=place.tenant_id))
        words = [str(row["operation_id"]) for row in rows["effects"]]
        words += [str(row["requirement"]) for row in rows["checks"]]
        told = {hashed(word, unit.cipher): word for word in words}
        trail = [
            _told(link.event, told)
            for link in AuditStore(unit.session, place.tenant_id).links()
            if link.event.ref == execution_id
        ]
        fault = verify_chain(unit.session, place.tenant_id, cipher=unit.cipher).fault
    rows |= {"executions": runs, "evidence": evidence}
    return Record(execution_id, rows, trail, None if fault is None else str(fault))


def _told(event: Event, told: Mapping[str, str]) -> Event:
    """Answer the event with the names that the trail itself holds keyed hashes of."""
    details = {
        name: told.get(value, value) if isinstance(value, str) else value
        for name, value in event.details.items()
    }
    return replace(event, details=details)


def _rows(connection: Connection, table: str, **named: str) -> Iterator[Mapping[str, Any]]:
    condition = " AND ".join(f"{column} = :{column}" for column in named)
    found = connection.execute(text(f"SELECT * FROM {table} WHERE {condition}"), named)  # noqa: S608 - our own names
    return (dict(row) for row in found.mappings())
