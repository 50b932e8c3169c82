"""What the record knows of a person beside texts: consents, credentials, their name beside their deeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, case, false, func, literal, or_, select
from sqlmodel import SQLModel, col

from service.context.tables import PackageRow
from service.core.cipher import Cipher
from service.evidence.tables import EvidenceReaderRow, EvidenceRow, EvidenceVersionRow
from service.executions.acceptance.tables import CandidateRow, CheckRequestRow, CheckRow
from service.executions.approvals.tables import ApprovalRow
from service.executions.conversation.tables import PinRow, TurnRow
from service.executions.leases.tables import LeaseRow
from service.executions.ledger.tables import EffectRow, ObservationRow
from service.executions.tables import CheckpointRow, ExecutionRow, InterventionRow
from service.executions.work.tables import StepRow
from service.governance.model import Kind
from service.governance.stores.store_rows import Reach, Rows, RowStore, Values
from service.governance.tables import HoldRow, QuarantineRow
from service.identity.model import Role
from service.identity.tables import ApiKeyRow, MemberRow
from service.identity.unit import Unit
from service.memories.tables import (
    ConsentActRow,
    ConsentRow,
    MemoryVersionRow,
    ProposalRow,
)

_SUBJECT: Final = frozenset({Kind.SUBJECT})
_VERSIONS_MAX: Final = 1_000
_VERSION_GONE: Final = "erased"
"""Stands where a person agreed to more versions of texts than there ever are."""


def _about(column: Any) -> Any:  # noqa: ANN401 - a column of any of the row classes
    return lambda reach: col(column) == reach.target.ref


def _acts_apart(reach: Reach) -> Values:
    # Who shows that consent was given, as the law asks, computes this again from the person's name and the
    # erasure; nobody finds it by the person alone, and who comes back begins without a history.
    apart = reach.cipher.keyed_hash(f"erasure/{reach.target.erasure_id}/{reach.subject}")
    # What was done while the job ran comes after what stands apart already.
    newest = select(func.coalesce(func.max(col(ConsentActRow.revision)), 0)).where(
        col(ConsentActRow.tenant_id) == reach.tenant_id, col(ConsentActRow.subject_hash) == apart
    )
    return {
        "subject_hash": apart,
        "revision": col(ConsentActRow.revision) + newest.scalar_subquery(),
        "by": reach.target.pseudonym,
    }


class _ActsApart(Rows):
    """Acts of consent, which also give up what their text was called: nothing keeps that from being words."""

    __slots__ = ()

    def values(self, reach: Reach, unit: Unit) -> Values:
        """Answer the columns, with the keyed hash of each text's version in its place."""
        named = col(ConsentActRow.text_version)
        about = (col(ConsentActRow.tenant_id) == reach.tenant_id, self.reached(reach))
        found = unit.session.scalars(select(named).where(*about).distinct().limit(_VERSIONS_MAX)).all()
        hashes = {one: version_apart(one, reach.target.erasure_id, reach.cipher) for one in found}
        apart = case(hashes, value=named, else_=_VERSION_GONE) if hashes else _VERSION_GONE
        return {**_acts_apart(reach), "text_version": apart}


def version_apart(text_version: str, erasure_id: str, cipher: Cipher) -> str:
    """Answer what stands for the version of a text that a person agreed to, once they are erased."""
    return "hmac:" + cipher.keyed_hash(f"erasure/{erasure_id}/text/{text_version}")


