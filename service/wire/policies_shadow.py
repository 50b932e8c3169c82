"""Shapes of shadows."""

from typing import Annotated, Any, Literal

from pydantic import Field

from service.wire.policies_activations import Version
from service.wire.scalars import Answer, Id, Request, When


class BeginShadow(Request):
    """The plan that was looked at, its hash, and how long to watch its candidate."""

    plan: Id
    hash: Version
    days: Annotated[int, Field(ge=1, le=90)] = 14


class ShadowAnswer(Answer):
    """A shadow, and what its candidate would have decided otherwise while it ran. No word of anybody's."""

    id: str
    plan: str
    status: Literal["running", "stopped", "superseded", "over"]
    base_version: str
    candidate_version: str
    began_by: str
    began_at: When
    until: When
    ended_at: When | None
    affected: dict[str, Any]
    samples: dict[str, list[dict[str, Any]]]
