"""Shapes of activating a policy and of going back."""

from typing import Annotated, Literal

from pydantic import Field

from service.wire.scalars import Answer, Id, Request, When

Version = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


class ActivatePlan(Request):
    """The plan that was looked at, and its hash."""

    plan: Id
    hash: Version


class RollBack(Request):
    """The version to go back to; without one, that before the present one."""

    to: Version | None = None


class ActivationAnswer(Answer):
    """One activation. `requested_by` and `second_person` are pseudonyms; the audit trail knows whose.

    From `effective_at` on a time that the version shortened ends something; all else counts at once.
    """

    id: str
    kind: Literal["activate", "rollback", "restore"]
    status: Literal["pending_second_person", "active", "superseded", "cancelled"]
    direction: str
    from_version: str
    to_version: str
    revision: int | None
    plan: str | None
    requested_by: str
    second_person: str | None
    created_at: When
    activated_at: When | None
    effective_at: When | None


class RollbackAnswer(ActivationAnswer):
    """The activation, and in counts what stays as the version that goes has left it."""

    cannot_be_undone: dict[str, int]


class ActivationPage(Answer):
    """Activations, the newest first."""

    items: list[ActivationAnswer]
    next_cursor: str | None
