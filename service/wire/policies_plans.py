"""Shapes of simulating a policy."""

from typing import Annotated, Any, Literal

from pydantic import Field

from service.wire.policies import FilePath
from service.wire.scalars import Answer, Request, Text, When

Direction = Literal["stricter", "looser", "neutral"]
"""What is not provably stricter is looser; neutral decides nothing."""


class SimulateBundle(Request):
    """A candidate: the text of each file by its path, and how many days back decisions are looked at."""

    files: Annotated[dict[FilePath, Text], Field(max_length=1_000)]
    days: Annotated[int, Field(ge=1, le=365)] = 30


class RuleChangeAnswer(Answer):
    """One place at which the candidate says something else; `null` where a side says nothing."""

    path: str
    before: Any
    after: Any
    direction: Direction


class DifferenceAnswer(Answer):
    """What a candidate says otherwise than the version that counts. Nothing of it is kept."""

    candidate_version: str
    base_version: str
    base_revision: int
    direction: Direction
    changes: list[RuleChangeAnswer]


class PlanAnswer(Answer):
    """What a candidate would do. `affected` holds counts, `samples` ids, classes, times and codes: no text.

    A sample's `project` is named for its members only.
    """

    id: str
    hash: str
    candidate_version: str
    base_version: str
    base_revision: int
    days: int
    made_at: When
    direction: Direction
    changes: list[RuleChangeAnswer]
    affected: dict[str, Any]
    samples: dict[str, list[dict[str, Any]]]
