"""Which rules of a bundle its tests decide by, and which none does."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from service.policies.cases import CaseFile
from service.policies.classes import MemoryClass
from service.policies.model import Bundle
from service.policies.run_cases import CaseResult, run_cases
from service.policies.words import Approver, OwnWords, Trust


@dataclass(frozen=True, slots=True)
class Coverage:
    """The places of a bundle, in order, apart by whether a test that passes decides by them.

    `rules` are what an author names: classes, their rules, sources, commands, retention classes and profiles.
    `keys` are the keys of classes that can refuse something, hold it up or end it.
    """

    rules: Mapping[str, bool]
    keys: Mapping[str, bool]

    @property
    def missing(self) -> tuple[str, ...]:
        """The places that no test decides by."""
        return tuple(path for path, is_met in [*self.rules.items(), *self.keys.items()] if not is_met)

    @property
    def percent(self) -> int:
        """Hundredths of all places that are met, rounded down; of nothing: 100."""
        total = len(self.rules) + len(self.keys)
        return 100 if total == 0 else 100 * (total - len(self.missing)) // total


def coverage(bundle: Bundle, files: Mapping[str, CaseFile], results: Iterable[CaseResult]) -> Coverage:
    """Answer what the tests in `files`, whose `results` these are, decide by."""
    met = {rule for result in results if result.file in files and result.passed for rule in result.rules}
    return Coverage(
        rules={path: path in met for path in _rules(bundle)},
        keys={path: path in met for path in _keys(bundle)},
    )


def uncovered(bundle: Bundle, files: Mapping[str, CaseFile]) -> tuple[str, ...]:
    """Answer the rules by which no test that passes decides, as paths (`classes.preference`).

    Keys of a class are not asked for: one test of a class is a test of that rule.
    """
    found = coverage(bundle, files, run_cases(bundle, files))
    return tuple(path for path, is_met in found.rules.items() if not is_met)


def _rules(bundle: Bundle) -> Iterator[str]:
    for name, memory_class in bundle.classes.items():
        yield f"classes.{name}"
        yield from (f"classes.{name}.rules.{rule}" for rule in memory_class.rules)
    yield from sorted(f"sources.{rule.name}" for rule in bundle.sources)
    for section in ("commands", "retention", "profiles"):
        yield from (f"{section}.{name}" for name in getattr(bundle, section))


def _keys(bundle: Bundle) -> Iterator[str]:
    for name, memory_class in bundle.classes.items():
        yield from (f"classes.{name}.{key}" for key in _keys_of(memory_class))


def _keys_of(memory_class: MemoryClass) -> Iterator[str]:
    """Yield the keys of a class by which something may come out otherwise, in the order of the guide."""
    if memory_class.refuses is not None:
        yield "refuses"
        return
    yield from ("purposes", "writers", "readers")
    yield from ["correctors"] * bool(memory_class.correctors)
    yield from ["consent_needed"] * memory_class.consent_needed
    if memory_class.agents:
        yield "agents"
    if memory_class.sources is not None:
        yield "sources"
        yield from ["sources.lowest_trust"] * (memory_class.sources.lowest_trust is not Trust.THIRD_PARTY)
        yield from ["sources.own_words"] * (memory_class.sources.own_words is not OwnWords.NOT_NEEDED)
    yield from ["confidence_min"] * (memory_class.confidence_min > 0)
    yield "value"
    shortcut = memory_class.approval.automatic_when
    yield from ["approval.by"] * (memory_class.approval.by is not Approver.AUTO)
    yield from ["approval.automatic_when"] * (shortcut is not None)
    yield from ["approval.automatic_when.when"] * (shortcut is not None and shortcut.when is not None)
    yield from ("expiry", "quota", "conflict")
    yield from ["models"] * bool(memory_class.models)
