"""Quarantines: a poisoned source, and what was put aside with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from service.core.errors import Conflict, Invalid
from service.core.lineage import Node

SOURCE_KINDS: Final = ("evidence", "observation", "turn", "memory", "summary", "execution")
"""What a quarantine may begin at: an item, by its kind and id."""
AFFECTED: Final[Mapping[str, str]] = {
    "memories": "memory",
    "summaries": "summary",
    "packages": "package",
    "executions": "execution",
    "evidence": "evidence",
    "observations": "observation",
    "turns": "turn",
}
"""What is counted, by the name that it is answered under."""
EXECUTIONS_NAMED_MAX: Final = 100
"""So many runs are named at once; all of them are among the items."""


class SourceUnreadable(Invalid):
    """What is to be quarantined is not written as `kind:id`, or of a kind that cannot be."""

    code = "source_invalid"
    title = "A quarantine begins at evidence, an observation, a turn, a memory, a summary or an execution"


class QuarantineReleased(Conflict):
    """A quarantine is released once."""

    code = "quarantine_released"
    title = "This quarantine has been released"


@dataclass(frozen=True, slots=True)
class Quarantine:
    """A source with all that was made from it, put aside in one step.

    `affected` counts what was put aside when it began, the source among it, by the names of `AFFECTED`.
    """

    id: str
    source: Node
    reason: str
    affected: Mapping[str, int]
    by: str
    created_at: datetime
    released_at: datetime | None = None
    released_by: str | None = None

    @property
    def stands(self) -> bool:
        """Whether it has not been released."""
        return self.released_at is None


@dataclass(frozen=True, slots=True)
class Reach:
    """What a quarantine holds, or would: counts, and the first of the runs that the caller may enter."""

    affected: Mapping[str, int]
    executions: Sequence[str]


@dataclass(frozen=True, slots=True)
class Restored:
    """A quarantine that was just released, and how many things no other one holds, by the same names."""

    quarantine: Quarantine
    counts: Mapping[str, int]
