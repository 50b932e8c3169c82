"""The queries of one tenant's runs and checkpoints, whoever asks."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, and_, bindparam, insert, or_, update
from sqlalchemy import select as sqlalchemy_select
from sqlmodel import Session, col, select

from service.executions.model import (
    Budgets,
    Checkpoint,
    ContractOrigin,
    EndedReason,
    Execution,
    MemoryMode,
    PinnedSource,
    Requirement,
    Status,
    Transition,
)
from service.executions.money import from_micros, to_micros
from service.executions.rules import CAN_EXPIRE, requirement_json, status_at
from service.executions.schemas import upgrade
from service.executions.sealed import SealedText, stable_json
from service.executions.tables import CheckpointRow, ExecutionRow

# Every call about a run begins with one of these. They are built once, and read plain rows: a session would
# answer a run as it was read before, and what the lock waited for is newer.
_FOUND: Final = sqlalchemy_select(*ExecutionRow.__table__.columns).where(  # type: ignore[attr-defined]  # SQLModel adds it
    col(ExecutionRow.tenant_id) == bindparam("tenant"), col(ExecutionRow.id) == bindparam("execution")
)
_LOCKED: Final = _FOUND.with_for_update()
_SAVE: Final = update(ExecutionRow).where(
    col(ExecutionRow.tenant_id) == bindparam("tenant"), col(ExecutionRow.id) == bindparam("execution")
)
_ADD_CHECKPOINT: Final = insert(CheckpointRow)
_LOCKED_RUNS: Final = "locked_runs"
"""Where a session keeps the rows that its transaction has locked: until it saves one, it stands so."""


class RunStore:
    """Reads and writes rows; visibility is decided by `ExecutionStore`, which hands out what stands here."""

    def __init__(self, session: Session, tenant_id: str, text: SealedText, *, now: datetime) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._text = text
        self._now = now

    def add(self, execution: Execution) -> None:
        """Keep a new run. Raises `IntegrityError` when its project has that external reference already."""
        requirements = [requirement_json(one) for one in execution.requirements]
        row = ExecutionRow(
            tenant_id=self._tenant_id,
            id=execution.id,
            project_id=execution.project_id,
            external_ref=execution.external_ref,
            version=execution.version,
            status=execution.status,
            steps_budget=execution.budgets.steps,
            revisions_budget=execution.budgets.revisions,
            cost_budget_micros=_micros(execution),
            deadline=execution.deadline,
            retention_class=execution.retention_class,
            memory_mode=execution.memory_mode,
            schema_version=execution.schema_version,
            acting_user=execution.acting_user,
            agent=execution.agent,
            person=execution.person,
            opened_by=execution.opened_by,
            contract_hash=execution.contract_hash,
            contract_origin=execution.contract_origin,
            contract_confirmed_by=execution.contract_confirmed_by,
            objective=self._text.seal(
                execution.objective, person=execution.person, place=f"executions/{execution.id}/objective"
            ),
            requirements=self._text.seal(
                stable_json(requirements),
                person=execution.person,
                place=f"executions/{execution.id}/requirements",
            ),
            requirement_ids=list(execution.requirement_ids),
            created_at=execution.created_at,
            updated_at=execution.updated_at,
        )
        with self._session.begin_nested():
            self._session.add(row)

    def find(self, execution_id: str, *, lock: bool = False) -> Execution | None:
        """Answer a run, or `None`. With `lock`, no other transaction changes or appends to it meanwhile."""
        locked: dict[str, Row[*tuple[Any, ...]]] = self._session.info.setdefault(_LOCKED_RUNS, {})
        row = None if lock else locked.get(execution_id)
        if row is None:
            key = {"tenant": self._tenant_id, "execution": execution_id}
            row = self._session.connection().execute(_LOCKED if lock else _FOUND, key).first()
        if row is None:
            return None
        if lock:
            locked[execution_id] = row
        return self._execution(row)

    def find_all(self, execution_ids: Collection[str]) -> Sequence[Execution]:
        """Answer those of the runs that exist, in no order. At most a page of them is asked for."""
        rows = self._session.exec(
            select(ExecutionRow).where(
                ExecutionRow.tenant_id == self._tenant_id, col(ExecutionRow.id).in_(sorted(execution_ids))
            )
        ).all()
        return [self._execution(row) for row in rows]

    def find_by_reference(self, project_id: str, external_ref: str) -> Execution | None:
        """Answer the project's run of that external reference, or `None`."""
        row = self._session.exec(
            select(ExecutionRow).where(
                ExecutionRow.tenant_id == self._tenant_id,
                ExecutionRow.project_id == project_id,
                ExecutionRow.external_ref == external_ref,
            )
        ).first()
        return None if row is None else self._execution(row)

    def list_unended(
        self, acting_user: str, project_id: str, *, limit: int, after_id: str | None
    ) -> Sequence[str]:
        """Answer the ids of up to `limit` runs of the user in the project that have not ended, ascending."""
        query = select(ExecutionRow.id).where(
            ExecutionRow.tenant_id == self._tenant_id,
            ExecutionRow.acting_user == acting_user,
            ExecutionRow.project_id == project_id,
            col(ExecutionRow.status).in_(sorted(CAN_EXPIRE)),
        )
        if after_id is not None:
            query = query.where(ExecutionRow.id > after_id)
        return self._session.exec(query.order_by(col(ExecutionRow.id)).limit(limit)).all()

    def list_newest(
        self,
        project_ids: Sequence[str],
        *,
        limit: int,
        before_id: str | None,
        status: Status | None,
        external_ref: str | None,
    ) -> Sequence[Execution]:
        """Answer up to `limit` runs of the projects by descending id, that is: newest first."""
        query = select(ExecutionRow).where(
            ExecutionRow.tenant_id == self._tenant_id, col(ExecutionRow.project_id).in_(project_ids)
        )
        if before_id is not None:
            query = query.where(ExecutionRow.id < before_id)
        if status is not None:
            query = query.where(self._has_status(status))
        if external_ref is not None:
            query = query.where(ExecutionRow.external_ref == external_ref)
        rows = self._session.exec(query.order_by(col(ExecutionRow.id).desc()).limit(limit)).all()
        return [self._execution(row) for row in rows]

    def save(self, execution: Execution) -> None:
        """Write what may change of a run: version, status, step, cost, confirmation, why it ended."""
        changed = {
            "version": execution.version,
            "status": execution.status,
            "step": execution.step,
            "schema_version": execution.schema_version,
            "cost_used_micros": to_micros(execution.cost_used),
            "finish_asked": execution.finish_asked,
            "contract_confirmed_by": execution.contract_confirmed_by,
            "ended_reason": execution.ended_reason,
            "updated_at": execution.updated_at,
        }
        key = {"tenant": self._tenant_id, "execution": execution.id}
        self._session.connection().execute(_SAVE, {**key, **changed})
        self._session.info.get(_LOCKED_RUNS, {}).pop(execution.id, None)

    def add_checkpoint(self, checkpoint: Checkpoint, *, person: str | None) -> None:
        """Keep a checkpoint, its payload in the present schema."""
        state = None if checkpoint.state is None else stable_json(_payload(checkpoint))
        row = {
            "tenant_id": self._tenant_id,
            "execution_id": checkpoint.execution_id,
            "version": checkpoint.version,
            "transition": checkpoint.transition,
            "status": checkpoint.status,
            "step": checkpoint.step,
            "cost_micros": to_micros(checkpoint.cost),
            "schema_version": checkpoint.schema_version,
            "state": self._text.seal(state, person=person, place=_state_place(checkpoint)),
            # Keyed, since a short state could be guessed from a plain hash after its key has died.
            "state_hash": None if state is None else self._text.cipher.keyed_hash(state),
            "derived_from": list(checkpoint.derived_from),
            "by": checkpoint.by,
            "created_at": checkpoint.at,
        }
        self._session.connection().execute(_ADD_CHECKPOINT, row)

    def latest_checkpoint_with_state(self, execution_id: str) -> Checkpoint | None:
        """Answer the newest checkpoint that carries a state, or `None`."""
        row = self._session.exec(
            select(CheckpointRow)
            .where(
                CheckpointRow.tenant_id == self._tenant_id,
                CheckpointRow.execution_id == execution_id,
                col(CheckpointRow.state_hash).is_not(None),
            )
            .order_by(col(CheckpointRow.version).desc())
            .limit(1)
        ).first()
        return None if row is None else self._checkpoint(row)

    def _has_status(self, status: Status) -> ColumnElement[bool]:
        stored = col(ExecutionRow.status)
        past = and_(col(ExecutionRow.deadline).is_not(None), col(ExecutionRow.deadline) <= self._now)
        if status is Status.EXPIRED:
            return or_(stored == status, and_(stored.in_(sorted(CAN_EXPIRE)), past))
        if status in CAN_EXPIRE:
            return and_(
                stored == status,
                or_(col(ExecutionRow.deadline).is_(None), col(ExecutionRow.deadline) > self._now),
            )
        return stored == status

    def _execution(self, row: ExecutionRow | Row[*tuple[Any, ...]]) -> Execution:
        place = f"executions/{row.id}"
        requirements = self._text.open_objects(row.requirements, place=f"{place}/requirements")
        return Execution(
            id=row.id,
            project_id=row.project_id,
            external_ref=row.external_ref,
            version=row.version,
            status=status_at(Status(row.status), row.deadline, self._now, schema_version=row.schema_version),
            step=row.step,
            cost_used=from_micros(row.cost_used_micros),
            budgets=Budgets(
                cost=None if row.cost_budget_micros is None else from_micros(row.cost_budget_micros),
                steps=row.steps_budget,
                revisions=row.revisions_budget,
            ),
            deadline=row.deadline,
            retention_class=row.retention_class,
            memory_mode=MemoryMode(row.memory_mode),
            schema_version=row.schema_version,
            acting_user=row.acting_user,
            agent=row.agent,
            person=row.person,
            opened_by=row.opened_by,
            contract_hash=row.contract_hash,
            contract_origin=ContractOrigin(row.contract_origin),
            contract_confirmed_by=row.contract_confirmed_by,
            finish_asked=row.finish_asked,
            ended_reason=None if row.ended_reason is None else EndedReason(row.ended_reason),
            objective=self._text.open(row.objective, place=f"{place}/objective"),
            requirements=tuple(_requirement(value) for value in requirements),
            requirement_ids=tuple(row.requirement_ids),
            created_at=row.created_at,
            updated_at=row.updated_at,
            content_erased_at=row.content_erased_at,
        )

    def _checkpoint(self, row: CheckpointRow) -> Checkpoint:
        place = f"checkpoints/{row.execution_id}/{row.version}/state"
        sealed = None if row.state is None else self._text.open_object(row.state, place=place)
        payload = upgrade(sealed, row.schema_version) if sealed else {}
        return Checkpoint(
            execution_id=row.execution_id,
            version=row.version,
            transition=Transition(row.transition),
            status=Status(row.status),
            step=row.step,
            cost=from_micros(row.cost_micros),
            schema_version=row.schema_version,
            state=payload.get("state", {}) if row.state is not None else None,
            derived_from=tuple(row.derived_from),
            sources=tuple(PinnedSource(*source) for source in payload.get("sources", ())),
            by=row.by,
            at=row.created_at,
        )


def _state_place(checkpoint: Checkpoint) -> str:
    return f"checkpoints/{checkpoint.execution_id}/{checkpoint.version}/state"


def _payload(checkpoint: Checkpoint) -> dict[str, Any]:
    sources = [[source.ref, source.version, source.sha256] for source in checkpoint.sources]
    return {"state": dict(checkpoint.state or {}), "sources": sources}


def _micros(execution: Execution) -> int | None:
    return None if execution.budgets.cost is None else to_micros(execution.budgets.cost)


def _requirement(value: Mapping[str, Any]) -> Requirement:
    return Requirement(
        id=value["id"],
        text=value["text"],
        grader=value.get("grader"),
        depends_on=tuple(value.get("depends_on", ())),
    )
