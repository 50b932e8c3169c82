"""Shapes of explaining a decision."""

from typing import Any, Literal

from service.wire.scalars import Answer, When


class StepAnswer(Answer):
    """One check, in order. `rule` is a path in the bundle, `says` what stands there, `saw` the facts."""

    check: str
    result: Literal["denies", "asks", "permits", "passes", "unanswered", "not_reached"]
    rule: str | None
    says: Any
    because: str | None
    saw: dict[str, Any]


class ExplanationAnswer(Answer):
    """Why a proposal was decided as it was. No word of it and no name of a person.

    `policy_outcome` is what policy came to by itself; `outcome` what became of it, which a person may have
    decided (`by_person`). `agrees`: judging it again comes to the same; `null` where that cannot be told, and
    `unexplained` says why.
    """

    id: str
    memory: str | None
    class_name: str
    outcome: str
    codes: list[str]
    by_person: bool
    created_at: When
    decided_at: When | None
    policy_version: str
    policy_outcome: str | None
    policy_codes: list[str]
    rule: str | None
    steps: list[StepAnswer]
    facts: dict[str, Any] | None
    content_hash: str
    agrees: bool | None
    unexplained: Literal["facts_gone", "version_unreadable", "code"] | None
