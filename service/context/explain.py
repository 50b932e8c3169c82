"""Explains a kept package: its manifest, with each choice in words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from service.context.model import OmissionReason
from service.context.store import KeptPackage, PackageStore
from service.core.errors import NotFound
from service.core.ids import is_id
from service.evidence.store import EvidenceStore
from service.identity.model import TENANT_WIDE_ROLES
from service.identity.unit import Unit

_WORDS: Final[Mapping[OmissionReason, str]] = MappingProxyType(
    {
        OmissionReason.OVER_BUDGET: "left out: what was wanted more had taken its section's tokens",
        OmissionReason.DUPLICATE: "left out: something in the package says the same",
        OmissionReason.SUPERSEDED: "left out: a newer one of the same source stands in its place",
        OmissionReason.STALE: "left out: it was to be fresh until a time that has passed",
        OmissionReason.LOW_RELEVANCE: "left out: it shares neither words nor meaning with the query",
        OmissionReason.PURPOSE: "left out: it may not be used for this purpose, or given to this model",
        OmissionReason.TRUST: "left out: its source is not trusted enough",
        OmissionReason.EXPIRED: "left out: it has expired",
        OmissionReason.QUARANTINED: "left out: its source is under quarantine",
        OmissionReason.RECOVERY: "left out: in a run, only the holder of a full lease is shown write tools",
        OmissionReason.NOT_PERMITTED: "left out: the caller's capabilities do not permit it",
    }
)
assert _WORDS.keys() == set(OmissionReason)

_QUARANTINED: Final = (
    "Something that it showed, or that was made from what it showed, is under quarantine now."
)
_PERSONAL: Final = frozenset({"memory"})
"""Kinds that only the acting user of the package, and those who stand beside the projects, see named."""
_ERASABLE: Final = frozenset({"evidence", "memory", "observation", "summary", "turn"})
_ERASED: Final = "erased since: its id and its hash are all that is left"
_BARE: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "truncated": None,
        "authority": None,
        "trust": None,
        "advisory": False,
        "span": None,
        "would_fit_with": None,
        "scores": {},
    }
)
"""What an entry no longer says once its item is erased."""
_REQUIRED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "instruction": "the profile names it",
        "scope": "every package says who acts and for whom",
        "objective": "the run's objective is never left out",
        "requirement": "the run's requirements are never left out",
        "pin": "what binds or blocks the run is never left out",
        "effect": "an outcome that nobody knows is never left out",
        "check": "a failed check is never left out",
    }
)
_WANTED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tool": "the caller may use it now",
        "summary": "it stands for turns that are not all here",
        "observation": "the newest result of its source",
        "pin": "pinned, and not settled",
        "task": "a task of the run",
        "limit": "what is left, and when to stop",
    }
)
_SCORES_SHOWN: Final = ("score", "relevance", "authority", "freshness")


@dataclass(frozen=True, slots=True)
class Explanation:
    """A kept package as the caller may see it. Items and omissions carry `why`."""

    package: KeptPackage
    manifest: Mapping[str, Any]
    summary: Sequence[str]


def explain_package(package_id: str, *, unit: Unit) -> Explanation:
    """Answer a package's manifest in words. Raises `NotFound` for one that the caller may not read.

    Another member of the project sees neither memories nor evidence that only the package's user may read.
    """
    package = PackageStore.of(unit).find(package_id) if is_id(package_id) else None
    if package is None or package.project_id not in unit.caller.project_ids:
        raise NotFound
    hidden, erased = _hidden(package, unit), _erased(package, unit)
    sections = [
        {
            **section,
            "items": [
                _explained(item, why_item, erased)
                for item in section["items"]
                if (item["kind"], item["id"]) not in hidden
            ],
        }
        for section in package.manifest["sections"]
    ]
    omissions = [
        _explained(omission, why_omission, erased)
        for omission in package.manifest["omissions"]
        if (omission["kind"], omission["id"]) not in hidden
    ]
    manifest = {**package.manifest, "sections": sections, "omissions": omissions}
    summary = _summary(manifest)
    return Explanation(package, manifest, [_QUARANTINED, *summary] if package.quarantined else summary)


def why_item(item: Mapping[str, Any]) -> str:
    """Say why an item is in the package, and as how much of itself."""
    reason = f"in: {_why_wanted(item)}"
    if item["card"]:
        return f"{reason}; as a card, since the whole did not fit"
    if item["truncated"] is not None:
        cut = item["truncated"]
        return f"{reason}; cut to {cut['kept']} of {cut['of']} tokens"
    return reason


def why_omission(omission: Mapping[str, Any]) -> str:
    """Say why a candidate is not in the package, and what would change it."""
    words = _WORDS[OmissionReason(omission["reason"])]
    if omission["would_fit_with"] is not None:
        return f"{words}; it would be in with max_tokens {omission['would_fit_with']}"
    return words


def _why_wanted(item: Mapping[str, Any]) -> str:
    kind, scores = item["kind"], item["scores"]
    if item["required"]:
        return _REQUIRED.get(kind, "what must not be missed is never left out")
    if "declared_input" in scores:
        return "the task at hand declares it as an input"
    if kind == "turn":
        if scores.get("recency"):
            return "among the newest that were said"
        return f"said earlier, relevance {scores.get('relevance', 0.0):.2f} to the query"
    if (words := _WANTED.get(kind)) is not None:
        return words
    shown = [f"{name} {scores[name]:.2f}" for name in _SCORES_SHOWN if name in scores]
    return f"ranked by {', '.join(shown)}" if shown else "wanted, and it fitted"


def _explained(
    entry: Mapping[str, Any], why: Callable[[Mapping[str, Any]], str], erased: frozenset[tuple[str, str]]
) -> Mapping[str, Any]:
    """Answer an item or omission with its reason; of what was erased since, its id and hash alone."""
    if (entry["kind"], entry["id"]) not in erased:
        return {**entry, "why": why(entry)}
    bare = {name: nothing for name, nothing in _BARE.items() if name in entry}
    return {**entry, **bare, "erased": True, "why": _ERASED}


def _erased(package: KeptPackage, unit: Unit) -> frozenset[tuple[str, str]]:
    """Answer those of the items and omissions that have been erased since."""
    ids: dict[str, set[str]] = {}
    for part in (*package.manifest["sections"], {"items": package.manifest["omissions"]}):
        for entry in part["items"]:
            if entry["kind"] in _ERASABLE:
                ids.setdefault(entry["kind"], set()).add(entry["id"])
    return frozenset(
        (kind, item_id)
        for kind, found in ids.items()
        for item_id in unit.ledger.buried(unit.tenant_id, kind, found)
    )


def _hidden(package: KeptPackage, unit: Unit) -> frozenset[tuple[str, str]]:
    caller = unit.caller
    if caller.sub == package.acting_user or caller.role in TENANT_WIDE_ROLES:
        return frozenset()
    named = {
        (entry["kind"], entry["id"])
        for part in (*package.manifest["sections"], {"items": package.manifest["omissions"]})
        for entry in part["items"]
    }
    evidence = sorted(item_id for kind, item_id in named if kind == "evidence")
    readable = EvidenceStore.of(unit).readable_heads(evidence, caller)
    return frozenset(
        (kind, item_id)
        for kind, item_id in named
        if kind in _PERSONAL or (kind == "evidence" and item_id not in readable)
    )


def _summary(manifest: Mapping[str, Any]) -> Sequence[str]:
    budget = manifest["max_tokens"] - manifest["reply_reserve"]
    prefix = manifest["stable_prefix_tokens"]
    lines = [f"{manifest['used_tokens']} of {budget} tokens are used, {prefix} of them in the stable prefix."]
    if (estimate := manifest.get("token_estimate")) is not None:
        lines.append(f"Counts are estimates: {estimate['method']}.")
    for section in manifest["sections"]:
        left = [one for one in manifest["omissions"] if one["section"] == section["name"]]
        if section["items"] or left:
            lines.append(
                f"{section['name']}: {len(section['items'])} in with {section['used_tokens']} tokens,"
                f" {len(left)} left out."
            )
    lines += [
        f"{name}: search was down, and the profile allows a package without it."
        for name in manifest["degraded"]
    ]
    return lines
