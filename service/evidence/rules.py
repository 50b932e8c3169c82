"""Pure rules of evidence: who may read it, what may replace it, how much it weighs."""

import json
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from service.core.errors import Invalid
from service.core.passages import PassageKey
from service.evidence.model import Evidence, Head, NewEvidence, ReaderUnknown, Standing
from service.evidence.ports import Span
from service.identity.model import Caller, Role
from service.policies.words import Trust

CLOCK_AHEAD_MAX: Final = timedelta(minutes=5)
"""How far another's clock may be ahead of ours."""
_ROLES: Final = frozenset(role.value for role in Role if role is not Role.SYSTEM)


def reader_labels(
    readers: Sequence[str], *, project_id: str, id_of_project: Callable[[str], str]
) -> tuple[str, ...]:
    """Answer the labels to store, sorted: names of projects become ids; none means the project itself.

    `id_of_project` raises `NotFound` for a project that the caller may not enter. Raises `ReaderUnknown`.
    """
    labels = set()
    for position, reader in enumerate(readers):
        kind, _, name = reader.partition(":")
        if kind == "project" and name:
            labels.add(f"project:{id_of_project(name)}")
        elif (kind == "user" and name) or (kind == "role" and name in _ROLES):
            labels.add(reader)
        else:
            raise ReaderUnknown("write project:NAME, user:ID or role:ROLE", pointer=f"/readers/{position}")
    return tuple(sorted(labels)) or (f"project:{project_id}",)


def check_observed(observed_at: datetime, now: datetime) -> None:
    """Raise `Invalid` for what was seen in the future: it would outdate whatever is seen until then."""
    if observed_at > now + CLOCK_AHEAD_MAX:
        raise Invalid("lies more than 5 minutes in the future", pointer="/source/observed_at")


def may_read(caller: Caller, *, project_id: str, labels: Collection[str]) -> bool:
    """Say whether the caller is in the project and matches a label: labels narrow, and never widen."""
    return project_id in caller.project_ids and not caller.reader_labels.isdisjoint(labels)


def lanes(uri: str, trust: Trust, principal: str) -> tuple[str, str, str]:
    """Answer the names under which an item may keep this uri, the first to be tried first.

    One uri is one item, unless a version would take away from others what they have: text of less trust,
    or of other readers, is kept beside it as an item of its own and never displaces it.
    """
    return (f"uri\n{uri}", f"trust\n{trust}\n{uri}", f"principal\n{principal}\n{trust}\n{uri}")


def lock_name(project_id: str, uri: str) -> str:
    """Answer the name that is locked while something is kept under this uri, in whatever lane."""
    return f"{project_id}\n{uri}"


def may_judge(caller: Caller) -> bool:
    """Say whether the caller reads what is under quarantine: reviewers and auditors, by their own key."""
    return caller.act is None and caller.role in (Role.REVIEWER, Role.AUDITOR)


def may_add_version(head: Head, *, trust: Trust, readers_key: str, readable: bool, principal: str) -> bool:
    """Say whether a version may join this item, so that the version before it leaves search."""
    if trust.rank > head.standing.trust.rank:
        return False
    return head.created_by == principal or (readable and head.readers_key == readers_key)


def may_supersede(head: Head, *, standing: Standing, readers_key: str, principal: str) -> bool:
    """Say whether new evidence may put this item out of search.

    It must not be below it in trust or authority, and be for the same readers or by whoever added the item.
    """
    if standing.trust.rank > head.standing.trust.rank:
        return False
    if standing.authority.rank > head.standing.authority.rank:
        return False
    return head.created_by == principal or head.readers_key == readers_key


def may_delete(evidence: Evidence, caller: Caller) -> bool:
    """Say whether the item is the caller's own: they added it, or it is about them and nobody else.

    Only a person's own sign-in counts for the second: an agent never deletes in a subject's name.
    """
    if evidence.created_by == caller.principal:
        return True
    return caller.role is Role.USER and caller.act is None and evidence.subjects == (caller.subject,)


def statement(new: NewEvidence, *, sha256: str, standing: Standing, labels: Sequence[str]) -> str:
    """Answer all that a version states, but for when it was seen: equal statements are one version."""
    group = new.group and [new.group.id, new.group.title, new.group.sequence]
    parts = [
        [sha256, new.source.kind, new.source.source_version, new.title, new.media_type],
        [
            standing.trust,
            standing.authority,
            standing.limited,
            list(labels),
            sorted(set(new.subjects)),
            group,
        ],
        [new.supersedes, [[ref.kind, ref.id, ref.version] for ref in new.derived_from]],
        new.metadata,
    ]
    return json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def is_stale(fresh_until: datetime | None, now: datetime) -> bool:
    """Say whether the freshness window has closed."""
    return fresh_until is not None and fresh_until <= now


def tiles(spans: Sequence[Span], characters: int) -> bool:
    """Say whether the spans, joined in order, are the whole text: without gap, overlap or empty piece."""
    position = 0
    for span in spans:
        if span.start != position or span.end <= span.start:
            return False
        position = span.end
    return position == characters


def inner_neighbours(key: PassageKey, chunks: int) -> tuple[PassageKey, ...]:
    """Answer the passages before and after this one inside its item of `chunks` passages."""
    return tuple(
        PassageKey(key.item_id, key.version, ordinal)
        for ordinal in (key.ordinal - 1, key.ordinal + 1)
        if 0 <= ordinal < chunks
    )
