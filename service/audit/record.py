"""Writing to the audit trail, in the transaction of what is recorded: neither can be kept without the other.

Events are queued and get their place in the chain just before the transaction commits. So the lock on the
chain's end is the last one that any transaction takes, and it can never be half of a deadlock, however many
records one request makes. A savepoint that is rolled back takes its events along.
"""

from dataclasses import dataclass, field

from sqlalchemy import event as listeners
from sqlalchemy.orm import Session as BaseSession
from sqlalchemy.orm import SessionTransaction
from sqlmodel import Session

from service.audit.details import check_ref, kept_details, kept_request_id
from service.audit.model import Action, Detail, Event, Head, Link
from service.audit.principals import kept_principal
from service.audit.rules import hash_event, head_text
from service.audit.store import AuditStore
from service.core.cipher import Cipher
from service.core.errors import Refusal
from service.identity.unit import Unit

_QUEUE = "audit_queue"
_NAMING = frozenset({Action.KEY_CREATED, Action.MEMBER_ADDED})
"""What makes somebody known here: from then on they have a pseudonym."""


def record(unit: Unit, action: str, *, kind: str, ref: str, **details: Detail) -> None:
    """Record that `action` happened to the thing of that `kind` and id. Kept if the transaction commits.

    `action` is one of `audit.model.Action`; `details.DETAILS` says what each detail is. Raises `ValueError`
    for anything else: what a person wrote must not reach the trail, since nothing ever leaves it.
    """
    check_ref(kind, ref)
    cipher = unit.cipher
    event = Event(
        at=unit.now,
        principal=kept_principal(unit.caller, cipher),
        credential_id=unit.caller.credential_id,
        request_id=kept_request_id(unit.request_id, cipher),
        action=Action(action).value,
        kind=kind,
        ref=ref,
        details=kept_details(details, cipher, names=action in _NAMING),
    )
    _queue_of(unit).events.append(event)


def record_refusal(unit: Unit, refusal: Refusal, *, operation: str) -> None:
    """Record that a request was refused, by the refusal's code; call it in a transaction of its own.

    `operation` is the route's name, never the address that was asked for: that may hold what somebody typed.
    """
    record(unit, Action.REQUEST_REFUSED, kind="operation", ref=operation, code=refusal.code)


@dataclass(slots=True)
class _Queue:
    """Events of one transaction that have no place yet. `marks` holds its length when a savepoint began."""

    tenant_id: str
    cipher: Cipher
    events: list[Event] = field(default_factory=list)
    marks: dict[SessionTransaction, int] = field(default_factory=dict)


def _queue_of(unit: Unit) -> _Queue:
    queue = unit.session.info.get(_QUEUE)
    if queue is None:
        queue = _Queue(unit.tenant_id, unit.cipher)
        unit.session.info[_QUEUE] = queue
    assert isinstance(queue, _Queue)
    assert queue.tenant_id == unit.tenant_id, "one transaction, one tenant"
    return queue


def _mark(session: BaseSession, transaction: SessionTransaction) -> None:
    queue: _Queue | None = session.info.get(_QUEUE)
    if queue is not None and transaction.nested:
        queue.marks[transaction] = len(queue.events)


def _forget(session: BaseSession, previous: SessionTransaction) -> None:
    queue: _Queue | None = session.info.get(_QUEUE)
    if queue is None:
        return
    if previous.nested:
        # A savepoint that is older than the queue began when nothing had been recorded.
        del queue.events[queue.marks.pop(previous, 0) :]
    elif previous.parent is None:
        queue.events.clear()


def _chain(session: BaseSession) -> None:
    queue: _Queue | None = session.info.get(_QUEUE)
    if queue is None or session.in_nested_transaction() or not queue.events:
        return
    # What the request changed goes to the database first, so that its locks come before ours.
    session.flush()
    store = AuditStore(session, queue.tenant_id)  # type: ignore[arg-type]  # it is the Unit's own session
    head = store.lock_head()
    links = []
    previous_hash = head.hash
    for sequence, event in enumerate(queue.events, start=head.sequence + 1):
        links.append(
            Link(
                sequence,
                previous_hash,
                hash_event(event, sequence=sequence, previous_hash=previous_hash),
                event,
            )
        )
        previous_hash = links[-1].hash
    sequence = head.sequence + len(links)
    seal = queue.cipher.keyed_hash(head_text(sequence=sequence, head_hash=previous_hash))
    store.append(links, Head(sequence, previous_hash, seal))
    queue.events.clear()


# Once for all sessions: telling each new one anew would take longer than what is recorded.
listeners.listen(Session, "before_commit", _chain)
listeners.listen(Session, "after_transaction_create", _mark)
listeners.listen(Session, "after_soft_rollback", _forget)
