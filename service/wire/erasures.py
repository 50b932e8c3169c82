"""Shapes of erasures, their receipts, and legal holds."""

from typing import Annotated, Literal

from pydantic import Field

from service.wire.scalars import Answer, Request, Text, When

ErasureStatus = Literal["pending", "running", "completed", "failed"]
"""How far an erasure has come as a whole; a pending one waits for its time of grace to end."""


class StoreReceiptAnswer(Answer):
    """What an erasure did in one store. `verified` says that a query of its own found nothing afterwards."""

    store: str
    removed: int
    verified: bool
    state: Literal["done", "pending"]


class ReceiptAnswer(Answer):
    """The receipt of an erasure."""

    id: str
    status: ErasureStatus
    stores: list[StoreReceiptAnswer]
    backups_expire_at: When | None
    completed_at: When | None


class MemoryErased(Answer):
    """The answer to deleting a memory."""

    receipt: ReceiptAnswer


class ErasureBegun(Answer):
    """The answer to a deletion that a job carries out."""

    id: str
    status: ErasureStatus


class ErasureAnswer(Answer):
    """How far an erasure has come. `due_at` is when it must be complete at the latest.

    `starts_at` is when a time of grace ends, `failure` the code of what stopped the last attempt.
    """

    id: str
    kind: Literal["memory", "evidence", "source", "execution", "subject", "restore", "retention"]
    status: ErasureStatus
    due_at: When
    starts_at: When | None
    failure: str | None
    receipt: ReceiptAnswer


class PlaceHold(Request):
    """What is to be held, why, and until when. `ref` is an id, a project's name, or a person's."""

    scope: Literal["memory", "execution", "evidence", "subject", "project"]
    ref: Annotated[Text, Field(min_length=1, max_length=200)]
    basis: Annotated[Text, Field(min_length=1, max_length=1_000)]
    until: When | None = None


class HoldAnswer(Answer):
    """A legal hold. `ref` is an id; of a person it is the keyed hash under which the hold is kept."""

    id: str
    scope: str
    ref: str
    basis: str
    until: When | None
    by: str
    created_at: When
    released_at: When | None


class HoldPage(Answer):
    """A page of holds."""

    items: list[HoldAnswer]
    next_cursor: str | None
