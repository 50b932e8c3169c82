"""What one YAML file of a bundle may hold: any of the sections, each entry under its name."""

from typing import Final

from pydantic import Field

from service.identity.model import Role
from service.policies.classes import MemoryClass
from service.policies.model import (
    Command,
    Guards,
    Purpose,
    Retention,
    RoleRule,
    SourceRule,
    Stopping,
    ToolRule,
)
from service.policies.parts import FrozenMap, Name, Part, Pattern
from service.policies.profiles import Profile

NAMED_SECTIONS: Final = ("classes", "profiles", "sources")
"""Sections whose entries know their own name: it is the key that they stand under."""


class BundleFile(Part):
    """A policy file of Muniment. Sections may be spread over files; an entry stands in one of them only."""

    classes: FrozenMap[Name, MemoryClass] = Field(default_factory=dict)
    """Memory classes: what may be remembered."""
    purposes: FrozenMap[Name, Purpose] = Field(default_factory=dict)
    """Purposes that memories and packages may name."""
    profiles: FrozenMap[Name, Profile] = Field(default_factory=dict)
    """Context profiles: how packages are built."""
    sources: FrozenMap[Name, SourceRule] = Field(default_factory=dict)
    """Where evidence comes from, and how far it is believed."""
    commands: FrozenMap[Pattern, Command] = Field(default_factory=dict)
    """Kinds of effects, and what they need."""
    retention: FrozenMap[Name, Retention] = Field(default_factory=dict)
    """Retention classes of executions."""
    roles: FrozenMap[Role, RoleRule] = Field(default_factory=dict)
    """Capabilities of each role."""
    tools: FrozenMap[Pattern, ToolRule] = Field(default_factory=dict)
    """Tools, and the capability that each needs."""
    stopping: Stopping | None = None
    """When a run is to stop."""
    guards: Guards | None = None
    """How much one activation of another policy may affect."""
