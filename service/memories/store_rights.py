"""Who may read which rows, as conditions of a query: nothing is read first and judged afterwards."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, exists, false, not_, or_, true
from sqlalchemy.orm import Mapped
from sqlmodel import col, select

from service.core.cipher import Cipher
from service.core.held import HOLDS
from service.identity.model import Caller, Role
from service.memories.model import MemoryStatus
from service.memories.rules import Readable, readable_classes
from service.memories.tables import ConsentRow, MemoryRow, MemoryVersionRow, ProposalRow
from service.memories.valid import PRESENT, Moment
from service.policies.model import Bundle
from service.policies.words import Destination

Condition = ColumnElement[bool]


def is_live(now: datetime) -> Condition:
    """Hold for memories that are active and have not run out."""
    return and_(col(MemoryRow.status) == MemoryStatus.ACTIVE, col(MemoryRow.expires_at) > now)


def is_true_at(moment: datetime) -> Condition:
    """Hold for versions that say something about that moment."""
    since, until = col(MemoryVersionRow.valid_from), col(MemoryVersionRow.valid_until)
    return and_(or_(since.is_(None), since <= moment), or_(until.is_(None), until > moment))


def was_known(moment: Moment) -> Condition:
    """Hold for memories that had been kept, and had not ended, when the question says; else for any."""
    at = moment.known_at
    if at is None:
        return true()
    # Of what an older release superseded nobody noted when, and so it was known at no certain time.
    stood = or_(
        col(MemoryRow.status).not_in([MemoryStatus.SUPERSEDED, MemoryStatus.EXPIRED]),
        col(MemoryRow.ended_at) > at,
    )
    return and_(stood, col(MemoryRow.created_at) <= at, col(MemoryRow.expires_at) > at)


def is_held(tenant_id: str, now: datetime) -> Condition:
    """Hold for memories that a legal hold restricts: by themselves, by their person or by their project."""
    return _is_named_by_a_hold(
        tenant_id,
        now,
        memory=col(MemoryRow.id),
        project=col(MemoryRow.project_id),
        subject=col(MemoryRow.subject_hash),
    )


def is_held_proposal(tenant_id: str, now: datetime) -> Condition:
    """Hold for proposals whose memory, person or project a legal hold restricts."""
    return _is_named_by_a_hold(
        tenant_id,
        now,
        memory=col(ProposalRow.memory_id),
        project=col(ProposalRow.project_id),
        subject=col(ProposalRow.subject_hash),
    )


def _is_named_by_a_hold(
    tenant_id: str,
    now: datetime,
    *,
    memory: Mapped[str] | Mapped[str | None],
    project: Mapped[str],
    subject: Mapped[str],
) -> Condition:
    named = or_(
        and_(HOLDS.c.scope == "memory", HOLDS.c.ref == memory),
        and_(HOLDS.c.scope == "project", HOLDS.c.ref == project),
        and_(HOLDS.c.scope == "subject", HOLDS.c.ref == subject, subject != ""),
    )
    stands = and_(HOLDS.c.released_at.is_(None), or_(HOLDS.c.until.is_(None), HOLDS.c.until > now), named)
    return exists(select(HOLDS.c.ref).where(HOLDS.c.tenant_id == tenant_id, stands))


class Rights:
    """The reader policy of one bundle over one tenant's memories, joined with the version asked for."""

    def __init__(self, tenant_id: str, cipher: Cipher, bundle: Bundle) -> None:
        self._tenant_id = tenant_id
        self._cipher = cipher
        self._bundle = bundle

    def may_use(
        self,
        caller: Caller,
        *,
        purpose: str,
        now: datetime,
        moment: Moment = PRESENT,
        destination: Destination | None = None,
    ) -> Condition:
        """Hold for what a search or package of the caller may rely on for `purpose`: own and project's.

        Consent, purpose, expiry and holds are judged now, whatever moment is asked about. With a
        `destination`, only what may go there.
        """
        classes = readable_classes(self._bundle, caller, purpose=purpose, destination=destination)
        stands = self._stands(caller, classes, moment, now)
        return and_(stands, is_true_at(moment.as_of or now), self._allowed(caller, classes, purpose, now))

    def would_use(self, caller: Caller, *, purpose: str, now: datetime) -> Condition:
        """Hold for what `may_use` would hold for now but for a quarantine."""
        classes = readable_classes(self._bundle, caller, purpose=purpose)
        is_aside = and_(col(MemoryRow.status) == MemoryStatus.QUARANTINED, col(MemoryRow.expires_at) > now)
        return and_(is_aside, is_true_at(now), self._allowed(caller, classes, purpose, now))

    def _allowed(self, caller: Caller, classes: Readable, purpose: str, now: datetime) -> Condition:
        consented = or_(col(MemoryRow.class_name).not_in(classes.consented), self._consent_stands(purpose))
        return and_(
            consented,
            not_(is_held(self._tenant_id, now)),
            or_(self._own(caller, classes), self._shared(caller, classes)),
        )

    def may_see(self, caller: Caller, *, now: datetime, moment: Moment = PRESENT) -> Condition:
        """Hold for what the caller may look at: a person's own in every state, others' while it lives."""
        classes = readable_classes(self._bundle, caller, purpose=None)
        consented = or_(
            col(MemoryRow.class_name).not_in(classes.consented),
            self._consent_stands(col(MemoryRow.purpose)),
        )
        by_policy = and_(
            self._stands(caller, classes, moment, now),
            consented,
            not_(is_held(self._tenant_id, now)),
            or_(self._own(caller, classes), self._shared(caller, classes), self._others(caller, classes)),
        )
        seen = by_policy
        if _in_person(caller):
            kept = or_(col(MemoryRow.status) != MemoryStatus.GRACE, col(MemoryRow.grace_until) > now)
            seen = or_(and_(self._is_about(caller.sub), kept, was_known(moment)), by_policy)
        return seen if moment.as_of is None else and_(seen, is_true_at(moment.as_of))

    def may_read_old(self, caller: Caller, classes: Readable) -> Condition:
        """Hold for memories of which the caller may read what earlier versions said."""
        by_policy = col(MemoryRow.class_name).in_(classes.history)
        return or_(self._is_about(caller.sub), by_policy) if _in_person(caller) else by_policy

    def _stands(self, caller: Caller, classes: Readable, moment: Moment, now: datetime) -> Condition:
        """Hold for what is active now or, asked about the past, was then and may be read as it was then."""
        if moment.known_at is None:
            return is_live(now)
        is_current = and_(is_live(now), col(MemoryVersionRow.version) == col(MemoryRow.version))
        was_there = and_(
            col(MemoryRow.status).in_([MemoryStatus.ACTIVE, MemoryStatus.SUPERSEDED]),
            col(MemoryRow.expires_at) > now,
            self.may_read_old(caller, classes),
        )
        return and_(was_known(moment), or_(is_current, was_there))

    def _own(self, caller: Caller, classes: Readable) -> Condition:
        if caller.person is None:
            return false()
        return and_(self._is_about(caller.person), col(MemoryRow.class_name).in_(classes.own))

    def _shared(self, caller: Caller, classes: Readable) -> Condition:
        return self._in_projects(caller, "", classes.shared)

    def _others(self, caller: Caller, classes: Readable) -> Condition:
        return self._in_projects(caller, None, classes.others)

    def _in_projects(self, caller: Caller, subject_hash: str | None, names: Sequence[str]) -> Condition:
        about = (
            col(MemoryRow.subject_hash) != "" if subject_hash is None else col(MemoryRow.subject_hash) == ""
        )
        return and_(
            about, col(MemoryRow.project_id).in_(caller.project_ids), col(MemoryRow.class_name).in_(names)
        )

    def _is_about(self, person: str) -> Condition:
        return col(MemoryRow.subject_hash) == self._cipher.keyed_hash(person)

    def _consent_stands(self, purpose: str | Mapped[str]) -> Condition:
        return exists(
            select(ConsentRow.purpose).where(
                ConsentRow.tenant_id == self._tenant_id,
                ConsentRow.subject_hash == MemoryRow.subject_hash,
                col(ConsentRow.purpose) == purpose,
                col(ConsentRow.granted).is_(True),
            )
        )


def _in_person(caller: Caller) -> bool:
    """Say whether a person asks by their own sign-in."""
    return caller.role is Role.USER and caller.person is not None
