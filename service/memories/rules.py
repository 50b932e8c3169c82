"""Pure decisions about memories: who may read which class, what slot a memory takes, who may decide."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from service.core.cipher import Cipher
from service.identity.model import Caller, Role
from service.memories.model import Cited, Memory, NewProposal, Proposal, Slot, Standing
from service.memories.valid import Validity
from service.policies.model import Bundle
from service.policies.verdict import Existing, MemoryMode, Quote, SourceFacts
from service.policies.words import Approver, Authority, ClassScope, Destination, ProvenanceKind, Trust


@dataclass(frozen=True, slots=True)
class Readable:
    """Classes whose memories a query may answer, apart by what else must hold.

    `own` are those of the caller's person, `shared` those of a project, `others` those of other persons.
    The ones in `consented` need the subject's consent to the purpose besides. Of those in `history` earlier
    values may be read too; a person in person reads all that was ever kept about them.
    """

    own: tuple[str, ...]
    shared: tuple[str, ...]
    others: tuple[str, ...]
    consented: tuple[str, ...]
    history: tuple[str, ...]


def readable_classes(
    bundle: Bundle, caller: Caller, *, purpose: str | None, destination: Destination | None = None
) -> Readable:
    """Answer the classes that `caller` may read for `purpose` (`None`: the caller looks at what is kept).

    With a `destination`, only those whose text may go there.

    A person always reads their own. An agent in their name reads what the class lets agents read. A class
    that the active bundle no longer has is read by nobody but the person whom it is about.
    """
    own, shared, others, consented, history = [], [], [], [], []
    agent = caller.subject if caller.role is Role.AGENT else None
    for name, rule in bundle.classes.items():
        if rule.refuses is not None or (purpose is not None and purpose not in rule.purposes):
            continue
        if destination is not None and destination not in rule.destinations:
            continue
        if rule.consent_needed:
            consented.append(name)
        if caller.role in rule.history_readers and rule.admits(agent):
            history.append(name)
        may_read = caller.role in rule.readers and rule.admits(agent)
        if rule.scope is ClassScope.PROJECT:
            if may_read:
                shared.append(name)
            continue
        is_in_person = caller.act is None and caller.role is Role.USER
        if caller.person is not None and (may_read or is_in_person):
            own.append(name)
        if may_read and caller.role not in (Role.USER, Role.AGENT):
            others.append(name)
    return Readable(tuple(own), tuple(shared), tuple(others), tuple(consented), tuple(history))


def slot_of(new: NewProposal, project_id: str, bundle: Bundle, cipher: Cipher) -> Slot:
    """Answer where the proposed value would stand."""
    rule = bundle.classes.get(new.class_name)
    is_of_person = new.subject is not None and (rule is None or rule.scope is ClassScope.USER)
    subject_hash = cipher.keyed_hash(new.subject) if is_of_person and new.subject is not None else ""
    return Slot(project_id, new.class_name, subject_hash, cipher.keyed_hash(new.key))


def expires_at_of(
    class_name: str, bundle: Bundle, *, created_at: datetime, confirmed_at: datetime, used_at: datetime | None
) -> datetime:
    """Answer when a memory of a class that is kept ends. What was confirmed after its last use is as used."""
    rule = bundle.classes[class_name]
    assert rule.expiry is not None, "the policy has just kept a memory of the class"
    latest = None if used_at is None else max(used_at, confirmed_at)
    return rule.expiry.expires_at(created_at=created_at, confirmed_at=confirmed_at, used_at=latest)


def moved_end(expires_at: datetime, wanted: datetime, effective_at: datetime) -> datetime:
    """Answer when a memory ends once a policy counts that wants another end: sooner only from a date on."""
    if wanted >= expires_at:
        return wanted
    return max(wanted, min(expires_at, effective_at))


def lawful_basis_of(class_name: str, bundle: Bundle) -> str:
    """Answer the class's lawful basis; empty where the bundle has no such class."""
    rule = bundle.classes.get(class_name)
    return "" if rule is None or rule.lawful_basis is None else rule.lawful_basis.value


def memory_mode_of(cited: Iterable[Cited]) -> MemoryMode | None:
    """Answer the strictest memory mode of the runs that the sources come from, or `None` for none."""
    modes = [found.memory_mode for found in cited if found.memory_mode is not None]
    return min(modes, key=list(MemoryMode).index, default=None)


def newest(cited: Iterable[Cited]) -> datetime | None:
    """Answer when the newest source was observed."""
    return max((found.observed_at for found in cited if found.observed_at is not None), default=None)


def compare(
    kept: Standing | None, new_hash: str, validity: Validity, observed_at: datetime | None
) -> Existing:
    """Answer what the active value of the slot says beside the proposed one.

    The same words about another time say something else.
    """
    if kept is None:
        return Existing.NONE
    if kept.content_hash == new_hash and kept.validity == validity:
        return Existing.SAME
    if kept.observed_at is not None and observed_at is not None and kept.observed_at > observed_at:
        return Existing.DIFFERENT_NEWER
    return Existing.DIFFERENT


def is_outranked(kept: Standing | None, cited: Sequence[Cited], *, subject: str | None) -> bool:
    """Say whether the subject wrote what is kept, and nothing that they said since stands against it.

    What an agent repeats from before, or infers, never silently undoes a person's own correction.
    """
    if kept is None or subject is None or not kept.is_written_by(subject):
        return False
    dated = [(found.observed_at, found.facts.is_own_words) for found in cited if found.observed_at]
    newest_at, is_own = max(dated, default=(None, False))
    is_later = newest_at is not None and (kept.observed_at is None or newest_at > kept.observed_at)
    return not (is_own and is_later)


def is_in_person(caller: Caller, subject: str | None) -> bool:
    """Say whether the caller is that person, by their own sign-in."""
    return subject is not None and caller.role is Role.USER and caller.person == subject


def own_act(at: datetime) -> Cited:
    """Answer what the subject does by their own sign-in, as a source: it needs no other."""
    facts = SourceFacts(
        ProvenanceKind.TURN,
        found=True,
        quote=Quote.FOUND,
        trust=Trust.FIRST_PARTY,
        authority=Authority.CONVERSATION,
        speaker="user",
        subjects_own=True,
        is_act=True,
    )
    return Cited(facts, observed_at=at)


def may_change(memory: Memory, caller: Caller, bundle: Bundle) -> bool:
    """Say whether the caller may pause, resume or correct what they can see.

    A person's own is that person's; a project's is everybody's whom the class lets correct it. No agent's.
    """
    if memory.content.subject is not None:
        return is_in_person(caller, memory.content.subject)
    rule = bundle.classes.get(memory.class_name)
    return caller.act is None and rule is not None and caller.role in rule.correctors


def part_in_decision(proposal: Proposal, caller: Caller, *, is_subject: bool) -> Approver | None:
    """Answer in which part the caller may decide: as the subject, as a reviewer, or not at all.

    An agent never decides, and a reviewer never decides what they proposed themselves or what is about them:
    where both must, they are two people. The subject may confirm what they handed in by their own sign-in: it
    is their word both times.
    """
    if caller.act is not None:
        return None
    if is_subject and caller.role is Role.USER and proposal.approver in (Approver.SUBJECT, Approver.BOTH):
        return Approver.SUBJECT
    proposed_it = caller.subject == read_principal(proposal.proposer).holder
    if (
        caller.role is Role.REVIEWER
        and not proposed_it
        and not is_subject
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
