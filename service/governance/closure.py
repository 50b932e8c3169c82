"""The closure of a source: all that was made from it, by the record's own word, step after step.

Followed are what was noted when it was made (`core.lineage`, and the lineage of evidence), packages by what
they showed, runs by the packages that were built for them, and summaries by the turns and the run they speak
of. What a model took from a package and said in its own words is nobody's record: only its run is named.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from service.context.store_uses import UseStore
from service.core.lineage import Lineage, Node
from service.evidence.store_lineage import LineageStore
from service.executions.store_traces import TraceStore
from service.identity.unit import Unit

KINDS: Final = frozenset({"memory", "summary", "execution", "evidence", "observation", "turn", "package"})
"""Kinds that a closure may begin at and answer."""
_STEP_ITEMS_MAX: Final = 500
"""Most things of one kind that one query asks about: what a step holds in memory is what they led to."""
_SHOWN: Final = KINDS - {"package", "execution"}


def closure(start: Node, unit: Unit, *, through_packages: bool = True) -> Iterator[Node]:
    """Answer all that was made from `start`, breadth first, each once, and `start` itself never.

    However large it is: it is followed while it is read, and only ids are held. A run that is the start
    brings its turns and observations; one that is reached brings its summaries, which speak for it, and not
    what people said in it. Without `through_packages` being shown in a package makes nothing of anything.
    No caller is asked about: what may be shown of it is for others to decide.
    """
    steps = _Steps(unit, through_packages=through_packages)
    seen, level = {start}, [start]
    parts: Iterable[Node] = steps.parts_of(start)
    while level:
        following = []
        for node in _each(level, steps, parts):
            if node not in seen:
                seen.add(node)
                following.append(node)
                yield node
        level, parts = following, ()


def _each(level: Sequence[Node], steps: "_Steps", parts: Iterable[Node]) -> Iterator[Node]:
    yield from parts
    for kind in sorted({node.kind for node in level}):
        ids = sorted(node.id for node in level if node.kind == kind)
        for first in range(0, len(ids), _STEP_ITEMS_MAX):
            yield from steps.from_all(kind, ids[first : first + _STEP_ITEMS_MAX])


class _Steps:
    """One step from things of one kind to what was made from them directly."""

    def __init__(self, unit: Unit, *, through_packages: bool) -> None:
        self._through_packages = through_packages
        self._lineage = Lineage(unit.session, unit.tenant_id)
        self._evidence = LineageStore.of(unit)
        self._uses = UseStore.of(unit)
        self._traces = TraceStore.of(unit)

    def parts_of(self, start: Node) -> Iterator[Node]:
        """Answer what a run that is itself the source consists of."""
        if start.kind == "execution":
            yield from _nodes("turn", self._traces.turns_of([start.id]))
            yield from _nodes("observation", self._traces.observations_of([start.id]))

    def from_all(self, kind: str, ids: Collection[str]) -> Iterator[Node]:
        """Answer what was made from any of these; some more than once."""
        if kind != "package":
            yield from self._lineage.made_from(kind, ids)
        yield from _nodes("evidence", self._evidence.made_from(kind, ids))
        if kind == "turn":
            yield from _nodes("summary", self._traces.summaries_over(ids))
        if kind == "execution":
            yield from _nodes("summary", self._traces.summaries_of(ids))
        if self._through_packages and kind in _SHOWN:
            yield from _nodes("package", self._uses.showing(kind, ids))
        if self._through_packages and kind == "package":
            yield from _nodes("execution", self._uses.runs_of(ids))


def _nodes(kind: str, ids: Iterable[str]) -> Iterator[Node]:
    return (Node(kind, item_id) for item_id in ids)
