"""`consent`: give it or take it back, one call each. Only the person does either; it counts at once."""

from collections.abc import Sequence

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import NotFound
from service.core.idempotency import IdempotencyStore
from service.core.tombstones import Right, right_ref
from service.identity.unit import Unit
from service.memories.model import ConsentAct, PurposeNotOfClass
from service.memories.store_consents import ConsentStore
from service.memories.store_slots import SlotStore
from service.policies.model import Bundle


def set_consent(
    subject: str, purpose: str, *, granted: bool, text_version: str, unit: Unit, bundle: Bundle
) -> Sequence[ConsentAct]:
    """Give or withdraw the caller's own consent; answer its history for that purpose.

    Raises `NotFound` for anybody else's, `PurposeNotOfClass` for a purpose that the bundle does not have.
    """
    _only_the_person(subject, unit)
    if granted and purpose not in bundle.purposes:
        raise PurposeNotOfClass("The active policy has no such purpose.")
    store = ConsentStore.of(unit)
    store.lock(subject, purpose)
    store.set(
        subject,
        purpose,
        granted=granted,
        text_version=text_version,
        at=unit.now,
        by=unit.caller.principal,
    )
    unit.session.flush()
    if not granted:
        unit.end_right(Right.CONSENT, right_ref(unit.cipher.keyed_hash(subject), purpose))
        # A kept answer may show what was remembered while consent stood: a repeat must not show it again.
        answers = IdempotencyStore(unit.session, unit.tenant_id, unit.cipher)
        answers.erase(SlotStore.of(unit).list_about(subject))
    record(unit, Action.CONSENT_SET, kind="consent", ref=purpose, granted=granted)
    return [act for act in store.history(subject) if act.purpose == purpose]


def list_consents(subject: str, *, unit: Unit) -> Sequence[ConsentAct]:
    """Answer every giving and withdrawing of the caller's own. Raises `NotFound` for anybody else's."""
    _only_the_person(subject, unit)
    return ConsentStore.of(unit).history(subject)


def _only_the_person(subject: str, unit: Unit) -> None:
    if unit.caller.act is not None or unit.caller.person != subject:
        raise NotFound
