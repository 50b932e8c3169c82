"""Numbers that count the rows of one run."""

from functools import cache
from typing import Any, Protocol

from sqlalchemy import Select, bindparam, func, select
from sqlmodel import Session, col


class Numbered(Protocol):
    """A table whose rows belong to runs and are numbered within each, from 1 upwards."""

    tenant_id: str
    execution_id: str
    sequence: int


def last_number(session: Session, rows: type[Numbered], tenant_id: str, execution_id: str) -> int:
    """Answer the highest sequence among the run's rows, 0 without any; what was added must be flushed.

    A run's row is locked by whoever writes, so the next number is this one plus one. Where rows are only ever
    added it also says how many there are, found without counting them.
    """
    key = {"tenant": tenant_id, "execution": execution_id}
    found: int | None = session.connection().execute(_query(rows), key).scalar_one()
    return found or 0


@cache
def _query(rows: Any) -> Select[int | None]:  # noqa: ANN401 - a class whose attributes are columns
    """Answer the query for a table: every append asks it, and so it is built once."""
    return select(func.max(col(rows.sequence))).where(
        col(rows.tenant_id) == bindparam("tenant"), col(rows.execution_id) == bindparam("execution")
    )
