"""What can be decided about a text before anything is locked: its project, readers, standing and hashes."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from service.core.errors import Refusal
from service.core.hashing import hash_text
from service.core.lineage import Node
from service.evidence.model import Head, Limitation, NewEvidence, Reference, ReferenceNotFound, Standing
from service.evidence.rules import check_observed, lanes, lock_name, reader_labels, statement
from service.identity.unit import Unit
from service.policies.model import Bundle
from service.policies.sources import find_source, lowest_trust, place_source
from service.policies.words import Submission, Trust


@dataclass(frozen=True, slots=True)
class Prepared:
    """A text that may be kept, with the keys under which it may stand (the first to be tried first)."""

    new: NewEvidence
    project_id: str
    labels: tuple[str, ...]
    readers_key: str
    standing: Standing
    sha256: str
    statement_key: str
    lock_name: str
    uri_keys: tuple[str, ...]


def prepare(
    new: NewEvidence,
    *,
    unit: Unit,
    bundle: Bundle,
    named: Mapping[str, Head],
    aside: Collection[Node] = (),
) -> Prepared | Refusal:
    """Answer the text ready to be kept, or why it is refused.

    `named` are the items it may refer to, `aside` what it may not, since a quarantine holds it.
    """
    try:
        project = unit.project(new.project)
        check_observed(new.source.observed_at, unit.now)
        labels = reader_labels(
            new.readers, project_id=project.id, id_of_project=lambda name: unit.project(name).id
        )
        _check_references(new, project.id, named, aside)
    except Refusal as refusal:
        return refusal
    standing = _standing(new, unit, bundle, named)
    sha256 = hash_text(new.text)
    uri = new.source.uri
    names = lanes(uri, standing.trust, unit.caller.principal)
    return Prepared(
        new=new,
        project_id=project.id,
        labels=labels,
        readers_key=readers_key(labels),
        standing=standing,
        sha256=sha256,
        statement_key=unit.cipher.keyed_hash(statement(new, sha256=sha256, standing=standing, labels=labels)),
        lock_name=lock_name(project.id, uri),
        uri_keys=tuple(unit.cipher.keyed_hash(f"{project.id}\n{name}") for name in names),
    )


def readers_key(labels: Sequence[str]) -> str:
    """Answer a hash that is equal for equal sets of labels."""
    return hashlib.sha256("\n".join(sorted(labels)).encode()).hexdigest()


def _check_references(
    new: NewEvidence, project_id: str, named: Mapping[str, Head], aside: Collection[Node]
) -> None:
    for position, reference in enumerate(new.derived_from):
        is_there = reference.kind != "evidence" or reference.id in named
        if not is_there or Node(reference.kind, reference.id) in aside:
            raise ReferenceNotFound(f"/derived_from/{position}")
    if new.supersedes is not None:
        target = named.get(new.supersedes)
        if target is None or target.project_id != project_id:
            raise ReferenceNotFound("/supersedes")


def _standing(new: NewEvidence, unit: Unit, bundle: Bundle, named: Mapping[str, Head]) -> Standing:
    grants, source = unit.caller.source_grants, new.source
    placed = place_source(source.uri, source.kind, new.authority, grants, bundle)
    trust = lowest_trust([placed.trust, *(_trust_of(reference, named) for reference in new.derived_from)])
    if not placed.limited:
        return Standing(trust, placed.authority)
    rule = find_source(source.uri, source.kind, bundle)
    unvouched = rule is not None and rule.submission is Submission.GRANTED and rule.name not in grants
    limited = Limitation.SOURCE_NOT_GRANTED if unvouched else Limitation.AUTHORITY_ABOVE_CEILING
    return Standing(trust, placed.authority, limited)


def _trust_of(reference: Reference, named: Mapping[str, Head]) -> Trust:
    # Turns, observations, memories and packages stand above evidence and cannot be looked up from here. A
    # lineage that cannot be checked counts as untrusted.
    return named[reference.id].standing.trust if reference.kind == "evidence" else Trust.THIRD_PARTY
