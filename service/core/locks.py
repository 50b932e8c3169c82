"""Locks by name, held until the transaction ends.

SQLite has one writer at a time anyway. PostgreSQL takes advisory locks, all at once and in order, so that two
transactions that share names wait for each other and never deadlock.
"""

import hashlib
from collections.abc import Sequence

from sqlalchemy import text
from sqlmodel import Session


def lock_names(session: Session, tenant_id: str, names: Sequence[str]) -> None:
    """Keep others of the tenant from passing here with the same names until this transaction ends."""
    connection = session.connection()
    if connection.dialect.name != "postgresql":
        return
    connection.execute(
        text(
            "SELECT pg_advisory_xact_lock(number)"
            " FROM (SELECT unnest(CAST(:numbers AS bigint[])) AS number ORDER BY 1) AS sorted"
        ),
        {"numbers": sorted({_number(tenant_id, name) for name in names})},
    )


def share_name(session: Session, tenant_id: str, name: str) -> None:
    """Pass here beside others that share the name, and keep out whoever locks it, until this ends.

    Waits while somebody holds it locked: what is read afterwards holds until this transaction ends.
    """
    connection = session.connection()
    if connection.dialect.name != "postgresql":
        return
    connection.execute(
        text("SELECT pg_advisory_xact_lock_shared(:number)"), {"number": _number(tenant_id, name)}
    )


def _number(tenant_id: str, name: str) -> int:
    digest = hashlib.blake2b(f"{tenant_id}\n{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)
