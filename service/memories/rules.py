"""Pure decisions about memories: who may read which class, what slot a memory takes, who may decide."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from service.core.cipher import Cipher
from service.identity.model import Caller, Role
from service.memories.model import Cited, NewProposal, Proposal, Slot
from service.policies.model import Bundle
from service.policies.verdict import Existing, MemoryMode
from service.policies.words import Approver, ClassScope


@dataclass(frozen=True, slots=True)
class Readable:
    """Classes whose memories a query may answer, apart by what else must hold.

    `own` are those of the caller's person, `shared` those of a project, `others` those of other persons.
    The ones in `consented` need the subject's consent to the purpose besides.
    """

    own: tuple[str, ...]
    shared: tuple[str, ...]
    others: tuple[str, ...]
    consented: tuple[str, ...]


def readable_classes(bundle: Bundle, caller: Caller, *, purpose: str | None) -> Readable:
    """Answer the classes that `caller` may read for `purpose` (`None`: the caller looks at what is kept).

    A person always reads their own. An agent in their name reads what the class lets agents read. A class
    that the active bundle no longer has is read by nobody but the person whom it is about.
    """
    own, shared, others, consented = [], [], [], []
    for name, rule in bundle.classes.items():
        if rule.refuses is not None or (purpose is not None and purpose not in rule.purposes):
            continue
        if rule.consent_needed:
            consented.append(name)
        may_read = caller.role in rule.readers
        if rule.scope is ClassScope.PROJECT:
            if may_read:
                shared.append(name)
            continue
        is_in_person = caller.act is None and caller.role is Role.USER
        if caller.person is not None and (may_read or is_in_person):
            own.append(name)
        if may_read and caller.role not in (Role.USER, Role.AGENT):
            others.append(name)
    return Readable(tuple(own), tuple(shared), tuple(others), tuple(consented))


def slot_of(new: NewProposal, project_id: str, bundle: Bundle, cipher: Cipher) -> Slot:
    """Answer where the proposed value would stand."""
    rule = bundle.classes.get(new.class_name)
    is_of_person = new.subject is not None and (rule is None or rule.scope is ClassScope.USER)
    subject_hash = cipher.keyed_hash(new.subject) if is_of_person and new.subject is not None else ""
    return Slot(project_id, new.class_name, subject_hash, cipher.keyed_hash(new.key))


def memory_mode_of(cited: Iterable[Cited]) -> MemoryMode | None:
    """Answer the strictest memory mode of the runs that the sources come from, or `None` for none."""
    modes = [found.memory_mode for found in cited if found.memory_mode is not None]
    return min(modes, key=list(MemoryMode).index, default=None)


def newest(cited: Iterable[Cited]) -> datetime | None:
    """Answer when the newest source was observed."""
    return max((found.observed_at for found in cited if found.observed_at is not None), default=None)


def compare(
    kept_hash: str | None, kept_observed_at: datetime | None, new_hash: str, observed_at: datetime | None
) -> Existing:
    """Answer what the active value of the slot says beside the proposed one."""
    if kept_hash is None:
        return Existing.NONE
    if kept_hash == new_hash:
        return Existing.SAME
    if kept_observed_at is not None and observed_at is not None and kept_observed_at > observed_at:
        return Existing.DIFFERENT_NEWER
    return Existing.DIFFERENT


def part_in_decision(proposal: Proposal, caller: Caller, *, is_subject: bool) -> Approver | None:
    """Answer in which part the caller may decide: as the subject, as a reviewer, or not at all.

    An agent never decides, and a reviewer never decides what they proposed themselves. The subject may
    confirm what they handed in by their own sign-in: it is their word both times.
    """
    if caller.act is not None:
        return None
    if is_subject and caller.role is Role.USER and proposal.approver in (Approver.SUBJECT, Approver.BOTH):
        return Approver.SUBJECT
    proposed_it = caller.subject == read_principal(proposal.proposer).holder
    if (
        caller.role is Role.REVIEWER
        and not proposed_it
        and proposal.approver in (Approver.REVIEWER, Approver.BOTH)
    ):
        return Approver.REVIEWER
    return None


@dataclass(frozen=True, slots=True)
class Proposer:
    """Who proposed, as the record names them."""

    role: Role
    holder: str
    person: str | None
    """The person whose name it was done in, or `None` for an agent that acts for nobody."""


def read_principal(principal: str) -> Proposer:
    """Read `Caller.principal` back: `role:holder`, or `role:holder:for:user` for a delegated credential."""
    head, delegated, user = principal.partition(":for:")
    role, _, holder = head.partition(":")
    if delegated:
        return Proposer(Role(role), holder, user)
    return Proposer(Role(role), holder, None if role == Role.AGENT else holder)


def is_complete(approver: Approver | None, approvals: Iterable[str]) -> bool:
    """Say whether all who must approve have done so."""
    given = set(approvals)
    if approver is Approver.BOTH:
        return given >= {Approver.SUBJECT, Approver.REVIEWER}
    return bool(given)
