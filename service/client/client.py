"""A Python client of the HTTP interface, so far for evidence, packages and workers that live in a folder."""

from service.client.evidence import EvidenceCalls
from service.client.executions import ExecutionCalls
from service.client.imports import ImportCalls
from service.client.packages import PackageCalls


class Muniment(EvidenceCalls, ExecutionCalls, ImportCalls, PackageCalls):
    """All calls that this client makes, over one connection."""
