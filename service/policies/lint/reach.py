"""Classes that nobody may write or read, that no source can feed, or whose memories go nowhere."""

from collections.abc import Iterator, Mapping
from typing import Final

from service.identity.matrix import MEMORIES_PROPOSE, MEMORIES_READ, SCOPES_BY_ROLE
from service.identity.model import Role
from service.policies.classes import MemoryClass, MemorySources
from service.policies.lint.faults import Fault, error, warning
from service.policies.model import SourceRule
from service.policies.read_yaml import Path
from service.policies.sources import TURN_URI
from service.policies.words import ClassScope, Destination, OwnWords, ProvenanceKind

_WRITERS: Final = tuple(role for role in Role if MEMORIES_PROPOSE in SCOPES_BY_ROLE[role])
_READERS: Final = tuple(role for role in Role if MEMORIES_READ in SCOPES_BY_ROLE[role])

_DEPENDS: Final = "*"
"""No name of a source: which one covers a turn depends on the turn's kind."""


def lint_reach(memory_class: MemoryClass, sources: Mapping[str, SourceRule]) -> Iterator[Fault]:
    """Yield why nothing can come into a class, or out of it again."""
    if memory_class.refuses is not None:
        return
    path: Path = ("classes", memory_class.name)
    yield from _writers(memory_class, path)
    yield from _readers(memory_class, path)
    if memory_class.sources is not None:
        yield from _sources(memory_class.sources, sources, (*path, "sources"))


def _writers(memory_class: MemoryClass, path: Path) -> Iterator[Fault]:
    if not set(memory_class.writers) & set(_WRITERS):
        message = f"nobody may write this class: name one of {_named(_WRITERS)}"
        yield error((*path, "writers"), "nobody_writes", message)
    else:
        yield from _useless((*path, "writers"), memory_class.writers, _WRITERS, "proposes a memory")
    if memory_class.quota == 0:
        message = "nobody may write this class: it keeps none, so say how many"
        yield error((*path, "quota"), "nobody_writes", message)
    if memory_class.agents and Role.AGENT not in (*memory_class.writers, *memory_class.readers):
        message = "no agent may write or read this class: name `agent` among them, or leave `agents` out"
        yield warning((*path, "agents"), "dead_key", message, of_key=True)


def _readers(memory_class: MemoryClass, path: Path) -> Iterator[Fault]:
    if not set(memory_class.readers) & set(_READERS):
        if memory_class.scope is ClassScope.PROJECT:
            message = f"nobody may read this class: name one of {_named(_READERS)}"
            yield error((*path, "readers"), "nobody_reads", message)
        else:
            message = "nobody reads this class but the person whom a memory is about: no package can use it"
            yield warning((*path, "readers"), "nobody_reads", message)
    else:
        yield from _useless((*path, "readers"), memory_class.readers, _READERS, "reads memories")
    if not {Destination.PACKAGE, Destination.SEARCH} & set(memory_class.destinations):
        message = "what this class keeps goes into no package and no search: name `package` or `search`"
        there = "destinations" in memory_class.model_fields_set
        yield warning((*path, "destinations") if there else path, "goes_nowhere", message, of_key=not there)


def _useless(path: Path, roles: tuple[Role, ...], able: tuple[Role, ...], what: str) -> Iterator[Fault]:
    for position, role in enumerate(roles):
        if role not in able:
            message = f"`{role.value}` never {what}, whatever a bundle says: name one of {_named(able)}"
            yield warning((*path, position), "nobody", message)


def _sources(allowed: MemorySources, sources: Mapping[str, SourceRule], path: Path) -> Iterator[Fault]:
    kinds = set(allowed.provenance)
    turns = _of_turns(sources)
    takes_turns = ProvenanceKind.TURN in kinds and (turns is _DEPENDS or turns in allowed.from_sources)
    if ProvenanceKind.TURN in kinds and not takes_turns:
        message = (
            "no source covers turns (`turn://`): declare one, or leave `turn` out"
            if turns is None
            else f"turns come from source `{turns}`: name it in `from_sources`, or leave `turn` out"
        )
        yield error(
            (*path, "provenance", allowed.provenance.index(ProvenanceKind.TURN)), "no_source", message
        )
    if allowed.own_words is not OwnWords.NOT_NEEDED and ProvenanceKind.TURN not in kinds:
        message = "only a turn is somebody's own words: name `turn` in `provenance`"
        yield error((*path, "own_words"), "no_source", message)
    if ProvenanceKind.OBSERVATION in kinds:
        return  # how far one is believed is not for the bundle to say
    for position, name in enumerate(allowed.from_sources):
        rule = sources[name]
        if takes_turns and TURN_URI.startswith(rule.uri_prefix.casefold()):
            continue
        trusted = rule.trust.rank <= allowed.lowest_trust.rank
        if not trusted or ProvenanceKind.EVIDENCE not in kinds:
            why = (
                f"it is {rule.trust.value}, and `lowest_trust` is {allowed.lowest_trust.value}"
                if not trusted
                else "`provenance` takes no evidence"
            )
            message = f"nothing that source `{name}` has is taken: {why}"
            yield warning((*path, "from_sources", position), "no_source", message)


def _of_turns(sources: Mapping[str, SourceRule]) -> str | None:
    """Answer the source that covers turns, if one does, or `_DEPENDS`."""
    fitting = [rule for rule in sources.values() if TURN_URI.startswith(rule.uri_prefix.casefold())]
    if any(rule.kinds for rule in fitting):
        return _DEPENDS
    longest = max(fitting, key=lambda rule: len(rule.uri_prefix), default=None)
    return None if longest is None else longest.name


def _named(roles: tuple[Role, ...]) -> str:
    return ", ".join(f"`{role.value}`" for role in roles)
