"""The queries of one tenant's observations and effects."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, bindparam, insert
from sqlalchemy import select as sqlalchemy_select
from sqlmodel import Session, col, select

from service.executions.ledger.model import Effect, EffectStatus, Observation, ObservedSource, SettledBasis
from service.executions.ledger.rules import UNSETTLED
from service.executions.ledger.tables import EffectRow, ObservationRow
from service.executions.sealed import SealedText
from service.executions.sequences import last_number
from service.policies.words import Authority, Trust

_ADD_OBSERVATION: Final = insert(ObservationRow)


# Every checkpoint asks, and so it is built once.
_UNSETTLED: Final = (
    select(EffectRow.sequence)
    .where(
        col(EffectRow.tenant_id) == bindparam("tenant"),
        col(EffectRow.execution_id) == bindparam("execution"),
        col(EffectRow.status).in_(sorted(UNSETTLED)),
    )
    .limit(1)
)

# A run has many, and little is asked of each: as plain rows they take a third of the time.
_EFFECTS: Final = (
    sqlalchemy_select(*EffectRow.__table__.columns)  # type: ignore[attr-defined]  # SQLModel adds it to tables
    .where(
        col(EffectRow.tenant_id) == bindparam("tenant"),
        col(EffectRow.execution_id) == bindparam("execution"),
    )
    .order_by(col(EffectRow.sequence))
)


class LedgerStore:
    """Reads and adds; visibility is decided by `ExecutionStore`, which hands out what stands here."""

    def __init__(self, session: Session, tenant_id: str, text: SealedText) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._text = text

    def next_observation(self, execution_id: str) -> int:
        """Answer the number of the run's next observation."""
        return 1 + last_number(self._session, ObservationRow, self._tenant_id, execution_id)

    def add_observation(self, observation: Observation, *, person: str | None) -> None:
        """Keep a tool result, with its content where that is given."""
        source, place = observation.source, f"observations/{observation.id}"
        uri = self._text.seal(source.uri, person=person, place=f"{place}/source_uri")
        assert uri is not None
        row = {
            "tenant_id": self._tenant_id,
            "id": observation.id,
            "execution_id": observation.execution_id,
            "sequence": observation.sequence,
            "source_uri": uri,
            "source_kind": source.kind,
            "source_version": self._text.seal(
                source.source_version, person=person, place=f"{place}/source_version"
            ),
            "observed_at": source.observed_at,
            "media_type": observation.media_type,
            "content": self._text.seal(observation.content, person=person, place=f"{place}/content"),
            "summary": self._text.seal(observation.summary, person=person, place=f"{place}/summary"),
            "sha256": observation.sha256,
            "tokens": observation.tokens,
            "evidence_id": observation.evidence_id,
            "tool_call_id": observation.tool_call_id,
            "trust": observation.trust,
            "authority": observation.authority,
            "limited": observation.limited,
            "said_by": observation.said_by,
            "created_at": observation.at,
        }
        self._session.connection().execute(_ADD_OBSERVATION, row)

    def observations(self, execution_id: str, *, last: int) -> Sequence[Observation]:
        """Answer up to `last` newest observations, in their order."""
        rows = self._session.exec(
            select(ObservationRow)
            .where(ObservationRow.tenant_id == self._tenant_id, ObservationRow.execution_id == execution_id)
            .order_by(col(ObservationRow.sequence).desc())
            .limit(last)
        ).all()
        return [self._observation(row) for row in reversed(rows)]

    def observations_since(self, execution_id: str, since: datetime, *, count: int) -> Sequence[Observation]:
        """Answer up to `count` observations kept at a time or after it, oldest first."""
        rows = self._session.exec(
            select(ObservationRow)
            .where(
                ObservationRow.tenant_id == self._tenant_id,
                ObservationRow.execution_id == execution_id,
                ObservationRow.created_at >= since,
            )
            .order_by(col(ObservationRow.sequence))
            .limit(count)
        ).all()
        return [self._observation(row) for row in rows]

    def find_observation(self, observation_id: str) -> Observation | None:
        """Answer an observation of any run of the tenant, or `None`."""
        row = self._session.get(ObservationRow, (self._tenant_id, observation_id))
        return None if row is None else self._observation(row)

    def add_effect(self, effect: Effect, *, person: str | None) -> None:
        """Keep a new intent."""
        place = f"effects/{effect.execution_id}/{effect.operation_id}/request"
        self._session.add(
            EffectRow(
                tenant_id=self._tenant_id,
                execution_id=effect.execution_id,
                operation_id=effect.operation_id,
                sequence=self.count_effects(effect.execution_id) + 1,
                kind=effect.kind,
                request=self._text.seal_json(dict(effect.request), person=person, place=place),
                request_hash=effect.request_hash,
                status=effect.status,
                downstream_ref=effect.downstream_ref,
                command_hash=effect.command_hash,
                approval_id=effect.approval_id,
                connector=effect.connector,
                by=effect.by,
                created_at=effect.created_at,
                updated_at=effect.updated_at,
            )
        )
        self._session.flush()

    def settle_effect(self, effect: Effect) -> None:
        """Write what may change of an effect: status, references, attempts, and on whose word it stands."""
        row = self._session.get_one(EffectRow, (self._tenant_id, effect.execution_id, effect.operation_id))
        row.status = effect.status
        row.downstream_ref = effect.downstream_ref
        row.approval_id = effect.approval_id
        row.attempts = effect.attempts
        row.dispatched_at = effect.dispatched_at
        row.failure = effect.failure
        row.settled_basis = effect.settled_basis
        row.settled_by = effect.settled_by
        row.evidence_id = effect.evidence_id
        row.updated_at = effect.updated_at
        self._session.add(row)
        self._session.flush()

    def find_effect(self, execution_id: str, operation_id: str) -> Effect | None:
        """Answer the run's effect of that operation id, or `None`; as it is now, whatever was read before."""
        key = (self._tenant_id, execution_id, operation_id)
        row = self._session.get(EffectRow, key, populate_existing=True)
        return None if row is None else self._effect(row)

    def count_effects(self, execution_id: str) -> int:
        """Answer how many effects the run holds. None is ever taken away: the newest one's number says it."""
        return last_number(self._session, EffectRow, self._tenant_id, execution_id)

    def has_unsettled(self, execution_id: str) -> bool:
        """Say whether the outcome of any effect is unknown, without reading a single one."""
        key = {"tenant": self._tenant_id, "execution": execution_id}
        return self._session.connection().execute(_UNSETTLED, key).first() is not None

    def effects(self, execution_id: str) -> Sequence[Effect]:
        """Answer all effects of the run in the order they were intended, their requests still sealed."""
        key = {"tenant": self._tenant_id, "execution": execution_id}
        rows = self._session.connection().execute(_EFFECTS, key).all()
        return [self._effect(row, still_sealed=True) for row in rows]

    def _observation(self, row: ObservationRow) -> Observation:
        place = f"observations/{row.id}"
        return Observation(
            id=row.id,
            execution_id=row.execution_id,
            sequence=row.sequence,
            source=ObservedSource(
                uri=self._text.open(row.source_uri, place=f"{place}/source_uri") or "",
                kind=row.source_kind,
                observed_at=row.observed_at,
                source_version=self._text.open(row.source_version, place=f"{place}/source_version"),
            ),
            media_type=row.media_type,
            content=self._text.open(row.content, place=f"{place}/content"),
            summary=self._text.open(row.summary, place=f"{place}/summary"),
            sha256=row.sha256,
            tokens=row.tokens,
            evidence_id=row.evidence_id,
            tool_call_id=row.tool_call_id,
            trust=Trust(row.trust),
            authority=Authority(row.authority),
            limited=row.limited,
            said_by=row.said_by,
            at=row.created_at,
        )

    def _effect(self, row: EffectRow | Row[*tuple[Any, ...]], *, still_sealed: bool = False) -> Effect:
        place = f"effects/{row.execution_id}/{row.operation_id}/request"
        open_request = self._text.object_in if still_sealed else self._text.open_object
        return Effect(
            execution_id=row.execution_id,
            operation_id=row.operation_id,
            kind=row.kind,
            request=open_request(row.request, place=place),
            request_hash=row.request_hash,
            status=EffectStatus(row.status),
            downstream_ref=row.downstream_ref,
            by=row.by,
            created_at=row.created_at,
            updated_at=row.updated_at,
            command_hash=row.command_hash,
            approval_id=row.approval_id,
            connector=row.connector,
            attempts=row.attempts,
            dispatched_at=row.dispatched_at,
            failure=row.failure,
            settled_basis=None if row.settled_basis is None else SettledBasis(row.settled_basis),
            settled_by=row.settled_by,
            evidence_id=row.evidence_id,
        )
