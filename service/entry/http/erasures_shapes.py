"""What erasures, receipts and holds look like outside, and their examples."""

from typing import Any, Final

from service.governance.model import Erasure, Hold
from service.wire.erasures import (
    ErasureAnswer,
    ErasureBegun,
    HoldAnswer,
    ReceiptAnswer,
    StoreReceiptAnswer,
)

_ID: Final = "01939b5f-0000-7000-8000-000000000000"
_RECEIPT: Final[dict[str, Any]] = {
    "id": _ID,
    "status": "completed",
    "stores": [{"store": "memories", "removed": 1, "verified": True, "state": "done"}],
    "backups_expire_at": None,
    "completed_at": "2026-11-30T10:00:00Z",
}
ERASED_EXAMPLE: Final[dict[str, Any]] = {"receipt": _RECEIPT}
BEGUN_EXAMPLE: Final[dict[str, Any]] = {"id": _ID, "status": "running"}
ERASURE_EXAMPLE: Final[dict[str, Any]] = {
    "id": _ID,
    "kind": "memory",
    "status": "completed",
    "due_at": "2026-12-28T10:00:00Z",
    "starts_at": None,
    "failure": None,
    "receipt": _RECEIPT,
}
HOLD_EXAMPLE: Final[dict[str, Any]] = {
    "id": _ID,
    "scope": "project",
    "ref": _ID,
    "basis": "Claim 12/2026, preservation ordered on 3 March",
    "until": "2027-03-03T00:00:00Z",
    "by": "admin:admin-1",
    "created_at": "2026-11-30T10:00:00Z",
    "released_at": None,
}
PLACE_EXAMPLE: Final[dict[str, Any]] = {name: HOLD_EXAMPLE[name] for name in ("scope", "basis", "until")} | {
    "ref": "alpha"
}
HOLDS_EXAMPLE: Final[dict[str, Any]] = {"items": [HOLD_EXAMPLE], "next_cursor": None}


def begun_answer(erasure: Erasure) -> ErasureBegun:
    """Answer that an erasure is under way."""
    return ErasureBegun(id=erasure.id, status=erasure.state.value)


def erasure_answer(erasure: Erasure) -> ErasureAnswer:
    """Answer an erasure with its receipt as it stands."""
    return ErasureAnswer(
        id=erasure.id,
        kind=erasure.kind.value,
        status=erasure.state.value,
        due_at=erasure.due_at,
        starts_at=erasure.starts_at,
        failure=erasure.failure,
        receipt=receipt_answer(erasure),
    )


def receipt_answer(erasure: Erasure) -> ReceiptAnswer:
    """Answer a receipt; a store is done once a query of its own has found nothing."""
    return ReceiptAnswer(
        id=erasure.id,
        status=erasure.state.value,
        stores=[
            StoreReceiptAnswer(
                store=store.store,
                removed=store.removed,
                verified=store.verified,
                state="done" if store.is_done and store.verified else "pending",
            )
            for store in erasure.stores
        ],
        backups_expire_at=erasure.backups_expire_at,
        completed_at=erasure.completed_at,
    )


def hold_answer(hold: Hold) -> HoldAnswer:
    """Answer a hold."""
    return HoldAnswer(
        id=hold.id,
        scope=hold.scope.value,
        ref=hold.ref,
        basis=hold.basis,
        until=hold.until,
        by=hold.by,
        created_at=hold.created_at,
        released_at=hold.released_at,
    )
