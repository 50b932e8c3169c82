"""Shapes of going on with a run: what was found, the decision, and the lease."""

from typing import Annotated, Any, Literal

from pydantic import Field

from service.wire.scalars import Answer, Hash, Request, When
from service.wire.work import HandoffAnswer

LeaseMode = Literal["full", "recovery"]
"""What the holder of a lease may do."""


class ResumeRun(Request):
    """What a fresh session found where it works. What is recorded and not given does not count."""

    artifact_hash: Hash | None = None
    contract_hash: Hash | None = None
    environment: Annotated[dict[str, Any], Field(max_length=100)] | None = None
    schema_version: Annotated[int, Field(ge=0, le=1_000_000)] | None = None


class ReasonAnswer(Answer):
    """Why a decision was taken. `ref` names what it is about, such as `check:<id>`."""

    code: str
    message: str
    ref: str | None


class LeaseAnswer(Answer):
    """A worker's right to go on. While it lives, every write to the run carries its token."""

    fencing_token: int
    mode: LeaseMode
    expires_at: When


class ResumeAnswer(Answer):
    """What to do first.

    `lease` is `null` where nothing may be done, and while another worker holds the run: until `leased_until`.
    """

    decision: str
    reasons: list[ReasonAnswer]
    handoff: HandoffAnswer
    lease: LeaseAnswer | None
    leased_until: When | None
