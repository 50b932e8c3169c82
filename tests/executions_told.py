"""What callers of one run were told: the model that a random walk is held to."""

from dataclasses import dataclass, field
from typing import Any

from service.core.hashing import hash_text

ARTIFACTS = [hash_text("build 17"), hash_text("build 18")]
REQUIREMENTS = ["login", "orders"]
OPERATIONS = ["order-1", "order-2"]
OUTCOMES = ["committed", "absent", "undetermined"]
UNSETTLED = {"dispatched", "unknown", "escalated"}
ENDED = {"completed", "cancelled"}


@dataclass
class Told:
    """All that answers have said of the run."""

    version: int = 1
    status: str = "open"
    effects: dict[str, str] = field(default_factory=dict)
    artifact: str | None = None
    passed: dict[tuple[str, str], bool] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)
    token: int | None = None
    highest: int = 0
    until: Any = None
    mode: str | None = None

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    @property
    def is_met(self) -> bool:
        checked = all(self.passed.get((one, self.artifact or "")) for one in REQUIREMENTS)
        return checked and not UNSETTLED & set(self.effects.values())
