"""`refuse`: a person says what is never to be remembered about them. It counts for every later proposal."""

from collections.abc import Sequence

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Invalid, NotFound
from service.core.tombstones import Right, right_ref
from service.identity.unit import Unit
from service.memories.model import Refused
from service.memories.store_refusals import ANY_CLASS, RefusalStore
from service.policies.model import Bundle


class ClassNotInPolicy(Invalid):
    """A refusal names a class that the active bundle does not have."""

    code = "class_not_in_policy"
    title = "The active policy has no such class"


def set_refusal(
    subject: str, class_name: str | None, *, refused: bool, unit: Unit, bundle: Bundle
) -> Sequence[Refused]:
    """Refuse memories of a class (`None`: of all) about the caller, or take that back; answer what stands.

    What is remembered already stays: that is corrected, paused or deleted by itself. Raises `NotFound` for
    anybody else's, `ClassNotInPolicy`.
    """
    _only_the_person(subject, unit)
    if refused and class_name is not None and class_name not in bundle.classes:
        raise ClassNotInPolicy("The active policy has no such class.", pointer="/class")
    store = RefusalStore.of(unit)
    if refused:
        store.add(subject, class_name, at=unit.now)
        unit.end_right(Right.SILENCE, right_ref(unit.cipher.keyed_hash(subject), class_name or ANY_CLASS))
    else:
        store.remove(subject, class_name)
    record(unit, Action.REFUSAL_SET, kind="refusal", ref=class_name or "all", refused=refused)
    return store.list_of(subject)


def list_refusals(subject: str, *, unit: Unit) -> Sequence[Refused]:
    """Answer what the caller refuses. Raises `NotFound` for anybody else's."""
    _only_the_person(subject, unit)
    return RefusalStore.of(unit).list_of(subject)


def _only_the_person(subject: str, unit: Unit) -> None:
    if unit.caller.act is not None or unit.caller.person != subject:
        raise NotFound
