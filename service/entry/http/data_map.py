"""Routes of what the law asks to be written down: the data map, and the record of processing activities."""

from typing import Any, Final

from starlette.responses import Response

from service.entry.data_map import data_map
from service.entry.http.data_map_shapes import field_answer, processing_answer
from service.entry.http.edge import Edge, Reply, needs, new_router, operation
from service.governance.records_of_processing import records_of_processing
from service.identity.matrix import AUDIT_READ, POLICIES_READ, TENANT_ADMIN
from service.identity.unit import Unit
from service.policies.active import PolicyUnreadable, active_bundle
from service.policies.store import PolicyStore
from service.wire.data_map import DataMapAnswer, RecordsOfProcessingAnswer

router = new_router("data map")

_FIELD_EXAMPLE: Final[dict[str, Any]] = {
    "store": "record",
    "table": "turns",
    "field": "text",
    "what": "words, as ciphertext",
    "personal": "personal",
    "purpose": "Doing the work that was asked for, and going on with it",
    "lawful_basis": "contract",
    "retention_class": "run",
    "kept": "for the days after the run's end that the run's retention class gives",
    "sealed_under": "subject",
    "erased_by": ["conversation"],
}
_RECORDS_EXAMPLE: Final[dict[str, Any]] = {
    "policy_version": "sha256:" + "0" * 64,
    "memory_classes": [
        {
            "name": "preference",
            "because": "a person should not have to repeat how they want to be answered.",
            "purposes": [{"name": "personalisation", "description": "Answering in the way that you prefer."}],
            "lawful_basis": "consent",
            "consent_needed": True,
            "subjects": ["persons for whom agents act"],
            "data": ["text of up to 500 characters", "a value: number"],
            "sensitivity": "personal",
            "recipients": ["the person whom it is about", "agent", "user"],
            "destinations": ["package", "search", "export"],
            "models": [],
            "sources": ["conversation", "tool", "register"],
            "retention": "365 days after last confirmation",
            "approval": "the person whom it is about",
            "refuses": None,
        }
    ],
    "retention_classes": [
        {
            "name": "operational",
            "purposes": [{"name": "operational", "description": "Ordinary work."}],
            "lawful_basis": "contract",
            "subjects": ["persons for whom agents act"],
            "data": ["what was said"],
            "recipients": ["agent", "user"],
            "retention": "90 days after the end of the run",
        }
    ],
    "security_measures": ["Text about a person rests as ciphertext."],
}


@router.get(
    "/data-map",
    **operation(
        summary="Read where everything is kept",
        answer=DataMapAnswer,
        example={"items": [_FIELD_EXAMPLE]},
    ),
)
def read_data_map(edge: Edge = needs(POLICIES_READ, AUDIT_READ, TENANT_ADMIN)) -> Response:
    """Answer every field of every store: what it holds, why, for how long, and what erases it."""
    fields = [field_answer(field) for field in data_map()]
    return edge.read(lambda _unit: Reply(DataMapAnswer(items=fields)))


@router.get(
    "/records-of-processing",
    **operation(
        summary="Read the record of processing activities",
        answer=RecordsOfProcessingAnswer,
        example=_RECORDS_EXAMPLE,
        problems=[PolicyUnreadable],
    ),
)
def read_records(edge: Edge = needs(POLICIES_READ, AUDIT_READ, TENANT_ADMIN)) -> Response:
    """Answer what the active policy allows to be processed (GDPR, article 30)."""

    def work(unit: Unit) -> Reply:
        active = PolicyStore.of(unit).find_active()
        records = records_of_processing(active_bundle(unit))
        return Reply(processing_answer(records, None if active is None else active.version))

    return edge.read(work)
