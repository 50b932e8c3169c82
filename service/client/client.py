"""A Python client of the HTTP interface, so far for evidence and for workers that live in a folder."""

from service.client.evidence import EvidenceCalls
from service.client.executions import ExecutionCalls
from service.client.imports import ImportCalls


class Muniment(EvidenceCalls, ExecutionCalls, ImportCalls):
    """All calls that this client makes, over one connection."""
