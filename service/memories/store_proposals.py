"""Queries of one tenant's proposals."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import or_
from sqlmodel import Session, col, select

from service.core.cipher import Cipher, TextErased
from service.core.paging import Page, PageRequest
from service.detection.model import Kind
from service.detection.proposed import Detected
from service.identity.matrix import PROPOSALS_DECIDE
from service.identity.model import Caller, Role
from service.identity.unit import Unit
from service.memories.model import Content, Proposal
from service.memories.sealing import facts_place, hash_content, open_content, seal_content
from service.memories.tables import ProposalRow
from service.memories.valid import Validity
from service.policies.facts import without_addresses
from service.policies.verdict import Outcome
from service.policies.words import Approver


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which proposals a list is to hold, and in which order; `None` leaves a property open."""

    outcome: Outcome | None = None
    class_name: str | None = None
    subject: str | None = None
    project_id: str | None = None
    oldest_first: bool = False


class ProposalStore:
    """One tenant's proposals, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str, cipher: Cipher) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._cipher = cipher

    @classmethod
    def of(cls, unit: Unit) -> "ProposalStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id, unit.cipher)

    def add(self, proposal: Proposal, content: Content, facts: Mapping[str, Any]) -> None:
        """Keep a proposal: its words only while somebody must still read them, else a keyed hash.

        `facts` is what it was judged by, of which no word is part.
        """
        place = _place(proposal.id, "content")
        subjects = () if content.subject is None else (content.subject,)
        kept = proposal.outcome is Outcome.PENDING_REVIEW
        self._session.add(
            ProposalRow(
                tenant_id=self._tenant_id,
                id=proposal.id,
                project_id=proposal.project_id,
                class_name=proposal.class_name,
                subject_hash=proposal.subject_hash,
                content_hash=hash_content(content, cipher=self._cipher),
                content=seal_content(content, cipher=self._cipher, place=place) if kept else None,
                facts=self._cipher.seal(
                    json.dumps(facts, ensure_ascii=False), subjects=subjects, place=facts_place(proposal.id)
                ),
                outcome=proposal.outcome,
                codes=list(proposal.codes),
                approver=proposal.approver,
                approvals=list(proposal.approvals),
                policy_version=proposal.policy_version,
                purpose=proposal.purpose,
                confidence=proposal.confidence,
                detections=[asdict(one) for one in proposal.detections],
                valid_from=proposal.validity.since,
                valid_until=proposal.validity.until,
                proposer=proposal.proposer,
                memory_id=proposal.memory_id,
                created_at=proposal.created_at,
                decision_reason=None
                if proposal.decision_reason is None
                else self._cipher.seal(
                    proposal.decision_reason,
                    subjects=subjects,
                    place=_place(proposal.id, "decision_reason"),
                ),
            )
        )

    def find(self, proposal_id: str, *, lock: bool = False) -> Proposal | None:
        """Answer a proposal of the tenant, or `None`: no caller is asked about."""
        query = select(ProposalRow).where(
            ProposalRow.tenant_id == self._tenant_id, ProposalRow.id == proposal_id
        )
        if lock:
            query = query.with_for_update().execution_options(populate_existing=True)
        row = self._session.exec(query).first()
        return None if row is None else self._proposal(row)

    def decide(
        self,
        proposal_id: str,
        *,
        outcome: Outcome,
        codes: Sequence[str],
        approvals: Sequence[str],
        memory_id: str | None,
        reason: str | None,
        subject: str | None,
        at: datetime,
        by: str,
    ) -> None:
        """Write a decision down, its reason sealed under the subject whom the proposal is about.

        Once it is final the proposal's own copy of the words is gone.
        """
        row = self._session.get_one(ProposalRow, (self._tenant_id, proposal_id))
        if reason is not None:
            row.decision_reason = self._cipher.seal(
                reason,
                subjects=() if subject is None else (subject,),
                place=_place(proposal_id, "decision_reason"),
            )
        row.outcome, row.codes, row.approvals, row.memory_id = (
            outcome,
            list(codes),
            list(approvals),
            memory_id,
        )
        if outcome is not Outcome.PENDING_REVIEW:
            row.content, row.decided_at, row.decided_by = None, at, by
        if outcome is Outcome.DENIED and (facts := self.find_facts(proposal_id)) is not None:
            row.facts = self._cipher.seal(
                json.dumps(without_addresses(facts), ensure_ascii=False),
                subjects=() if facts["subject"] is None else (facts["subject"],),
                place=facts_place(proposal_id),
            )
        self._session.add(row)

    def find_facts(self, proposal_id: str) -> Mapping[str, Any] | None:
        """Answer what a proposal was judged by; `None` where it was not kept or its key is gone."""
        row = self._session.get(ProposalRow, (self._tenant_id, proposal_id))
        if row is None or row.facts is None:
            return None
        try:
            found: Mapping[str, Any] = json.loads(self._cipher.open(row.facts, place=facts_place(row.id)))
        except TextErased:
            return None
        return found

    def list_for(self, caller: Caller, page: PageRequest, wanted: Wanted) -> Page[Proposal]:
        """Answer what the caller proposed, what is about the person who asks, and a reviewer's queue."""
        mine = [col(ProposalRow.proposer) == caller.principal]
        # Not through an agent: another one's proposal may be of a class that this one is not to read.
        if caller.person is not None and caller.act is None:
            mine.append(col(ProposalRow.subject_hash) == self._cipher.keyed_hash(caller.person))
        if caller.role is Role.REVIEWER and PROPOSALS_DECIDE in caller.scopes:
            mine.append(col(ProposalRow.approver).in_([Approver.REVIEWER, Approver.BOTH]))
        query = select(ProposalRow).where(
            ProposalRow.tenant_id == self._tenant_id,
            col(ProposalRow.project_id).in_(caller.project_ids),
            or_(*mine),
        )
        if wanted.outcome is not None:
            query = query.where(ProposalRow.outcome == wanted.outcome)
        if wanted.class_name is not None:
            query = query.where(ProposalRow.class_name == wanted.class_name)
        if wanted.subject is not None:
            query = query.where(ProposalRow.subject_hash == self._cipher.keyed_hash(wanted.subject))
        if wanted.project_id is not None:
            query = query.where(ProposalRow.project_id == wanted.project_id)
        name = col(ProposalRow.id)
        if page.after is not None:
            last = str(page.after[0])
            query = query.where(name > last if wanted.oldest_first else name < last)
        query = query.order_by(name.asc() if wanted.oldest_first else name.desc())
        rows = self._session.exec(query.limit(page.limit + 1)).all()
        return page.page([self._proposal(row) for row in rows], [(row.id,) for row in rows])

    def _proposal(self, row: ProposalRow) -> Proposal:
        return Proposal(
            id=row.id,
            project_id=row.project_id,
            class_name=row.class_name,
            outcome=Outcome(row.outcome),
            codes=tuple(row.codes),
            approver=None if row.approver is None else Approver(row.approver),
            policy_version=row.policy_version,
            purpose=row.purpose,
            confidence=row.confidence,
            proposer=row.proposer,
            subject_hash=row.subject_hash,
            content=self._content(row),
            created_at=row.created_at,
            memory_id=row.memory_id,
            approvals=tuple(row.approvals),
            decision_reason=self._reason(row),
            validity=Validity(row.valid_from, row.valid_until),
            detections=tuple(Detected(**{**one, "kind": Kind(one["kind"])}) for one in row.detections),
        )

    def _content(self, row: ProposalRow) -> Content | None:
        if row.content is None:
            return None
        try:
            return open_content(row.content, cipher=self._cipher, place=_place(row.id, "content"))
        except TextErased:
            return None

    def _reason(self, row: ProposalRow) -> str | None:
        if row.decision_reason is None:
            return None
        try:
            return self._cipher.open(row.decision_reason, place=_place(row.id, "decision_reason"))
        except TextErased:
            return None


def _place(proposal_id: str, column: str) -> str:
    return f"memory_proposals/{proposal_id}/{column}"
