"""Asks the service for packages and looks at what came back."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from service.client import Muniment, Problem
from service.entry.evaluate.model import Asked, Block, Budget, Package, Shown
from service.wire.packages import BuildPackage, PackageAnswer

_TRIES_MAX: Final = 6
_WAIT_SECONDS_MAX: Final = 60
_TOO_MANY: Final = 429
_UNAVAILABLE: Final = 503
_EVIDENCE: Final = "evidence"
_MEMORY: Final = "memory"

Result = TypeVar("Result")


class Asker:
    """Builds packages through one client, and remembers which uri a piece of evidence has."""

    def __init__(
        self,
        client: Muniment,
        budget: Budget,
        *,
        seconds: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._budget = budget
        self._seconds = seconds
        self._sleep = sleep
        self._uris: dict[str, str | None] = {}

    def build(self, asked: Asked, profile: str) -> tuple[Package, float]:
        """Answer a package and how many seconds its call took. Raises `Problem`, and httpx's errors."""
        wanted = BuildPackage(
            project=asked.project,
            execution_id=asked.execution_id,
            purpose=asked.purpose,
            query=asked.question,
            encoding=self._budget.encoding,
            model=self._budget.model,
            max_tokens=self._budget.max_tokens,
            reply_reserve=self._budget.reply_reserve,
            profile=profile,
        )
        answer, seconds = self._patiently(lambda: self._client.build_package(wanted))
        package = package_of(answer)
        self._uris |= {one.id: one.uri for one in package.shown if one.uri is not None}
        return package, seconds

    def ids_by_uri(self, package: Package) -> Mapping[str, frozenset[str]]:
        """Answer the uris of what the package shows and leaves out: each is looked up once."""
        for item_id in package.omitted:
            if item_id not in self._uris:
                self._uris[item_id] = self._find_uri(item_id)
        found: dict[str, set[str]] = defaultdict(set)
        for item_id in (*package.omitted, *(one.id for one in package.shown)):
            uri = self._uris.get(item_id)
            if uri is not None:
                found[uri].add(item_id)
        return {uri: frozenset(ids) for uri, ids in found.items()}

    def _find_uri(self, item_id: str) -> str | None:
        try:
            return self._patiently(lambda: self._client.get_evidence(item_id))[0].source.uri
        except Problem as problem:
            # Gone or closed meanwhile: then it explains nothing.
            if problem.code == "not_found":
                return None
            raise

    def _patiently(self, call: Callable[[], Result]) -> tuple[Result, float]:
        """Answer what the call answers and how long it took, the waiting for a busy service left out."""
        for attempt in range(1, _TRIES_MAX + 1):
            begun = self._seconds()
            try:
                return call(), self._seconds() - begun
            except Problem as problem:
                if problem.status not in (_TOO_MANY, _UNAVAILABLE) or attempt == _TRIES_MAX:
                    raise
                self._sleep(min(problem.retry_after_seconds or attempt, _WAIT_SECONDS_MAX))
        raise AssertionError("the last attempt returns or raises")


def package_of(answer: PackageAnswer) -> Package:
    """Answer what of a package is looked at: its text in counted blocks, and its items."""
    text = str(answer.rendered["text"])
    sections = [Block(section.text, section.used_tokens) for section in answer.sections if section.text]
    preamble = text[: len(text) - sum(len(block.text) for block in sections)]
    items = [item for section in answer.sections for item in section.items]
    return Package(
        id=answer.id,
        blocks=(Block(preamble, answer.overhead_tokens), *sections),
        shown=tuple(
            Shown(item.id, item.source.uri if item.source is not None else None, item.text, item.card)
            for item in items
        ),
        omitted={one.id: one.reason for one in answer.omissions if one.kind == _EVIDENCE},
        holds_memories=any(item.kind == _MEMORY for item in items),
        degraded=tuple(answer.degraded),
        policy_version=answer.policy_version,
        profile_version=answer.profile_version,
    )
