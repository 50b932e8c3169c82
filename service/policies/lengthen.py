"""The times that end something, as versions that counted lately have them: the longest of each holds.

A shortened time is seen coming before it ends anything, so what is lost by mistake can be had back by going
back. Only times are taken from former versions, never a permission.
"""

from collections.abc import Mapping, Sequence

from service.policies.classes import KEEP_ENDED_DAYS, WAITS_DAYS, MemoryClass
from service.policies.model import Bundle, Retention


def lengthen(bundle: Bundle, former: Sequence[Bundle]) -> Bundle:
    """Answer the bundle with no time that is shorter than in one of `former`, for whoever ends things.

    A retention class that a former one does not have ended nothing there, so it is left out: of what is not
    named nothing goes. Of a memory class that a version does not have, the usual times count there.
    """
    if not former:
        return bundle
    return bundle.model_copy(
        update={
            "retention": _retention(bundle.retention, [one.retention for one in former]),
            "classes": _classes(bundle.classes, [one.classes for one in former]),
        }
    )


def _retention(
    rules: Mapping[str, Retention], former: Sequence[Mapping[str, Retention]]
) -> Mapping[str, Retention]:
    return {
        name: rule.model_copy(update={"days": max(rule.days, *(one[name].days for one in former))})
        for name, rule in rules.items()
        if all(name in one for one in former)
    }


def _classes(
    rules: Mapping[str, MemoryClass], former: Sequence[Mapping[str, MemoryClass]]
) -> Mapping[str, MemoryClass]:
    versions = [rules, *former]
    names = {name: one[name] for one in reversed(versions) for name in one}
    return {name: _class(rule, [one.get(name) for one in versions]) for name, rule in names.items()}


def _class(rule: MemoryClass, versions: Sequence[MemoryClass | None]) -> MemoryClass:
    waits = [WAITS_DAYS if one is None else one.approval.waits_days for one in versions]
    kept = [
        KEEP_ENDED_DAYS if one is None or one.expiry is None else one.expiry.keep_ended_days
        for one in versions
    ]
    update: dict[str, object] = {"approval": rule.approval.model_copy(update={"waits_days": max(waits)})}
    if rule.expiry is not None:
        update["expiry"] = rule.expiry.model_copy(update={"keep_ended_days": max(kept)})
    return rule.model_copy(update=update)
