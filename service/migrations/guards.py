"""What the database itself refuses about runs, whatever code asks: triggers for SQLite and PostgreSQL.

They stand behind the verbs, which refuse the same with better words; a trigger that fires is a fault of ours.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, text

_ENDED: Final = "('completed', 'cancelled', 'expired', 'unsupported_schema')"
_STATUS_OF_RUN: Final = (
    "(SELECT status FROM executions WHERE tenant_id = NEW.tenant_id AND id = NEW.execution_id)"
)
_RUN_ENDED: Final = f"{_STATUS_OF_RUN} IN {_ENDED}"
_PARTS: Final = (
    "approvals",
    "candidates",
    "check_requests",
    "checkpoints",
    "checks",
    "effects",
    "observations",
    "pins",
    "steps",
    "summaries",
    "tasks",
    "turns",
)
"""Tables whose rows may not be added to an ended run."""


@dataclass(frozen=True, slots=True)
class Guard:
    """One refusal: a row of `table` is not inserted or updated where `refused_when` holds.

    `code` is the error's message. Conditions are SQL that both databases read alike.
    """

    table: str
    event: str
    code: str
    refused_when: str

    @property
    def name(self) -> str:
        """The trigger's name."""
        return f"guard_{self.table}_{self.code}"


def _changed(*columns: str) -> str:
    return "(" + " OR ".join(f"NEW.{column} IS DISTINCT FROM OLD.{column}" for column in columns) + ")"


def _changed_but_by_erasure(*columns: str) -> str:
    """Hold for a change to anything but the name or hash that an erasure puts in its place."""
    conditions = [
        f"({_changed(column)} AND COALESCE(NEW.{column}, '') NOT LIKE '%erased:%')" for column in columns
    ]
    return "(" + " OR ".join(conditions) + ")"


_MOVING: Final = ("status", "version", "step", "cost_used_micros", "finish_asked", "deadline")

GUARDS: Final = (
    Guard("executions", "UPDATE", "step_backwards", "NEW.step < OLD.step"),
    Guard("executions", "UPDATE", "version_backwards", "NEW.version < OLD.version"),
    Guard(
        "executions",
        "UPDATE",
        "contract_fixed",
        f"{_changed('project_id', 'created_at')} OR {_changed_but_by_erasure('contract_hash')}",
    ),
    Guard(
        "executions",
        "UPDATE",
        "execution_ended",
        f"OLD.status IN {_ENDED}"
        f" AND ({_changed(*_MOVING)} OR {_changed_but_by_erasure('contract_confirmed_by')})",
    ),
    *(Guard(table, "INSERT", "execution_ended", _RUN_ENDED) for table in _PARTS),
    Guard("pins", "UPDATE", "run_ended", f"{_changed('resolved_at')} AND {_RUN_ENDED}"),
    Guard("tasks", "UPDATE", "run_ended", f"{_changed('position')} AND {_RUN_ENDED}"),
    Guard(
        "checkpoints",
        "UPDATE",
        "record_fixed",
        _changed("transition", "status", "step", "cost_micros", "created_at"),
    ),
    Guard("candidates", "UPDATE", "record_fixed", _changed("artifact_hash", "sequence", "execution_id")),
    Guard(
        "checks",
        "UPDATE",
        "record_fixed",
        f"{_changed('requirement', 'passed', 'artifact_hash', 'failure_kind', 'sequence')}"
        f" OR {_changed_but_by_erasure('contract_hash')}",
    ),
    Guard("effects", "UPDATE", "record_fixed", _changed("kind", "request_hash", "sequence")),
    Guard(
        "effects",
        "UPDATE",
        "effect_settled",
        f"OLD.status IN ('committed', 'failed') AND {_changed('status')}",
    ),
    Guard(
        "effects",
        "UPDATE",
        "effect_not_dispatched",
        "OLD.status = 'intended' AND NEW.status = 'committed'",
    ),
    Guard(
        "effects",
        "UPDATE",
        "run_ended",
        f"{_changed('status')} AND OLD.status NOT IN ('dispatched', 'unknown', 'escalated')"
        # What a downstream says it did is the truth, however late it comes.
        f" AND NEW.status NOT IN ('failed', 'committed') AND {_RUN_ENDED}",
    ),
    Guard(
        "approvals",
        "UPDATE",
        "record_fixed",
        f"{_changed('execution_id', 'policy_version', 'created_at')}"
        f" OR {_changed_but_by_erasure('command_hash', 'acting_user')}",
    ),
    Guard(
        "approvals",
        "UPDATE",
        "approval_settled",
        # What lapsed may still be cancelled: that is how somebody says that nothing waits for it any more.
        f"OLD.status IN ('rejected', 'expired', 'stale', 'cancelled') AND {_changed('status')}"
        " AND NOT (OLD.status IN ('expired', 'stale') AND NEW.status = 'cancelled')",
    ),
    Guard(
        "approvals",
        "UPDATE",
        "decided_once",
        "OLD.decided_by IS NOT NULL"
        f" AND ({_changed('decided_at')} OR {_changed_but_by_erasure('decided_by')})",
    ),
    Guard(
        "approvals",
        "UPDATE",
        "redeemed_once",
        f"OLD.operation_id IS NOT NULL AND {_changed('operation_id')}",
    ),
    Guard("leases", "UPDATE", "fencing_backwards", "NEW.fencing_token < OLD.fencing_token"),
)
"""What is enforced by trigger; keys, unique indexes and foreign keys enforce the rest."""


def put_up(connection: Connection) -> None:
    """Create every guard."""
    for guard in GUARDS:
        if connection.dialect.name == "postgresql":
            _put_up_on_postgresql(guard, connection)
        else:
            _put_up_on_sqlite(guard, connection)


def take_down(connection: Connection) -> None:
    """Remove every guard that is there: for putting back a whole record, and for nothing else."""
    for guard in GUARDS:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"DROP FUNCTION IF EXISTS {guard.name}() CASCADE"))
        else:
            connection.execute(text(f"DROP TRIGGER IF EXISTS {guard.name}"))


def put_up_anew(connection: Connection, tables: Collection[str]) -> None:
    """Replace the guards of these tables by what they are now."""
    for guard in GUARDS:
        if guard.table not in tables:
            continue
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"DROP FUNCTION {guard.name}() CASCADE"))
            _put_up_on_postgresql(guard, connection)
        else:
            connection.execute(text(f"DROP TRIGGER {guard.name}"))
            _put_up_on_sqlite(guard, connection)


def _put_up_on_sqlite(guard: Guard, connection: Connection) -> None:
    connection.execute(
        text(
            f"CREATE TRIGGER {guard.name} BEFORE {guard.event} ON {guard.table} FOR EACH ROW"
            f" WHEN {guard.refused_when} BEGIN SELECT RAISE(ABORT, '{guard.code}'); END"
        )
    )


def _put_up_on_postgresql(guard: Guard, connection: Connection) -> None:
    connection.execute(
        text(
            f"CREATE FUNCTION {guard.name}() RETURNS trigger LANGUAGE plpgsql AS $guard$ BEGIN"
            f" IF {guard.refused_when} THEN"
            f" RAISE EXCEPTION USING ERRCODE = 'check_violation', MESSAGE = '{guard.code}';"
            " END IF; RETURN NEW; END $guard$"
        )
    )
    connection.execute(
        text(
            f"CREATE TRIGGER {guard.name} BEFORE {guard.event} ON {guard.table}"
            f" FOR EACH ROW EXECUTE FUNCTION {guard.name}()"
        )
    )