CONSENTS: Final = RowStore(
    "consents",
    (
        Rows(ConsentRow, _about(ConsentRow.subject_hash), kinds=_SUBJECT),
        _ActsApart(ConsentActRow, _about(ConsentActRow.subject_hash), _acts_apart, kinds=_SUBJECT),
    ),
    note="Each giving and withdrawing stays under a keyed hash of person and erasure: the law asks for proof."
    " What the person refused stays refused, by keyed hash.",
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column that holds a person's id or principal: `access` is what lets them in, the rest their deeds."""

    table: type[SQLModel]
    name: str
    access: bool = False

    def rows(self) -> Rows:
        """Answer the rows that name the person, whose name gives way to the pseudonym."""
        return Rows(self.table, self._named, self._renamed, kinds=_SUBJECT)

    def _named(self, reach: Reach) -> ColumnElement[bool]:
        if self.access and not reach.target.closes_account:
            return false()
        return or_(self._column.in_(_exact(reach.subject)), self._tail(reach.subject) == _tail(reach.subject))

    def _renamed(self, reach: Reach) -> Values:
        new = reach.target.pseudonym
        whole = {name: _exact(new)[place] for place, name in enumerate(_exact(reach.subject))}
        kept = func.substr(self._column, 1, func.length(self._column) - len(_tail(reach.subject)))
        return {
            self.name: case(
                whole,
                value=self._column,
                # A name may grow by that: what does not fit is cut, and names nobody either way.
                else_=func.substr(kept + literal(_tail(new)), 1, self._length),
            )
        }

    @property
    def _column(self) -> Any:  # noqa: ANN401 - a column of any of the row classes
        return col(getattr(self.table, self.name))

    @property
    def _length(self) -> int:
        return int(self.table.__table__.c[self.name].type.length)  # type: ignore[attr-defined]  # as SQLModel adds it

    def _tail(self, subject: str) -> ColumnElement[str]:
        length = len(_tail(subject))
        return func.substr(self._column, func.length(self._column) - length + 1)


def _tail(subject: str) -> str:
    return f":for:{subject}"


def _exact(subject: str) -> Sequence[str]:
    return [subject, f"user:{subject}", *(f"{role}:{subject}" for role in Role if role is not Role.USER)]


DEEDS: Final = (
    Column(ApprovalRow, "requested_by"),
    Column(ApprovalRow, "acting_user"),
    Column(ApprovalRow, "agent"),
    Column(ApprovalRow, "decided_by"),
    Column(CandidateRow, "by"),
    Column(CheckRequestRow, "by"),
    Column(CheckRow, "by"),
    Column(CheckRow, "grader_id"),
    Column(CheckpointRow, "by"),
    Column(ConsentActRow, "by"),
    Column(EffectRow, "by"),
    Column(EffectRow, "settled_by"),
    Column(EvidenceRow, "created_by"),
    Column(EvidenceVersionRow, "created_by"),
    Column(ExecutionRow, "acting_user"),
    Column(ExecutionRow, "agent"),
    Column(ExecutionRow, "person"),
    Column(ExecutionRow, "opened_by"),
    Column(ExecutionRow, "contract_confirmed_by"),
    Column(HoldRow, "by"),
    Column(HoldRow, "released_by"),
    Column(InterventionRow, "by"),
    Column(LeaseRow, "holder"),
    Column(MemoryVersionRow, "by"),
    Column(ObservationRow, "said_by"),
    Column(PackageRow, "acting_user"),
    Column(PackageRow, "built_by"),
    Column(PinRow, "by"),
    Column(ProposalRow, "proposer"),
    Column(ProposalRow, "decided_by"),
    Column(QuarantineRow, "by"),
    Column(QuarantineRow, "released_by"),
    Column(StepRow, "by"),
    Column(TurnRow, "said_by"),
    Column(TurnRow, "agent"),
)
"""Who did what: a name here gives way whenever its person is erased."""

ACCESS: Final = (
    Column(ApiKeyRow, "subject", access=True),
    Column(ApiKeyRow, "on_behalf_of", access=True),
    Column(EvidenceReaderRow, "label", access=True),
    Column(MemberRow, "subject", access=True),
)
"""Who may come in: an account, which only an erasure that closes it takes away."""

NAMES: Final = RowStore(
    "names",
    tuple(column.rows() for column in (*DEEDS, *ACCESS)),
    note="A pseudonym that says by which erasure stands where the name stood. Without the account it stays"
    " in credentials, memberships and reader labels.",
)
