"""What passes through: kept answers, messages on their way, lineage, and what was put aside."""

from typing import Final

from sqlalchemy import ColumnElement, and_, select
from sqlmodel import col, or_

from service.core.idempotency import IdempotencyRefRow, IdempotencyRow
from service.core.lineage import DerivationRow
from service.core.outbox import OutboxRow
from service.core.quarantined import QuarantineItemRow
from service.governance.model import Kind
from service.governance.stores.store_rows import ALL_KINDS, Reach, Rows, RowStore, emptied
from service.governance.tables import HoldRow, QuarantineRow


def _released(reach: Reach) -> ColumnElement[bool]:
    named = or_(col(HoldRow.ref) == reach.target.ref, col(HoldRow.ref).in_(reach.items()))
    return and_(col(HoldRow.released_at).is_not(None), named)


def _begun_at(reach: Reach) -> ColumnElement[bool]:
    row, kinds = QuarantineRow, ("memory", "summary", "execution", "evidence", "observation")
    return or_(
        *(and_(col(row.source_kind) == kind, col(row.source_id).in_(reach.items(kind))) for kind in kinds)
    )


def _answers(reach: Reach) -> ColumnElement[bool]:
    ref = col(IdempotencyRefRow.ref)
    # What an administrator or reviewer wrote about it was answered to them, too.
    about = [
        select(col(row.id)).where(col(row.tenant_id) == reach.tenant_id, condition)
        for row, condition in ((HoldRow, _released(reach)), (QuarantineRow, _begun_at(reach)))
    ]
    holders = select(col(IdempotencyRefRow.key_hash)).where(
        col(IdempotencyRefRow.tenant_id) == reach.tenant_id,
        or_(ref.in_(reach.items()), *(ref.in_(ids) for ids in about)),
    )
    return col(IdempotencyRow.key_hash).in_(holders)


def _made(reach: Reach) -> ColumnElement[bool]:
    kinds = ("memory", "summary", "execution", "evidence", "observation")
    return or_(
        *(
            and_(col(DerivationRow.kind) == kind, col(DerivationRow.item_id).in_(reach.items(kind)))
            for kind in kinds
        )
    )


ANSWERS: Final = RowStore(
    "idempotency",
    (Rows(IdempotencyRow, _answers, emptied(body=None, headers={}, erased=True)),),
    note="Keyed hashes of a key and its request stay for the rest of the day, so that a repeat is 410.",
)

OUTBOX: Final = RowStore(
    "outbox",
    (
        Rows(
            OutboxRow,
            lambda reach: col(OutboxRow.payload)["subject"].as_string() == reach.subject,
            kinds=frozenset({Kind.SUBJECT}),
        ),
    ),
    note="Other messages hold ids and versions.",
)

LINEAGE: Final = RowStore(
    "lineage",
    (Rows(DerivationRow, _made),),
    note="That something else was made from what is gone stays, by its id.",
)


def _put_aside(reach: Reach) -> ColumnElement[bool]:
    kinds = ("memory", "summary", "execution", "evidence", "package")
    return or_(
        *(
            and_(col(QuarantineItemRow.kind) == kind, col(QuarantineItemRow.item_id).in_(reach.items(kind)))
            for kind in kinds
        )
    )


PUT_ASIDE: Final = RowStore(
    "quarantines",
    (
        Rows(QuarantineItemRow, _put_aside),
        Rows(QuarantineRow, _begun_at, emptied(reason=b""), kinds=ALL_KINDS - {Kind.RETENTION}),
    ),
    note="That a source was put aside stays, without the reason: what is said of it may be said of a person.",
)


HOLDS: Final = RowStore(
    "holds",
    (Rows(HoldRow, _released),),
    note="A hold that stands keeps the erasure from beginning; one over a whole project names nobody.",
)
