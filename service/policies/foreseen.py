"""What a bundle means for what is kept, asked and done beside proposals, as its tests ask. Pure.

It says again, for one thing, what queries and use cases say for many; a test holds both against each other.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from service.identity.model import Role
from service.policies.classes import MemoryClass
from service.policies.given import GivenCommand, GivenExecution, GivenMemory, GivenPackage, GivenShare
from service.policies.model import Bundle, Command
from service.policies.profiles import Profile
from service.policies.words import ApprovalNeed, ClassScope, Destination, RetainedText, SectionName


class Hindrance(StrEnum):
    """What keeps a memory out of an answer. Append-only; told in this order."""

    CLASS_UNKNOWN = "class_unknown"
    HELD = "held"
    EXPIRED = "expired"
    PURPOSE = "purpose"
    CONSENT = "consent"
    READER = "reader"
    AGENT = "agent"
    DESTINATION = "destination"
    MODEL = "model"


_OF_PACKAGES = frozenset({Hindrance.DESTINATION, Hindrance.MODEL})
_OF_PLACE = frozenset({Hindrance.DESTINATION})
_OF_PURPOSE = frozenset({Hindrance.PURPOSE})
_PEOPLE = frozenset({Role.USER, Role.AGENT})


@dataclass(frozen=True, slots=True)
class ForeseenMemory:
    """What becomes of a memory at a moment, for one reader.

    `listed`: a list of what is kept shows it. `readable`: a search for the purpose finds it.
    `shown_in_package`: a package may hold it. `kept`: its words still exist. `why_not`: all that keeps it
    out of a search or a package.
    """

    expires_at: datetime | None
    listed: bool
    readable: bool
    shown_in_package: bool
    kept: bool
    why_not: tuple[Hindrance, ...]
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForeseenPackage:
    """What a request for a package comes to before anything is read. `refused`: the code of the refusal."""

    allowed: bool
    refused: str | None
    minima: Mapping[SectionName, int]
    maxima: Mapping[SectionName, int]
    classes: tuple[str, ...]
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForeseenCommand:
    """What an effect needs. `refused`: the code of the refusal of whoever may not ask for it at all."""

    allowed: bool
    refused: str | None
    capability_held: bool
    approval_needed: bool
    approver: Role | None
    evidence_needed: int
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForeseenExecution:
    """What is kept of a run. `refused`: a run of this class cannot be opened."""

    allowed: bool
    refused: str | None
    text: RetainedText | None
    destroyed_at: datetime | None
    rules: tuple[str, ...]


def foresee_memory(given: GivenMemory, bundle: Bundle, now: datetime) -> ForeseenMemory:
    """Answer who may still see a memory at `now`."""
    rule = bundle.classes.get(given.memory_class)
    path = f"classes.{given.memory_class}"
    in_person = given.own and given.reader is Role.USER
    if rule is None or rule.expiry is None:
        return ForeseenMemory(
            expires_at=None,
            listed=in_person,
            readable=False,
            shown_in_package=False,
            kept=True,
            why_not=(Hindrance.CLASS_UNKNOWN,),
            rules=("classes",) if rule is None else (path, f"{path}.refuses"),
        )
    confirmed_at = given.confirmed_at or given.created_at
    used_at = None if given.used_at is None else max(given.used_at, confirmed_at)
    expires_at = rule.expiry.expires_at(
        created_at=given.created_at, confirmed_at=confirmed_at, used_at=used_at
    )
    kept = given.held or now < expires_at + timedelta(days=rule.expiry.keep_ended_days)
    found = tuple(_hindrances(given, rule, is_over=expires_at <= now))
    others = rule.scope is ClassScope.USER and not given.own and given.reader not in _PEOPLE
    listing = set(found) - _OF_PACKAGES - _OF_PURPOSE
    if others and given.reader in rule.readers:
        listing.discard(Hindrance.READER)
    return ForeseenMemory(
        expires_at=expires_at,
        listed=kept and (in_person or not listing),
        readable=not set(found) - _OF_PACKAGES and Destination.SEARCH in rule.destinations,
        shown_in_package=not set(found) - _OF_PLACE and Destination.PACKAGE in rule.destinations,
        kept=kept,
        why_not=found,
        rules=(path, f"{path}.expiry", *(f"{path}.{_KEYS[one]}" for one in found if one in _KEYS)),
    )


_KEYS: Mapping[Hindrance, str] = {
    Hindrance.PURPOSE: "purposes",
    Hindrance.CONSENT: "consent_needed",
    Hindrance.READER: "readers",
    Hindrance.AGENT: "agents",
    Hindrance.DESTINATION: "destinations",
    Hindrance.MODEL: "models",
}


def _hindrances(given: GivenMemory, rule: MemoryClass, *, is_over: bool) -> Iterator[Hindrance]:
    """Yield what keeps a memory out of a search or a package, in the order of `Hindrance`."""
    in_person = given.own and given.reader is Role.USER
    if given.held:
        yield Hindrance.HELD
    if is_over:
        yield Hindrance.EXPIRED
    if given.purpose not in rule.purposes:
        yield Hindrance.PURPOSE
    if rule.consent_needed and not given.consent_given:
        yield Hindrance.CONSENT
    is_of_others = rule.scope is ClassScope.USER and not (given.own and given.reader in _PEOPLE)
    if is_of_others or (given.reader not in rule.readers and not _is_theirs(rule, in_person=in_person)):
        yield Hindrance.READER
    if given.reader is Role.AGENT and not rule.admits(given.agent):
        yield Hindrance.AGENT
    if not {Destination.PACKAGE, Destination.SEARCH} <= set(rule.destinations):
        yield Hindrance.DESTINATION
    if not rule.may_be_sent_to(given.model):
        yield Hindrance.MODEL


def _is_theirs(rule: MemoryClass, *, in_person: bool) -> bool:
    return in_person and rule.scope is ClassScope.USER


def foresee_package(given: GivenPackage, bundle: Bundle) -> ForeseenPackage:
    """Answer whether a request is taken up, each section's share, and the classes that may appear."""
    if given.purpose not in bundle.purposes:
        return _no_package("purpose_unknown", "purposes")
    profile = bundle.profiles.get(given.profile)
    if profile is None:
        return _no_package("profile_unknown", "profiles")
    path = f"profiles.{given.profile}"
    shares = dict(_shares(given, profile))
    for name, asked in given.sections.items():
        if asked.min is not None and asked.max is not None and asked.min > asked.max:
            return _no_package("request_inconsistent", f"{path}.sections.{name}")
    return ForeseenPackage(
        allowed=True,
        refused=None,
        minima={name: share[0] for name, share in shares.items()},
        maxima={name: share[1] for name, share in shares.items()},
        classes=tuple(sorted(name for name, rule in bundle.classes.items() if _may_appear(rule, given))),
        rules=(path,),
    )


