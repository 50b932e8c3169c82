"""What two policies make of one memory or package: when it ends, and who is shown it. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple

from service.memories.rules import moved_end
from service.policies.classes import MemoryClass
from service.policies.model import Bundle
from service.policies.words import Trust

_OF_SOURCES: Final = frozenset({"evidence", "observation"})


class Fate(StrEnum):
    """What becomes of a memory's time under a candidate."""

    UNCHANGED = "unchanged"
    SOONER = "sooner"
    LATER = "later"
    NOW = "now"


class KeptMemory(NamedTuple):
    """A memory that lives, without its words. A tuple, since a hundred thousand are made."""

    id: str
    class_name: str
    project_id: str
    subject_hash: str
    purpose: str
    created_at: datetime
    confirmed_at: datetime
    used_at: datetime | None
    expires_at: datetime
    held: bool


@dataclass(frozen=True, slots=True)
class Audience:
    """Who is shown memories of a class for a purpose; an empty set of readers is nobody.

    `agents` and `models` name the only ones, `None` any. `consented`: only while the person's consent stands.
    """

    readers: frozenset[str] = frozenset()
    destinations: frozenset[str] = frozenset()
    agents: frozenset[str] | None = frozenset()
    models: frozenset[str] | None = frozenset()
    consented: bool = True

    def reaches_beyond(self, other: "Audience") -> bool:
        """Say whether somebody is shown here what they are not shown there."""
        if not self.readers:
            return False
        return bool(
            self.readers - other.readers
            or self.destinations - other.destinations
            or _exceeds(self.agents, other.agents)
            or _exceeds(self.models, other.models)
            or (other.consented and not self.consented)
        )


@dataclass(slots=True)
class Comparison:
    """Two bundles, compared for many things. What depends on class and purpose alone is worked out once."""

    base: Bundle
    candidate: Bundle
    _seen: dict[tuple[str, str], tuple[bool, bool]] = field(default_factory=dict)
    _profiles: dict[str, bool] = field(default_factory=dict)
    _trusts: frozenset[str] | None = None

    def fate_of(self, memory: KeptMemory, now: datetime) -> tuple[Fate, datetime | None]:
        """Answer what an activation at this moment makes of a memory's time, and the end that is wanted then.

        A shorter time ends nothing before its effective date, so what ends until then anyway is unchanged. A
        class that is gone ends nothing either, and wants no end: it hides what it kept.
        """
        wanted = ends_at(memory, self.candidate)
        if wanted is None or wanted == memory.expires_at:
            return Fate.UNCHANGED, wanted
        end = moved_end(
            memory.expires_at, wanted, now + timedelta(days=self.base.guards.shortening_grace_days)
        )
        if end == memory.expires_at:
            return Fate.UNCHANGED, wanted
        if end > memory.expires_at:
            return Fate.LATER, wanted
        return (Fate.NOW if wanted <= now else Fate.SOONER), wanted

    def sight_of(self, class_name: str, purpose: str) -> tuple[bool, bool]:
        """Say whether some lose sight of what a class keeps for a purpose, and whether some gain it."""
        key = (class_name, purpose)
        if key not in self._seen:
            before, after = (audience_of(class_name, purpose, one) for one in (self.base, self.candidate))
            self._seen[key] = (before.reaches_beyond(after), after.reaches_beyond(before))
        return self._seen[key]

    def package_codes(
        self, manifest: Mapping[str, Any], memories: Mapping[str, KeptMemory], at: datetime, purpose: str
    ) -> Sequence[str]:
        """Answer why a package that was built at `at` would be another one; nothing: it would not.

        `memories` are those that live of the ones that it showed. The address of a source is no part of a
        manifest: a package counts where it showed something as much trusted as a source that has changed.
        """
        codes = ["profile"] if self._is_other_profile(manifest["profile"]) else []
        items = [item for section in manifest["sections"] for item in section["items"]]
        shown = [
            memories[item["id"]] for item in items if item["kind"] == "memory" and item["id"] in memories
        ]
        if any(self._is_lost(memory, at, purpose) for memory in shown):
            codes.append("memory")
        if any(item["kind"] in _OF_SOURCES and item["trust"] in self._other_trusts() for item in items):
            codes.append("source")
        return codes

    def _is_lost(self, memory: KeptMemory, at: datetime, purpose: str) -> bool:
        before, after = (ends_at(memory, bundle) for bundle in (self.base, self.candidate))
        was_over = before is not None and before <= at
        is_over = after is not None and after <= at
        return (is_over and not was_over) or self.sight_of(memory.class_name, purpose)[0]

    def _is_other_profile(self, name: str) -> bool:
        if name not in self._profiles:
            versions = [
                None if name not in bundle.profiles else bundle.version_of_profile(bundle.profiles[name])
                for bundle in (self.base, self.candidate)
            ]
            self._profiles[name] = versions[0] != versions[1]
        return self._profiles[name]

    def _other_trusts(self) -> frozenset[str]:
        if self._trusts is None:
            before = {rule.name: rule for rule in self.base.sources}
            after = {rule.name: rule for rule in self.candidate.sources}
            changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
            trusts: Collection[Trust] = {before[name].trust for name in changed & before.keys()}
            if changed - before.keys():
                # What a new source takes over was another's, or nobody's.
                trusts = set(Trust)
            self._trusts = frozenset(trust.value for trust in trusts)
        return self._trusts


def ends_at(memory: KeptMemory, bundle: Bundle) -> datetime | None:
    """Answer when a memory ends under a bundle; `None` where it says nothing of the class."""
    rule = bundle.classes.get(memory.class_name)
    if rule is None or rule.expiry is None:
        return None
    used_at = None if memory.used_at is None else max(memory.used_at, memory.confirmed_at)
    return rule.expiry.expires_at(
        created_at=memory.created_at, confirmed_at=memory.confirmed_at, used_at=used_at
    )


def audience_of(class_name: str, purpose: str, bundle: Bundle) -> Audience:
    """Answer who is shown memories of a class for a purpose, beside the person whom they are about."""
    rule: MemoryClass | None = bundle.classes.get(class_name)
    if rule is None or rule.expiry is None or purpose not in rule.purposes:
        return Audience()
    return Audience(
        readers=frozenset(role.value for role in rule.readers),
        destinations=frozenset(one.value for one in rule.destinations),
        agents=frozenset(rule.agents) or None,
        models=frozenset(rule.models) or None,
        consented=rule.consent_needed,
    )


def _exceeds(mine: frozenset[str] | None, theirs: frozenset[str] | None) -> bool:
    if theirs is None:
        return False
    return mine is None or bool(mine - theirs)
