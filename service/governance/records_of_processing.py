"""The record of processing activities (GDPR, article 30) that follows from a policy. Reads nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from service.governance.handling import WORK
from service.identity.matrix import EXECUTIONS_READ, EXECUTIONS_READ_REDACTED, SCOPES_BY_ROLE
from service.policies.classes import Expiry, MemoryClass
from service.policies.model import Bundle, Retention
from service.policies.words import Approver, ClassScope, ExpiryStart, RetainedText, ValueType

MEASURES: Final = (
    "Text about a person rests as ciphertext (AES-256-GCM) under a key of that person's own.",
    "Keys stand apart from the record and its backups, and a person's key is destroyed with the person.",
    "Names are looked up by keyed hash; the index holds vectors and ids, and no text.",
    "Each tenant's rows are kept apart by key, by every query and, on PostgreSQL, by row-level security.",
    "Each act is recorded in a hash chain that names ids and pseudonyms alone.",
    "Whatever is read is judged at that moment: rights, consent, purpose and expiry.",
)

_DAY: Final = "day"
_FULL: Final = (
    "what was said",
    "tool results",
    "working states",
    "requests and commands",
    "results of checks",
)
_NONE: Final = ("the task contract", "references, hashes and lengths", "decisions and outcomes")
_APPROVALS: Final[Mapping[Approver, str]] = {
    Approver.AUTO: "nobody: the policy alone decides",
    Approver.SUBJECT: "the person whom it is about",
    Approver.REVIEWER: "a reviewer",
    Approver.BOTH: "the person whom it is about, and a reviewer",
}
assert _APPROVALS.keys() == set(Approver)


@dataclass(frozen=True, slots=True)
class MemoryProcessing:
    """What is done with memories of one class. `purposes` are descriptions by name."""

    rule: MemoryClass
    purposes: Mapping[str, str]
    subjects: Sequence[str]
    data: Sequence[str]
    recipients: Sequence[str]
    retention: str
    approval: str


@dataclass(frozen=True, slots=True)
class RunProcessing:
    """What is done with the content of runs of one retention class."""

    name: str
    purposes: Mapping[str, str]
    lawful_basis: str
    subjects: Sequence[str]
    data: Sequence[str]
    recipients: Sequence[str]
    retention: str


@dataclass(frozen=True, slots=True)
class RecordsOfProcessing:
    """The whole record. `measures` are those of article 32."""

    memories: Sequence[MemoryProcessing]
    runs: Sequence[RunProcessing]
    measures: Sequence[str] = MEASURES


def records_of_processing(bundle: Bundle) -> RecordsOfProcessing:
    """Answer what the policy allows to be processed; a policy without classes allows nothing."""
    return RecordsOfProcessing(
        memories=[_memory(rule, bundle) for rule in bundle.classes.values()],
        runs=[_run(name, kept) for name, kept in bundle.retention.items()],
    )


def _memory(rule: MemoryClass, bundle: Bundle) -> MemoryProcessing:
    is_own = rule.scope is ClassScope.USER
    return MemoryProcessing(
        rule=rule,
        purposes={name: bundle.purposes[name].description for name in rule.purposes},
        subjects=["persons for whom agents act"] if is_own else [],
        data=_data(rule),
        recipients=_recipients(rule, is_own=is_own),
        retention="nothing is kept" if rule.expiry is None else in_words(rule.expiry),
        approval=_approval(rule),
    )


def _data(rule: MemoryClass) -> Sequence[str]:
    if rule.refuses is not None:
        return []
    value = rule.value
    return [
        f"text of up to {value.text_characters_max} characters",
        *(f"a value: {kind.value}" for kind in value.value_types if kind is not ValueType.TEXT),
        *(detection.value for detection in rule.allowed_detections),
    ]


def _recipients(rule: MemoryClass, *, is_own: bool) -> Sequence[str]:
    if rule.refuses is not None:
        return []
    readers = [role.value for role in rule.readers]
    return ["the person whom it is about", *readers] if is_own else readers


def _approval(rule: MemoryClass) -> str:
    if rule.refuses is not None:
        return "none: every proposal is denied"
    words = _APPROVALS[rule.approval.by]
    shortcut = rule.approval.automatic_when
    if shortcut is None:
        return words
    least = shortcut.confidence_min
    return f"{words}; the policy alone from {least} where every source is the person's own turn"


def _run(name: str, kept: Retention) -> RunProcessing:
    readers = sorted(
        role.value
        for role, scopes in SCOPES_BY_ROLE.items()
        if scopes & {EXECUTIONS_READ, EXECUTIONS_READ_REDACTED}
    )
    return RunProcessing(
        name=name,
        purposes={name: kept.description},
        lawful_basis=WORK.lawful_basis,
        subjects=["persons for whom agents act", "persons of whom sources tell"],
        data=_FULL if kept.text is RetainedText.FULL else _NONE,
        recipients=readers,
        retention=f"{_days(kept.days)} after the end of the run",
    )


def in_words(expiry: Expiry) -> str:
    """Answer when a memory of the class ends, as a person would say it."""
    start = "last confirmation" if expiry.counted_from is ExpiryStart.CONFIRMATION else "creation"
    ends = [f"{_days(expiry.days)} after {start}"]
    if expiry.idle_days is not None:
        ends.append(f"{_days(expiry.idle_days)} after it was last used")
    if expiry.last_day is not None:
        ends.append(f"with {expiry.last_day.isoformat()}")
    return ends[0] if len(ends) == 1 else f"whichever comes first: {', or '.join(ends)}"


def _days(count: int) -> str:
    return f"{count} {_DAY}" if count == 1 else f"{count} {_DAY}s"