def _no_package(code: str, rule: str) -> ForeseenPackage:
    return ForeseenPackage(allowed=False, refused=code, minima={}, maxima={}, classes=(), rules=(rule,))


def _shares(given: GivenPackage, profile: Profile) -> Iterator[tuple[SectionName, tuple[int, int]]]:
    available = max(0, given.max_tokens - given.reply_reserve)
    for name, rule in profile.sections.items():
        asked = given.sections.get(name, GivenShare())
        least = rule.min.of(available) if asked.min is None else asked.min
        most = rule.max.of(available) if asked.max is None else asked.max
        yield name, (min(least, most), most)


def _may_appear(rule: MemoryClass, given: GivenPackage) -> bool:
    if rule.refuses is not None or given.purpose not in rule.purposes:
        return False
    is_persons = rule.scope is ClassScope.USER
    reads = given.reader in rule.readers or _is_theirs(rule, in_person=given.reader is Role.USER)
    admitted = given.reader is not Role.AGENT or rule.admits(given.agent)
    sent = Destination.PACKAGE in rule.destinations and rule.may_be_sent_to(given.model)
    is_there = not is_persons or (given.for_person and given.reader in _PEOPLE)
    return reads and admitted and sent and is_there


def foresee_command(given: GivenCommand, bundle: Bundle) -> ForeseenCommand:
    """Answer what an effect of a kind needs from whoever asks for it."""
    rule = bundle.find_command(given.kind)
    if rule is None:
        return ForeseenCommand(
            allowed=False, refused="effect_not_allowed", capability_held=False, approval_needed=False,
            approver=None, evidence_needed=0, rules=("commands",),
        )  # fmt: skip
    held = rule.capability in bundle.capabilities_of(given.role, delegated=given.is_delegated)
    return ForeseenCommand(
        allowed=held,
        refused=None if held else "capability_missing",
        capability_held=held,
        approval_needed=rule.approval is ApprovalNeed.NEEDED,
        approver=rule.approver,
        evidence_needed=rule.evidence_needed,
        rules=(f"commands.{_pattern_of(rule, bundle)}",),
    )


def _pattern_of(rule: Command, bundle: Bundle) -> str:
    return next(pattern for pattern, one in bundle.commands.items() if one is rule)


def foresee_execution(given: GivenExecution, bundle: Bundle) -> ForeseenExecution:
    """Answer what is kept of a run's text, and the moment from which its content is destroyed."""
    rule = bundle.retention.get(given.retention)
    if rule is None:
        return ForeseenExecution(
            allowed=False,
            refused="retention_class_unknown",
            text=None,
            destroyed_at=None,
            rules=("retention",),
        )
    return ForeseenExecution(
        allowed=True,
        refused=None,
        text=rule.text,
        destroyed_at=given.ended_at + timedelta(days=rule.days),
        rules=(f"retention.{given.retention}",),
    )
