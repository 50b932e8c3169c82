"""What a legal hold keeps from use, asked by every capability. `governance` places and ends holds."""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import String, bindparam, column, or_, select, table
from sqlmodel import Session

from service.core.database import UtcDateTime
from service.core.errors import Conflict

HOLDS: Final = table(
    "holds",
    column("tenant_id", String),
    column("scope", String),
    column("ref", String),
    column("until", UtcDateTime),
    column("released_at", UtcDateTime),
)
"""The part of the holds' rows that queries of what they hide ask, each inside itself."""

# One that has an end is released when that comes.
_STANDS: Final = (
    select(HOLDS.c.ref)
    .where(
        HOLDS.c.tenant_id == bindparam("tenant_id"),
        HOLDS.c.released_at.is_(None),
        or_(
            *(
                (HOLDS.c.scope == scope) & (HOLDS.c.ref == bindparam(scope))
                for scope in ("execution", "project", "subject")
            )
        ),
    )
    .limit(1)
)


class ExecutionHeld(Conflict):
    """A legal hold stands over the run, its project or its person: it is kept, and not used."""

    code = "execution_held"
    title = "A legal hold keeps this execution from being used"


def refuse_held_run(
    session: Session, tenant_id: str, *, execution_id: str, project_id: str, subject_hash: str | None
) -> None:
    """Raise `ExecutionHeld` where a hold stands over the run. `subject_hash` is its person's keyed hash."""
    named: Mapping[str, str] = {
        "execution": execution_id,
        "project": project_id,
        "subject": subject_hash or "",
    }
    if session.connection().execute(_STANDS, {"tenant_id": tenant_id, **named}).first() is not None:
        raise ExecutionHeld("What was said in it is kept for its basis alone until the hold ends.")
