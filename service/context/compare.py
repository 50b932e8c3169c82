"""What two packages have that the other has not, told from their manifests alone. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

SETTINGS: Final = (
    "purpose", "profile", "render", "encoding", "max_tokens", "reply_reserve", "task_id", "as_of", "known_at",
    "policy_version", "profile_version", "versions", "degraded",
)  # fmt: skip
"""What a manifest says beside its sections that may explain a difference."""

_SAID_OF_ITEM: Final = ("version", "sha256", "keyed_hash", "span", "truncated", "card")

Key = tuple[str, str, str]
"""Section, kind and id."""


class Change(StrEnum):
    """How an item differs between two packages."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    """In both, with another version or text, or as more or less of itself."""
    MOVED = "moved"
    """In both and alike, at another place of its section."""
    OMITTED = "omitted"
    """In neither, and left out for another reason."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One item that differs: what each package says of it, shown or left out; `None` where it is silent."""

    section: str
    kind: str
    id: str
    change: Change
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    @property
    def is_same_record(self) -> bool:
        """Whether both show one version of one text, perhaps not equally much of it."""
        if self.before is None or self.after is None:
            return False
        return all(self.before.get(name) == self.after.get(name) for name in _SAID_OF_ITEM[:3])


@dataclass(frozen=True, slots=True)
class Comparison:
    """All differences: of the settings by name, of the items, and each section's tokens before and after."""

    settings: Mapping[str, tuple[Any, Any]]
    items: Sequence[Difference]
    tokens: Mapping[str, tuple[int, int]]
    same_stable_prefix: bool
    same_session_prefix: bool


def compare_manifests(before: Mapping[str, Any], after: Mapping[str, Any]) -> Comparison:
    """Answer how two manifests differ, in the order of sections and of items in them."""
    prefixes = (before["prefix_hashes"], after["prefix_hashes"])
    return Comparison(
        settings={
            name: (before.get(name), after.get(name))
            for name in SETTINGS
            if before.get(name) != after.get(name)
        },
        items=[*_item_differences(before, after), *_omission_differences(before, after)],
        tokens=_tokens(before, after),
        same_stable_prefix=prefixes[0]["stable"] == prefixes[1]["stable"],
        same_session_prefix=prefixes[0]["session"] == prefixes[1]["session"],
    )


def _item_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Sequence[Difference]:
    was, now = _items(before), _items(after)
    was_out, now_out = _omissions(before), _omissions(after)
    differences = []
    for key in dict.fromkeys([*was, *now]):
        first, second = was.get(key, ()), now.get(key, ())
        if not first:
            differences.append(Difference(*key, Change.ADDED, was_out.get(key), second[0]))
        elif not second:
            differences.append(Difference(*key, Change.REMOVED, first[0], now_out.get(key)))
        elif [_said(item) for item in first] != [_said(item) for item in second]:
            differences.append(Difference(*key, Change.CHANGED, first[0], second[0]))
    return [*differences, *_moved(was, now)]


def _moved(was: Mapping[Key, Sequence[Any]], now: Mapping[Key, Sequence[Any]]) -> Sequence[Difference]:
    """Yield the items that stand elsewhere among those that both packages show alike."""
    first = [key for key in was if key in now]
    second = [key for key in now if key in was]
    return [
        Difference(*key, Change.MOVED, was[key][0], now[key][0])
        for key, other in zip(first, second, strict=True)
        if key != other and [_said(item) for item in was[key]] == [_said(item) for item in now[key]]
    ]


def _omission_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Sequence[Difference]:
    was, now = _omissions(before), _omissions(after)
    shown = _items(before).keys() | _items(after).keys()
    return [
        Difference(*key, Change.OMITTED, was.get(key), now.get(key))
        for key in dict.fromkeys([*was, *now])
        if key not in shown and _reason(was.get(key)) != _reason(now.get(key))
    ]


def _items(manifest: Mapping[str, Any]) -> Mapping[Key, Sequence[Mapping[str, Any]]]:
    found: dict[Key, list[Mapping[str, Any]]] = {}
    for section in manifest["sections"]:
        for item in section["items"]:
            found.setdefault((section["name"], item["kind"], item["id"]), []).append(item)
    return found


def _omissions(manifest: Mapping[str, Any]) -> Mapping[Key, Mapping[str, Any]]:
    return {(one["section"], one["kind"], one["id"]): one for one in manifest["omissions"]}


def _said(item: Mapping[str, Any]) -> Sequence[Any]:
    return [item.get(name) for name in _SAID_OF_ITEM]


def _reason(omission: Mapping[str, Any] | None) -> tuple[str, int] | None:
    return None if omission is None else (omission["reason"], omission["version"])


def _tokens(before: Mapping[str, Any], after: Mapping[str, Any]) -> Mapping[str, tuple[int, int]]:
    was = {section["name"]: section["used_tokens"] for section in before["sections"]}
    now = {section["name"]: section["used_tokens"] for section in after["sections"]}
    return {name: (was.get(name, 0), now.get(name, 0)) for name in dict.fromkeys([*was, *now])}
