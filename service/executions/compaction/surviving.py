"""What no summary may lose, as lines out of the run's own record. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from service.core.text import cut_at_grapheme
from service.executions.acceptance.model import Check, CheckStatus, RequirementStanding
from service.executions.conversation.model import Pin, PinKind
from service.executions.ledger.model import Effect
from service.executions.ledger.rules import is_unsettled
from service.executions.model import Execution

SURVIVING_CHARACTERS_MAX: Final = 150_000
"""Beyond it long texts are cut, each to the same length, and their references say where all of it is."""
_TEXT_CHARACTERS_MIN: Final = 80
_ORDER: Final = (
    PinKind.CONSTRAINT,
    PinKind.DECISION,
    PinKind.QUESTION,
    PinKind.HYPOTHESIS,
    PinKind.BLOCKER,
)
assert set(_ORDER) == set(PinKind)


def surviving_lines(
    execution: Execution,
    *,
    pins: Sequence[Pin],
    turn_numbers: Mapping[str, int],
    standings: Sequence[RequirementStanding],
    checks: Sequence[Check],
    effects: Sequence[Effect],
) -> Sequence[str]:
    """Answer a line for the objective, each open pin, failed check and effect of unknown outcome.

    `turn_numbers` are the sequences of the turns that pins come from, by id. A line is never left out.
    """
    pairs = [
        *_objective(execution),
        *_pins(pins, turn_numbers),
        *_failed_checks(standings, checks),
        *_effects(effects),
    ]
    cap = _cap([text for _, text in pairs])
    return [f"{label}: {_cut(text, cap)}" for label, text in pairs]


def _objective(execution: Execution) -> Iterator[tuple[str, str]]:
    if execution.objective:
        yield "objective", execution.objective


def _pins(pins: Sequence[Pin], turn_numbers: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    open_pins = [pin for pin in pins if not pin.resolved and pin.text]
    for pin in sorted(open_pins, key=lambda pin: _ORDER.index(pin.kind)):
        said = ", relayed" if pin.relayed else ""
        turns = "".join(f", turn {turn_numbers[one]}" for one in pin.turn_ids if one in turn_numbers)
        yield f"{pin.kind}{said}{turns} [pin:{pin.id}]", pin.text or ""


def _failed_checks(
    standings: Sequence[RequirementStanding], checks: Sequence[Check]
) -> Iterator[tuple[str, str]]:
    """Answer the newest failed check of each requirement that is not passed now, on whatever candidate."""
    failed = {check.requirement: check for check in checks if not check.passed}
    for standing in standings:
        check = failed.get(standing.requirement)
        if check is None or standing.status is CheckStatus.PASSED:
            continue
        evidence = f", {check.output_ref}" if check.output_ref else ""
        said = (
            ("kind", check.failure_kind),
            ("expected", check.expected),
            ("observed", check.observed),
            ("reproduce", check.reproduce),
        )
        yield (
            f"failed check of requirement {check.requirement} [check:{check.id}{evidence}]",
            "; ".join(f"{name} {text}" for name, text in said if text),
        )


def _effects(effects: Sequence[Effect]) -> Iterator[tuple[str, str]]:
    for effect in effects:
        if is_unsettled(effect):
            yield (
                f"effect of unknown outcome [effect:{effect.operation_id}]",
                f"{effect.kind} ({effect.status})",
            )


def _cap(texts: Sequence[str]) -> int:
    """Answer the length to which texts are cut so that all of them fit."""
    room = SURVIVING_CHARACTERS_MAX
    for number, length in enumerate(sorted(map(len, texts))):
        share = room // (len(texts) - number)
        if length > share:
            return max(share, _TEXT_CHARACTERS_MIN)
        room -= length
    return SURVIVING_CHARACTERS_MAX


def _cut(text: str, cap: int) -> str:
    return text if len(text) <= cap else f"{text[: cut_at_grapheme(text, cap)]}…"
