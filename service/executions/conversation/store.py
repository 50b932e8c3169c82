"""The queries of one tenant's turns, pins and summaries."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import and_, insert
from sqlmodel import Session, col, func, select

from service.core.quarantined import Quarantined, QuarantineItemRow
from service.executions.conversation.model import Pin, PinKind, Summary, Turn, TurnRole
from service.executions.conversation.tables import PinRow, SummaryRow, TurnRow
from service.executions.model import PinnedSource
from service.executions.sealed import SealedText
from service.executions.sequences import last_number

_ADD_TURN: Final = insert(TurnRow)


class ConversationStore:
    """Reads and adds; visibility is decided by `ExecutionStore`, which hands out what stands here."""

    def __init__(self, session: Session, tenant_id: str, text: SealedText) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._text = text

    def last_sequence(self, execution_id: str) -> int:
        """Answer the highest sequence among the run's turns, 0 when nothing was said."""
        return last_number(self._session, TurnRow, self._tenant_id, execution_id)

    def add_turn(self, turn: Turn, *, person: str | None, keep_text: bool) -> None:
        """Keep a turn; with `keep_text` false, its hash and token count alone."""
        text = turn.text if keep_text else None
        calls = [dict(call) for call in turn.tool_calls] if keep_text and turn.tool_calls else None
        row = {
            "tenant_id": self._tenant_id,
            "id": turn.id,
            "execution_id": turn.execution_id,
            "sequence": turn.sequence,
            "role": turn.role,
            "text": self._text.seal(text, person=person, place=f"turns/{turn.id}/text"),
            "text_hash": turn.text_hash,
            "tool_calls": self._text.seal_json(calls, person=person, place=f"turns/{turn.id}/tool_calls"),
            "tool_call_id": turn.tool_call_id,
            "tokens": turn.tokens,
            "relayed": turn.relayed,
            "said_by": turn.said_by,
            "agent": turn.agent,
            "created_at": turn.at,
        }
        self._session.connection().execute(_ADD_TURN, row)

    def turns(
        self, execution_id: str, *, last: int, from_sequence: int = 1, to_sequence: int | None = None
    ) -> Sequence[Turn]:
        """Answer up to `last` newest turns of a range of sequences (both ends included), in their order."""
        query = select(TurnRow).where(
            TurnRow.tenant_id == self._tenant_id,
            TurnRow.execution_id == execution_id,
            TurnRow.sequence >= from_sequence,
        )
        if to_sequence is not None:
            query = query.where(TurnRow.sequence <= to_sequence)
        rows = self._session.exec(query.order_by(col(TurnRow.sequence).desc()).limit(last)).all()
        return [self._turn(row) for row in reversed(rows)]

    def outline(
        self, execution_id: str, *, before_sequence: int, count: int
    ) -> Sequence[tuple[int, TurnRole, str | None]]:
        """Answer sequence, role and text of up to `count` turns before one, in their order.

        For looking through many: a whole turn takes several times as long to read.
        """
        rows = self._session.exec(
            select(TurnRow.id, TurnRow.sequence, TurnRow.role, TurnRow.text)
            .where(
                TurnRow.tenant_id == self._tenant_id,
                TurnRow.execution_id == execution_id,
                TurnRow.sequence < before_sequence,
            )
            .order_by(col(TurnRow.sequence).desc())
            .limit(count)
        ).all()
        return [
            (sequence, TurnRole(role), self._text.open(text, place=f"turns/{turn_id}/text"))
            for turn_id, sequence, role, text in reversed(rows)
        ]

    def turns_by_sequence(self, execution_id: str, sequences: Sequence[int]) -> Sequence[Turn]:
        """Answer the run's turns of these sequences, in their order."""
        rows = self._session.exec(
            select(TurnRow)
            .where(
                TurnRow.tenant_id == self._tenant_id,
                TurnRow.execution_id == execution_id,
                col(TurnRow.sequence).in_(sequences),
            )
            .order_by(col(TurnRow.sequence))
        ).all()
        return [self._turn(row) for row in rows]

    def count_quarantined(self, execution_id: str, *, from_sequence: int, to_sequence: int) -> int:
        """Count the turns of a range (both ends included) that are under quarantine."""
        if not Quarantined(self._session, self._tenant_id).newest("turn", count=1):
            # Nearly always: then no run is looked through, however long it is.
            return 0
        held = QuarantineItemRow
        return self._session.exec(
            select(func.count(func.distinct(TurnRow.id)))
            .select_from(TurnRow)
            .join(held, and_(col(held.tenant_id) == TurnRow.tenant_id, col(held.item_id) == TurnRow.id))
            .where(
                held.tenant_id == self._tenant_id,
                held.kind == "turn",
                TurnRow.execution_id == execution_id,
                col(TurnRow.sequence).between(from_sequence, to_sequence),
            )
        ).one()

    def count_texts(self, execution_id: str, *, from_sequence: int, to_sequence: int) -> int:
        """Count the turns of a range (both ends included) whose text is kept."""
        return self._session.exec(
            select(func.count())
            .select_from(TurnRow)
            .where(
                TurnRow.tenant_id == self._tenant_id,
                TurnRow.execution_id == execution_id,
                TurnRow.sequence >= from_sequence,
                TurnRow.sequence <= to_sequence,
                col(TurnRow.text).is_not(None),
            )
        ).one()

    def find_turn(self, turn_id: str) -> Turn | None:
        """Answer a turn of any run of the tenant, or `None`."""
        row = self._session.get(TurnRow, (self._tenant_id, turn_id))
        return None if row is None else self._turn(row)

    def turns_by_id(self, execution_id: str, turn_ids: Sequence[str]) -> Sequence[Turn]:
        """Answer those of the named turns that belong to the run, in their order."""
        rows = self._session.exec(
            select(TurnRow)
            .where(
                TurnRow.tenant_id == self._tenant_id,
                TurnRow.execution_id == execution_id,
                col(TurnRow.id).in_(turn_ids),
            )
            .order_by(col(TurnRow.sequence))
        ).all()
        return [self._turn(row) for row in rows]

    def add_pin(self, pin: Pin, *, person: str | None) -> None:
        """Keep a new pin."""
        self._session.add(
            PinRow(
                tenant_id=self._tenant_id,
                id=pin.id,
                execution_id=pin.execution_id,
                sequence=self.count_pins(pin.execution_id) + 1,
                kind=pin.kind,
                text=self._text.seal(pin.text, person=person, place=f"pins/{pin.id}/text"),
                turn_ids=list(pin.turn_ids),
                relayed=pin.relayed,
                by=pin.by,
                created_at=pin.at,
            )
        )
        self._session.flush()

    def count_pins(self, execution_id: str) -> int:
        """Answer how many pins the run holds. None is ever taken away: the newest one's number says it."""
        return last_number(self._session, PinRow, self._tenant_id, execution_id)

    def resolve_pin(self, pin: Pin, *, person: str | None) -> None:
        """Write the resolution of a pin, or take it away."""
        row = self._session.get_one(PinRow, (self._tenant_id, pin.id))
        row.resolved_at = pin.resolved_at
        row.resolution = self._text.seal(pin.resolution, person=person, place=f"pins/{pin.id}/resolution")
        self._session.add(row)
        self._session.flush()

    def find_pin(self, execution_id: str, pin_id: str) -> Pin | None:
        """Answer the run's pin of that id, or `None`."""
        row = self._session.get(PinRow, (self._tenant_id, pin_id))
        return None if row is None or row.execution_id != execution_id else self._pin(row)

    def pins(self, execution_id: str) -> Sequence[Pin]:
        """Answer all pins of the run in the order they were set, resolved ones too."""
        rows = self._session.exec(
            select(PinRow)
            .where(PinRow.tenant_id == self._tenant_id, PinRow.execution_id == execution_id)
            .order_by(col(PinRow.sequence))
        ).all()
        return [self._pin(row) for row in rows]

    def add_summary(self, summary: Summary, *, person: str | None, keep_text: bool) -> None:
        """Keep a summary."""
        text = summary.text if keep_text else None
        self._session.add(
            SummaryRow(
                tenant_id=self._tenant_id,
                id=summary.id,
                execution_id=summary.execution_id,
                version=summary.version,
                from_sequence=summary.from_sequence,
                to_sequence=summary.to_sequence,
                text=self._text.seal(text, person=person, place=f"summaries/{summary.id}/text"),
                model=summary.model,
                tokens=summary.tokens,
                supersedes=summary.supersedes,
                derived_from=[[one.ref, one.version, one.sha256] for one in summary.sources],
                created_at=summary.at,
            )
        )
        self._session.flush()

    def latest_summary(self, execution_id: str, *, usable: bool = False) -> Summary | None:
        """Answer the run's newest summary, or `None`; a `usable` one is under no quarantine."""
        query = select(SummaryRow).where(
            SummaryRow.tenant_id == self._tenant_id, SummaryRow.execution_id == execution_id
        )
        if usable:
            query = query.where(col(SummaryRow.quarantine_id).is_(None))
        row = self._session.exec(query.order_by(col(SummaryRow.version).desc()).limit(1)).first()
        return None if row is None else self._summary(row)

    def find_summary(self, execution_id: str, summary_id: str) -> Summary | None:
        """Answer the run's summary of that id, or `None`."""
        row = self._session.get(SummaryRow, (self._tenant_id, summary_id))
        return None if row is None or row.execution_id != execution_id else self._summary(row)

    def summary_by_id(self, summary_id: str) -> Summary | None:
        """Answer a summary of any run of the tenant, or `None`."""
        row = self._session.get(SummaryRow, (self._tenant_id, summary_id))
        return None if row is None else self._summary(row)

    def _turn(self, row: TurnRow) -> Turn:
        return Turn(
            id=row.id,
            execution_id=row.execution_id,
            sequence=row.sequence,
            role=TurnRole(row.role),
            text=self._text.open(row.text, place=f"turns/{row.id}/text"),
            tool_calls=tuple(self._text.open_objects(row.tool_calls, place=f"turns/{row.id}/tool_calls")),
            tool_call_id=row.tool_call_id,
            tokens=row.tokens,
            relayed=row.relayed,
            said_by=row.said_by,
            agent=row.agent,
            text_hash=row.text_hash,
            at=row.created_at,
        )

    def _pin(self, row: PinRow) -> Pin:
        return Pin(
            id=row.id,
            execution_id=row.execution_id,
            kind=PinKind(row.kind),
            text=self._text.open(row.text, place=f"pins/{row.id}/text"),
            turn_ids=tuple(row.turn_ids),
            relayed=row.relayed,
            resolved=row.resolved_at is not None,
            resolution=self._text.open(row.resolution, place=f"pins/{row.id}/resolution"),
            by=row.by,
            at=row.created_at,
            resolved_at=row.resolved_at,
        )

    def _summary(self, row: SummaryRow) -> Summary:
        return Summary(
            id=row.id,
            execution_id=row.execution_id,
            version=row.version,
            from_sequence=row.from_sequence,
            to_sequence=row.to_sequence,
            text=self._text.open(row.text, place=f"summaries/{row.id}/text"),
            model=row.model,
            tokens=row.tokens,
            supersedes=row.supersedes,
            sources=tuple(map(_pinned, row.derived_from)),
            at=row.created_at,
            quarantined=row.quarantine_id is not None,
        )


def _pinned(kept: Any) -> PinnedSource:  # noqa: ANN401 - as it stands in a JSON column
    """Read a source of a summary; earlier releases kept the reference alone."""
    return PinnedSource(kept) if isinstance(kept, str) else PinnedSource(*kept)
