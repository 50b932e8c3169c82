"""What is asked of a package, as plain values, and why it may be refused before anything is read."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from service.context.model import Rendering, Tool
from service.core.errors import Invalid
from service.memories.valid import PRESENT, Moment
from service.policies.words import SectionName


class PurposeUnknown(Invalid):
    """The active bundle has no such purpose."""

    code = "purpose_unknown"
    title = "No such purpose"


class ProfileUnknown(Invalid):
    """The active bundle has no such context profile."""

    code = "profile_unknown"
    title = "No such context profile"


class RequestInconsistent(Invalid):
    """Two fields of the request contradict each other."""

    code = "request_inconsistent"
    title = "Parts of the request contradict each other"


@dataclass(frozen=True, slots=True)
class SectionLimits:
    """What a request changes in a section's share, in tokens; `None` leaves the profile's."""

    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class PackageRequest:
    """What is asked. `project` is a name; without `query` one is made from the execution."""

    project: str
    purpose: str
    max_tokens: int
    reply_reserve: int = 0
    execution_id: str | None = None
    task_id: str | None = None
    query: str | None = None
    encoding: str | None = None
    model: str | None = None
    profile: str = "default"
    sections: Mapping[SectionName, SectionLimits] = field(default_factory=dict)
    tools: tuple[Tool, ...] = ()
    rendering: Rendering = Rendering.MARKDOWN
    moment: Moment = PRESENT
    """What memories are asked about: what was true, and known, when."""

    @property
    def budget(self) -> int:
        """Tokens that the package may take."""
        return max(0, self.max_tokens - self.reply_reserve)
