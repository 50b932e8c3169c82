"""What corrections, histories and refusals look like outside, with their examples."""

from collections.abc import Sequence
from typing import Any, Final, cast

from service.core.hashing import Json
from service.entry.http.memories_shapes import citations_of
from service.memories.correct import Corrected, Correction
from service.memories.model import Refused
from service.memories.store_history import HistoryEntry
from service.memories.valid import Validity
from service.wire.memories import ReasonAnswer
from service.wire.memories_lifecycle import (
    CorrectionAnswer,
    CorrectMemory,
    HistoryAnswer,
    RefusalAnswer,
    RefusalsAnswer,
    VersionAnswer,
)

_TIME: Final = "2026-11-30T10:00:00Z"

CORRECTION_EXAMPLE: Final[dict[str, Any]] = {
    "text": "Prefers detailed explanations",
    "reason": "changed my mind",
}
HISTORY_EXAMPLE: Final[dict[str, Any]] = {
    "items": [
        {
            "version": version,
            "at": _TIME,
            "by": by,
            "act": act,
            "text": text,
            "value": None,
            "reason": reason,
            "valid_from": None,
            "valid_until": None,
        }
        for version, by, act, text, reason in (
            (1, "agent:agent-1:for:user-1", "proposed", "Prefers concise explanations", None),
            (2, "user:user-1", "corrected", "Prefers detailed explanations", "changed my mind"),
        )
    ]
}
REFUSAL_EXAMPLE: Final[dict[str, Any]] = {"subject": "user-1", "class": "contact_detail", "refused": True}
REFUSALS_EXAMPLE: Final[dict[str, Any]] = {
    "subject": "user-1",
    "items": [{"class": "contact_detail", "since": _TIME}],
}


def correction_of(body: CorrectMemory) -> Correction:
    """Read a correction: a window of time counts if either end is in the request."""
    has_window = bool({"valid_from", "valid_until"} & body.model_fields_set)
    return Correction(
        text=body.text or None,
        value=cast("Json", body.value),
        validity=Validity(body.valid_from, body.valid_until) if has_window else None,
        confidence=body.confidence,
        citations=citations_of(body.provenance),
        reason=body.reason,
    )


def correction_answer(corrected: Corrected) -> CorrectionAnswer:
    """Answer a decision on a correction."""
    return CorrectionAnswer(
        id=corrected.memory_id,
        version=corrected.version,
        decision=corrected.outcome.value,
        reasons=[
            ReasonAnswer(code=reason.code.value, message=reason.message) for reason in corrected.reasons
        ],
        policy_version=corrected.policy_version,
        proposal_id=None if corrected.proposal is None else corrected.proposal.id,
    )


def history_answer(versions: Sequence[HistoryEntry]) -> HistoryAnswer:
    """Answer a memory's versions."""
    return HistoryAnswer(
        items=[
            VersionAnswer(
                version=version.version,
                at=version.at,
                by=version.by,
                act=version.act,
                text=None if version.content is None else version.content.text,
                value=None if version.content is None else version.content.value,
                reason=version.reason,
                valid_from=version.validity.since,
                valid_until=version.validity.until,
            )
            for version in versions
        ]
    )


def refusals_answer(subject: str, refusals: Sequence[Refused]) -> RefusalsAnswer:
    """Answer what a person refuses."""
    items = [RefusalAnswer(class_=refused.class_name, since=refused.since) for refused in refusals]
    return RefusalsAnswer(subject=subject, items=items)
