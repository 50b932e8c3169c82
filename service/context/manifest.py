"""The manifest of a package: everything about it but its texts. Pure."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Final

from service.context.model import Item, Omission, Package, Section
from service.context.request import PackageRequest
from service.core.hashing import hash_json, hash_text

SCHEMA_VERSION: Final = 1
_OPEN_HASHES: Final = frozenset({"evidence", "observation", "instruction", "tool"})
"""Kinds whose plain hash is kept by their own record anyway. Others' texts may be short enough to be guessed
from a plain hash after their key has died."""


def digest_of(package: Package) -> str:
    """Answer `sha256:<hex>` over the package's content and all that it says of itself.

    Its id and time are left out: the same request on the same data, policy and marker has the same digest.
    """
    sections = [
        [
            section.name,
            [[item.candidate.id, item.candidate.version, item.candidate.sha256] for item in section.items],
        ]
        for section in package.sections
    ]
    omissions = [[one.section, one.kind, one.id, one.version, one.reason] for one in package.omissions]
    return hash_json(
        {
            # Tools may hold integers that canonical JSON has no form for: they are hashed as they are sent.
            "content": _hash_plain(package.rendered),
            "encoding": package.encoding,
            "policy_version": package.policy_version,
            "profile_version": package.profile_version,
            # Long lists of names and numbers, which have one form anyway.
            "sections": _hash_plain(sections),
            "omissions": _hash_plain(omissions),
            "degraded": list(package.degraded),
        }
    )


def _hash_plain(value: object) -> str:
    return hash_text(json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


def manifest_of(
    package: Package, asked: PackageRequest, versions: Mapping[str, str], keyed_hash: Callable[[str], str]
) -> Mapping[str, Any]:
    """Answer the manifest as JSON: ids, versions, hashes, scores, omissions and counts."""
    return {
        "schema_version": SCHEMA_VERSION,
        "task_id": asked.task_id,
        "purpose": asked.purpose,
        "profile": asked.profile,
        "render": asked.rendering.value,
        "encoding": package.encoding,
        "tokens_are": "exact" if package.estimate is None else "estimate",
        "token_estimate": None if package.estimate is None else asdict(package.estimate),
        "max_tokens": asked.max_tokens,
        "reply_reserve": asked.reply_reserve,
        "as_of": None if asked.moment.as_of is None else asked.moment.as_of.isoformat(),
        "known_at": None if asked.moment.known_at is None else asked.moment.known_at.isoformat(),
        "used_tokens": package.used_tokens,
        "overhead_tokens": package.overhead_tokens,
        "stable_prefix_tokens": package.stable_prefix_tokens,
        "prefix_hashes": dict(package.prefix_hashes),
        "fence_marker": package.fence_marker,
        "policy_version": package.policy_version,
        "profile_version": package.profile_version,
        "versions": dict(versions),
        "degraded": list(package.degraded),
        "warnings": list(package.warnings),
        "sections": [_section(section, keyed_hash) for section in package.sections],
        "omissions": [_omission(omission) for omission in package.omissions],
    }


def _section(section: Section, keyed_hash: Callable[[str], str]) -> dict[str, Any]:
    return {
        "name": section.name.value,
        "segment": section.segment.value,
        "used_tokens": section.used_tokens,
        "max_tokens": section.max_tokens,
        "value": None if section.worth is None else section.worth.value,
        "lost_value_at_most": None if section.worth is None else section.worth.lost_at_most,
        "items": [_item(item, keyed_hash) for item in section.items],
    }


def _item(item: Item, keyed_hash: Callable[[str], str]) -> dict[str, Any]:
    candidate = item.candidate
    is_open = candidate.kind in _OPEN_HASHES
    cut = item.truncated
    return {
        "citation": item.citation,
        "kind": candidate.kind,
        "id": candidate.id,
        "version": candidate.version,
        "tokens": item.tokens,
        "truncated": {"kept": cut.kept, "of": cut.of} if cut is not None else None,
        "card": item.card,
        "required": candidate.required,
        "authority": candidate.authority,
        "trust": candidate.trust,
        "advisory": candidate.advisory,
        "span": list(item.span) if item.span is not None else None,
        "sha256": candidate.sha256 if is_open else None,
        "keyed_hash": None if is_open else keyed_hash(candidate.sha256),
        "flags": list(candidate.flags),
        "scores": dict(candidate.scores),
    }


def _omission(omission: Omission) -> dict[str, Any]:
    return {
        "section": omission.section.value,
        "kind": omission.kind,
        "id": omission.id,
        "version": omission.version,
        "reason": omission.reason.value,
        "tokens": omission.tokens,
        "would_fit_with": omission.would_fit_with,
        "scores": dict(omission.scores),
    }
