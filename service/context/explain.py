"""Explains a kept package: its manifest, with each choice in words."""

from collections.abc import Mapping, Sequence
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
    hidden = _hidden(package, unit)
    sections = [
        {
            **section,
            "items": [
                {**item, "why": why_item(item)}
                for item in section["items"]
                if (item["kind"], item["id"]) not in hidden
            ],
        }
        for section in package.manifest["sections"]
    ]
    omissions = [
        {**omission, "why": why_omission(omission)}
        for omission in package.manifest["omissions"]
        if (omission["kind"], omission["id"]) not in hidden
    ]
    manifest = {**package.manifest, "sections": sections, "omissions": omissions}
    summary = _summary(manifest)
    return Explanation(package, manifest, [_QUARANTINED, *summary] if package.quarantined else summary)


def why_item(item: Mapping[str, Any]) -> str:
    """Say why an item is in the package, and as how much of itself."""
    if item["required"]:
        reason = "in: the profile requires it"
    elif item["scores"]:
        shown = [f"{name} {item['scores'][name]:.2f}" for name in _SCORES_SHOWN if name in item["scores"]]
        reason = f"in: ranked by {', '.join(shown)}" if shown else "in: wanted, and it fitted"
    else:
        reason = "in: wanted, and it fitted"
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
