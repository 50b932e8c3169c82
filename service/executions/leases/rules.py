"""Who may write to a run under which token, and who gets its lease. Pure."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from service.executions.leases.model import LEASE_LIFETIME, Lease, LeaseMode


@dataclass(frozen=True, slots=True)
class Grant:
    """The outcome of asking for a lease: `lease` is the asker's own, or `None` while another one lives."""

    lease: Lease | None
    is_renewal: bool = False


def token_fits(lease: Lease | None, token: int | None, now: datetime) -> bool:
    """Say whether a write under `token` comes from the run's present worker.

    While a lease lives only its own token does. Otherwise a write needs none; one that shows a token shows
    the newest, since any other was replaced or never given out.
    """
    if lease is not None and lease.lives(now):
        return token == lease.fencing_token
    return token is None or (lease is not None and token == lease.fencing_token)


def is_recovering(lease: Lease | None, token: int | None, now: datetime) -> bool:
    """Say whether a write under `token` comes from a worker that has something to settle first.

    What was to be settled is not settled by waiting until the lease has lapsed.
    """
    if lease is None or lease.mode is not LeaseMode.RECOVERY:
        return False
    return lease.lives(now) or token is not None


def grant(
    lease: Lease | None,
    *,
    execution_id: str,
    mode: LeaseMode,
    holder: str,
    token: int | None,
    now: datetime,
    lifetime: timedelta = LEASE_LIFETIME,
) -> Grant:
    """Decide who goes on with a run: the holder in a new mode, a newcomer once no lease lives, else none.

    The lease lives for `lifetime` from `now`.
    """
    lives = lease is not None and lease.lives(now)
    if lease is not None and lives and token == lease.fencing_token:
        return Grant(replace(lease, mode=mode, expires_at=now + lifetime), is_renewal=True)
    if lives:
        return Grant(None)
    return Grant(
        Lease(
            execution_id=execution_id,
            fencing_token=1 if lease is None else lease.fencing_token + 1,
            mode=mode,
            holder=holder,
            taken_at=now,
            expires_at=now + lifetime,
        )
    )
