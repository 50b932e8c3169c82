"""The lines of a folder's log: those that the service wrote, and those that were written here. Pure."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from pydantic import ValidationError

from service.wire.work import LogStep

LINE_BYTES_MAX: Final = 1024 * 1024
_SERVICE_ONLY: Final = ("id", "at")
"""What the service adds to a line. A line that was written here may carry a time; the service's counts."""
_FAULTS_NAMED_MAX: Final = 3


@dataclass(frozen=True, slots=True)
class OwnLine:
    """A line that was written here. `key` names it to the service: the same each time it is sent."""

    number: int
    step: LogStep
    digest: str
    key: str


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be sent, and why. `number` counts from 1."""

    number: int
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class LogLines:
    """What a log holds: the ids of the service's lines, own lines in their order, and what is neither."""

    ids: frozenset[str]
    own: Sequence[OwnLine]
    bad: Sequence[BadLine]


@dataclass(frozen=True, slots=True)
class ServiceLine:
    """A line as the service wrote it. `digest` equals that of an own line that says the same."""

    id: str
    digest: str
    raw: bytes


class LineUnreadable(Exception):
    """The service answered something that is no line of a log."""


def read_log(content: bytes, execution_id: str) -> LogLines:
    """Answer what a log's whole lines hold."""
    ids: set[str] = set()
    own: list[OwnLine] = []
    bad: list[BadLine] = []
    said: Counter[str] = Counter()
    for number, raw in enumerate(content.split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            fields = _fields(raw)
            line_id = fields.get("id")
            if line_id is not None:
                ids.add(str(line_id))
                continue
            step = _step({name: value for name, value in fields.items() if name not in _SERVICE_ONLY})
        except _Unfit as fault:
            bad.append(BadLine(number, fault.code, fault.detail))
            continue
        digest = digest_of(step)
        said[digest] += 1
        own.append(OwnLine(number, step, digest, key_of(execution_id, digest, said[digest])))
    return LogLines(frozenset(ids), own, bad)


def is_whole(raw: bytes) -> bool:
    """Say whether this is all of a line, though its line break is missing."""
    try:
        return bool(_fields(raw))
    except _Unfit:
        return False


def ids_in(content: bytes) -> frozenset[str]:
    """Answer the ids of the service's lines among whole lines."""
    return frozenset(_ids_in(content))


def read_service_line(raw: str) -> ServiceLine:
    """Answer a line that came from the service. Raises `LineUnreadable`."""
    try:
        fields = _fields(raw.encode())
        step = _step({name: fields[name] for name in LogStep.model_fields if name in fields})
    except (_Unfit, UnicodeEncodeError):
        raise LineUnreadable from None
    if not isinstance(fields.get("id"), str):
        raise LineUnreadable
    return ServiceLine(str(fields["id"]), digest_of(step), raw.encode())


def digest_of(step: LogStep) -> str:
    """Answer a hash that is equal for lines that say the same, however they are written."""
    return hashlib.sha256(step.model_dump_json().encode()).hexdigest()


def key_of(execution_id: str, digest: str, place: int) -> str:
    """Answer the `Idempotency-Key` of an own line: its run, what it says, its place among its equals.

    Not its line number: a line stays itself when a torn one before it is taken away.
    """
    return hashlib.sha256(f"{execution_id}\n{digest}\n{place}".encode()).hexdigest()[:40]


class _Unfit(Exception):
    """Why a line is none that can be sent."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


def _fields(raw: bytes) -> Mapping[str, Any]:
    if len(raw) > LINE_BYTES_MAX:
        raise _Unfit("too_large", f"is longer than {LINE_BYTES_MAX} bytes")
    try:
        found = json.loads(raw.decode(), object_pairs_hook=_object, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise _Unfit("malformed_json", "is not JSON") from None
    if not isinstance(found, dict):
        raise _Unfit("invalid", "is no JSON object")
    return found


def _step(fields: Mapping[str, Any]) -> LogStep:
    try:
        return LogStep.model_validate_json(json.dumps(fields))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        named = [f"{'/'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults]
        raise _Unfit("invalid", "; ".join(named[:_FAULTS_NAMED_MAX])) from None


def _ids_in(content: bytes) -> Iterator[str]:
    for raw in content.split(b"\n"):
        try:
            found = _fields(raw).get("id") if raw.strip() else None
        except _Unfit:
            continue
        if found is not None:
            yield str(found)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse_constant(_text: str) -> NoReturn:
    raise ValueError("no number of JSON")
