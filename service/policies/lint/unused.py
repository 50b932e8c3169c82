"""Purposes, sources, profiles and capabilities without which the bundle would decide the same."""

from collections.abc import Iterator, Mapping

from service.policies.lint.faults import Fault, warning
from service.policies.model import Bundle, SourceRule


def lint_unused(bundle: Bundle) -> Iterator[Fault]:
    """Yield what nothing uses."""
    yield from _purposes(bundle)
    yield from _sources(bundle)
    yield from _profiles(bundle)
    yield from _capabilities(bundle)


def _purposes(bundle: Bundle) -> Iterator[Fault]:
    used = {purpose for memory_class in bundle.classes.values() for purpose in memory_class.purposes}
    for name in bundle.purposes:
        if name not in used:
            message = "no class is for this purpose: a package that names it holds no memory"
            yield warning(("purposes", name), "unused", message, of_key=True)


def _sources(bundle: Bundle) -> Iterator[Fault]:
    """A source that no class names changes something only where a wider one says something else."""
    named = _named(bundle)
    for rule in bundle.sources:
        if rule.name not in named and _says(rule) == _without(rule, bundle, named):
            message = "no class names this source, and without it the same would count for its addresses"
            yield warning(("sources", rule.name), "unused", message, of_key=True)


def _named(bundle: Bundle) -> set[str]:
    classes = bundle.classes.values()
    taken = {name for one in classes if one.sources is not None for name in one.sources.from_sources}
    conditions = [rule.when for one in classes for rule in one.rules.values()]
    conditions += [one.approval.automatic_when.when or "" for one in classes if one.approval.automatic_when]
    # A name inside a condition is enough: what is done with it is not looked into.
    return taken | {rule.name for rule in bundle.sources if any(rule.name in text for text in conditions)}


def _says(rule: SourceRule) -> tuple[object, ...]:
    return rule.trust, rule.ceiling, rule.submission, rule.settles_own


def _without(rule: SourceRule, bundle: Bundle, named: set[str]) -> tuple[object, ...] | None:
    """Answer what would count without a rule, `None` where that depends on the address or kind."""
    # The longest prefix comes first. One that applies to some kinds only leaves open what counts for others.
    wider = [other for other in bundle.sources if other is not rule and _covers(other, rule)]
    if not wider or any(other.kinds for other in wider) or wider[0].name in named:
        return None
    return _says(wider[0])


def _covers(other: SourceRule, rule: SourceRule) -> bool:
    return rule.uri_prefix.casefold().startswith(other.uri_prefix.casefold())


def _profiles(bundle: Bundle) -> Iterator[Fault]:
    first: dict[str, str] = {}
    for name, profile in bundle.profiles.items():
        content = profile.model_dump_json(exclude={"name", "description"})
        if (other := first.setdefault(content, name)) != name:
            message = f"profile `{other}` says the same but for its description: keep one, or tell them apart"
            yield warning(("profiles", name), "unused", message, of_key=True)


def _capabilities(bundle: Bundle) -> Iterator[Fault]:
    needed = _needed(bundle)
    for role, rule in bundle.roles.items():
        for position, capability in enumerate(rule.capabilities):
            if capability not in needed:
                message = f"no command and no tool needs the capability `{capability}`"
                yield warning(("roles", role.value, "capabilities", position), "unused", message)


def _needed(bundle: Bundle) -> Mapping[str, None]:
    return dict.fromkeys(
        [
            *(command.capability for command in bundle.commands.values()),
            *(capability for tool in bundle.tools.values() for capability in (tool.read, tool.write)),
        ]
    )
