"""The policy bundle as the rest of the service reads it: frozen, whole, one version."""

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import ConfigDict, Field

from service.core.hashing import hash_json
from service.identity.model import Role
from service.policies.classes import MemoryClass
from service.policies.parts import (
    FrozenMap,
    InstructionPath,
    Name,
    Part,
    Pattern,
    Sentence,
    leave_out_name,
    match_pattern,
)
from service.policies.profiles import Profile
from service.policies.words import (
    ApprovalNeed,
    Authority,
    ContractConfirmation,
    RetainedText,
    Revalidation,
    Submission,
    ToolEffect,
    Trust,
)


class Purpose(Part):
    """What something is used for; consent is given to one of these."""

    description: Sentence
    """What a person reads who is asked for consent."""


class SourceRule(Part):
    """Where evidence may come from, how far it is believed and how much it may count."""

    model_config = ConfigDict(json_schema_extra=leave_out_name)

    name: Name
    uri_prefix: Annotated[str, Field(max_length=200)]
    """The beginning of its addresses, compared without regard to case; empty for all others."""
    kinds: tuple[Annotated[str, Field(min_length=1, max_length=64)], ...] = ()
    """The kinds that it applies to. Empty: any."""
    trust: Trust
    """How far it is believed."""
    ceiling: Authority
    """The highest authority that it may claim."""
    submission: Submission = Submission.ANYONE
    """Who may submit evidence of it: `anyone`, or only credentials `granted` this source by name."""
    settles_own: bool = False
    """Whether what a run's own worker handed in without a grant settles an effect of the run."""


class Command(Part):
    """What the effects of one kind, or family of kinds, need before they may happen."""

    capability: Name
    """The capability that a caller needs."""
    approval: ApprovalNeed
    """Whether an approval is needed first. One may always be asked for."""
    approver: Role
    """The role that decides."""
    longest_expiry_hours: Annotated[int, Field(ge=1, le=8_760)]
    """The longest time that an approval may stand."""
    evidence_needed: Annotated[int, Field(ge=0, le=20)] = 0
    """How many pieces of evidence a request for approval must name."""
    connector: Name | None = None
    """The connector of the settings that delivers it; without one, whoever asks does it themselves."""


class Retention(Part):
    """How long the content of an execution is kept after its end."""

    description: Sentence
    """What it is for."""
    text: RetainedText
    """`full` keeps what is said; `none` keeps its hash and length only."""
    days: Annotated[int, Field(ge=0, le=36_500)]
    """Days after the end of the execution."""


class RoleRule(Part):
    """What a role may do beyond the calls that are open to it."""

    capabilities: tuple[Name, ...]
    """Capabilities that commands and tools ask for."""


class ToolRule(Part):
    """The capability that a tool, or family of tools, needs to be shown in a package."""

    read: Name
    """The capability for a tool that only reads."""
    write: Name
    """The capability for a tool that changes something."""


class Stopping(Part):
    """When a run is to stop, in numbers and in sentences that a package shows."""

    steps_max: Annotated[int, Field(ge=1, le=1_000_000)] = 1_000
    """The most steps of any run; an execution may ask for fewer."""
    revisions_max: Annotated[int, Field(ge=1, le=1_000)] = 3
    """Failed checks of one requirement before it is escalated; an execution may ask for fewer."""
    revalidation: Revalidation = Revalidation.AFFECTED
    """`affected` carries passing checks over to a candidate with the same declared inputs; `full` none."""
    contract_confirmation: ContractConfirmation = ContractConfirmation.ALWAYS
    """Which task contracts a person confirms before anything can be completed."""
    rules: Annotated[tuple[Sentence, ...], Field(max_length=50)] = ()
    """Sentences for the section `limits`."""


class Guards(Part):
    """How much one activation of another policy may affect. Those of the policy that counts are asked."""

    max_affected: Annotated[int, Field(ge=0)] = 100_000
    """Memories that one activation may end sooner or hide."""
    max_affected_percent: Annotated[int, Field(ge=0, le=100)] = 50
    """The same in hundredths of all that live."""
    tolerance_percent: Annotated[int, Field(ge=0, le=100)] = 5
    """How far the data may have moved, in hundredths, since a plan was made."""
    shortening_grace_days: Annotated[int, Field(ge=0, le=365)] = 7
    """Days after an activation before which no shortened time ends anything."""


class Bundle(Part):
    """Everything that one version of the policies says. What it does not say is not allowed."""

    version: str
    """`sha256:<hex>` over the canonical content of all files."""
    classes: FrozenMap[Name, MemoryClass] = Field(default_factory=dict)
    purposes: FrozenMap[Name, Purpose] = Field(default_factory=dict)
    profiles: FrozenMap[Name, Profile] = Field(default_factory=dict)
    sources: tuple[SourceRule, ...] = ()
    """Longest prefix first, so that the first that fits is the most specific."""
    commands: FrozenMap[Pattern, Command] = Field(default_factory=dict)
    retention: FrozenMap[Name, Retention] = Field(default_factory=dict)
    roles: FrozenMap[Role, RoleRule] = Field(default_factory=dict)
    tools: FrozenMap[Pattern, ToolRule] = Field(default_factory=dict)
    stopping: Stopping = Stopping()
    guards: Guards = Guards()
    instructions: FrozenMap[InstructionPath, str] = Field(default_factory=dict)
    """The text of each instruction file, by its path."""

    def find_command(self, kind: str) -> Command | None:
        """Answer the rule for effects of `kind`; `None` means that such effects are not allowed."""
        return match_pattern(kind, self.commands)

    def find_tool_capability(self, tool: str, effect: ToolEffect) -> str | None:
        """Answer the capability that showing `tool` needs; `None` means that it is not allowed."""
        rule = match_pattern(tool, self.tools)
        if rule is None:
            return None
        return rule.read if effect is ToolEffect.READ else rule.write

    def capabilities_of(self, role: Role, *, delegated: bool) -> frozenset[str]:
        """Answer a credential's capabilities: a delegated one has what both agent and user have."""
        own = self._capabilities(role)
        return own & self._capabilities(Role.USER) if delegated else own

    def instructions_of(self, profile: Profile) -> Mapping[str, str]:
        """Answer the profile's instruction texts by path, in the order of rendering."""
        return {path: self.instructions[path] for path in profile.instructions}

    def version_of_profile(self, profile: Profile) -> str:
        """Answer `sha256:<hex>` over the profile's rules and its instruction texts."""
        return hash_json(
            {
                "profile": profile.model_dump(mode="json"),
                "instructions": list(self.instructions_of(profile).items()),
            }
        )

    def _capabilities(self, role: Role) -> frozenset[str]:
        rule = self.roles.get(role)
        return frozenset(rule.capabilities) if rule is not None else frozenset()


NO_BUNDLE: Final = Bundle(version="none")
"""What counts where no bundle is active: it allows nothing."""
