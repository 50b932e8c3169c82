"""Runs the tests that stand beside a bundle: no database, no clock but the one that they name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from service.policies.cases import ANSWERED, Case, CaseFile
from service.policies.evaluate import judge_proposal
from service.policies.findings import Place
from service.policies.foreseen import foresee_command, foresee_execution, foresee_memory, foresee_package
from service.policies.given import GivenEvidence, GivenProposal
from service.policies.model import Bundle
from service.policies.sources import TURN_URI, find_source, place_source
from service.policies.verdict import Outcome
from service.policies.words import ProvenanceKind

Places = Mapping[str, Sequence[Place]]
"""Where the tests of each file stand, by the file's path, in the order of the tests."""

_NOWHERE: Final = Place()


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One test and what did not come out as expected; nothing where it passed.

    `because` says why it came out as it did, `rules` the places in the bundle that took part in it.
    """

    file: str
    name: str
    differences: tuple[str, ...]
    place: Place = _NOWHERE
    because: tuple[str, ...] = ()
    rules: frozenset[str] = frozenset()

    @property
    def passed(self) -> bool:
        """Whether every expectation was met."""
        return not self.differences


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came out of one case."""

    found: Mapping[str, object]
    because: tuple[str, ...] = ()
    touched: frozenset[str] = frozenset()
    """Places in the bundle that took part beside those that are told as `rules`."""


def run_cases(
    bundle: Bundle, files: Mapping[str, CaseFile], places: Places | None = None
) -> tuple[CaseResult, ...]:
    """Answer the result of every test, in the order of files and of tests in them."""
    return tuple(
        _run(case, bundle, path, files[path].now, _place_of(places, path, number))
        for path in sorted(files)
        for number, case in enumerate(files[path].cases)
    )


def _place_of(places: Places | None, path: str, number: int) -> Place:
    known = (places or {}).get(path, ())
    return known[number] if number < len(known) else _NOWHERE


def _run(case: Case, bundle: Bundle, path: str, file_now: datetime, place: Place) -> CaseResult:
    answer = _answer(case, bundle, case.now or file_now)
    rules = answer.found["rules"]
    assert isinstance(rules, tuple)
    touched = {*rules, *answer.touched}
    if case.expect.expires_at is None:
        # Whoever does not say when it ends has not tested when it ends.
        touched = {rule for rule in touched if not rule.endswith(".expiry")}
    return CaseResult(
        file=path,
        name=case.name,
        differences=case.expect.differences(answer.found),
        place=place,
        because=answer.because,
        rules=frozenset(touched),
    )


def _answer(case: Case, bundle: Bundle, now: datetime) -> _Answer:
    given = case.given
    if given.proposal is not None:
        return _of_proposal(given.proposal, bundle, now)
    if given.evidence is not None:
        return _of_evidence(given.evidence, bundle)
    if given.memory is not None:
        return _Answer(_fields(foresee_memory(given.memory, bundle, now), "memory"))
    if given.package is not None:
        return _Answer(_fields(foresee_package(given.package, bundle), "package"))
    if given.command is not None:
        return _Answer(_fields(foresee_command(given.command, bundle), "command"))
    assert given.execution is not None
    return _Answer(_fields(foresee_execution(given.execution, bundle), "execution"))


def _fields(found: object, kind: str) -> Mapping[str, object]:
    return {name: getattr(found, name) for name in ANSWERED[kind]}


def _of_proposal(given: GivenProposal, bundle: Bundle, now: datetime) -> _Answer:
    verdict = judge_proposal(given.facts(), bundle, now)
    found = {
        "decision": verdict.outcome,
        "reasons": verdict.codes,
        "rules": verdict.rules,
        "approver": verdict.approver,
        "trust": verdict.trust,
        "expires_at": verdict.expires_at,
    }
    because = tuple(f"{reason.code}: {reason.message} ({reason.rule})" for reason in verdict.reasons)
    approved = verdict.outcome is Outcome.APPROVED
    return _Answer(
        found,
        because or (f"approved by {verdict.rule}",),
        frozenset(_touched(given, bundle, approved=approved)),
    )


def _touched(given: GivenProposal, bundle: Bundle, *, approved: bool) -> Iterator[str]:
    memory_class = bundle.classes.get(given.memory_class)
    if memory_class is None:
        return
    yield (path := f"classes.{memory_class.name}")
    yield f"{path}.expiry"
    if approved and memory_class.approval.automatic_when is not None:
        yield f"{path}.approval.automatic_when"
    for source in given.provenance:
        uri = TURN_URI if source.kind is ProvenanceKind.TURN else source.uri
        rule = find_source(uri, source.source_kind, bundle) if source.found else None
        if memory_class.sources is not None and rule is not None:
            yield f"sources.{rule.name}"


def _of_evidence(given: GivenEvidence, bundle: Bundle) -> _Answer:
    placed = place_source(given.uri, given.kind, given.authority, given.grants, bundle)
    found = {
        "trust": placed.trust,
        "authority": placed.authority,
        "limited": placed.limited,
        "rules": ("sources",) if placed.source is None else (f"sources.{placed.source}",),
    }
    return _Answer(found, (f"placed by {found['rules'][0]}",))  # type: ignore[index]  # a tuple, four lines above
