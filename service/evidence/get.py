"""Reading one item of evidence: its provenance, and its text in parts."""

from dataclasses import dataclass

from service.core.errors import Invalid, NotFound
from service.evidence.model import TEXT_READ_CHARACTERS_MAX, Evidence
from service.evidence.rules import may_judge, may_read
from service.evidence.store import EvidenceStore
from service.identity.unit import Unit


class RangeInvalid(Invalid):
    """The range of characters is not one of this text, or longer than one reading."""

    code = "range_invalid"
    title = "The range of characters cannot be read"


@dataclass(frozen=True, slots=True)
class TextPart:
    """Characters `start` to `end` of a version's text."""

    evidence: Evidence
    start: int
    end: int
    text: str


def get_evidence(
    evidence_id: str, *, unit: Unit, version: int | None = None, to_judge: bool = False
) -> Evidence:
    """Answer an item at a version, the current one by default.

    Raises `NotFound` for what the caller may not read. An older version is read by those who may read it
    and the current one: neither a narrower nor a wider circle of later readers opens it. One under quarantine
    is answered where it is read `to_judge` it, and then only to whom judging is given: nobody else, and
    nothing that is made, is to take it for a source.
    """
    store = EvidenceStore.of(unit)
    current = store.find(evidence_id, now=unit.now)
    if current is None or not _readable(current, unit):
        raise NotFound
    if current.quarantined and not (to_judge and may_judge(unit.caller)):
        raise NotFound
    if version is None or version == current.version:
        return current
    found = store.find(evidence_id, now=unit.now, version=version)
    if found is None or not _readable(found, unit):
        raise NotFound
    return found


def read_text(
    evidence_id: str,
    *,
    unit: Unit,
    start: int = 0,
    end: int | None = None,
    version: int | None = None,
    to_judge: bool = False,
) -> TextPart:
    """Answer the characters from `start` to `end` (default: as many as one reading takes).

    An `end` beyond the text is its end. Raises `NotFound` and, for a range that begins after the text, is
    reversed or longer than `TEXT_READ_CHARACTERS_MAX`, `RangeInvalid`.
    """
    evidence = get_evidence(evidence_id, unit=unit, version=version, to_judge=to_judge)
    stop = start + TEXT_READ_CHARACTERS_MAX if end is None else end
    if start < 0 or start > evidence.characters:
        raise RangeInvalid("begins outside the text", pointer="/start")
    if stop < start:
        raise RangeInvalid("lies before the start", pointer="/end")
    stop = min(stop, evidence.characters)
    if stop - start > TEXT_READ_CHARACTERS_MAX:
        raise RangeInvalid(f"reads more than {TEXT_READ_CHARACTERS_MAX} characters", pointer="/end")
    pieces = EvidenceStore.of(unit).pieces(evidence.id, evidence.version, start=start, end=stop)
    text = "".join(piece[max(0, start - offset) : stop - offset] for offset, piece in pieces)
    return TextPart(evidence, start, stop, text)


def _readable(evidence: Evidence, unit: Unit) -> bool:
    return may_read(unit.caller, project_id=evidence.project_id, labels=evidence.readers)
