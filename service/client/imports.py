"""The call that brings a memory of an own export back, as a proposal."""

from service.client.connection import JSON, Connection, as_json
from service.wire.imports import ImportMemory
from service.wire.memories import ProposalAnswer


class ImportCalls(Connection):
    """Import memories."""

    def import_memory(self, new: ImportMemory) -> ProposalAnswer:
        """Propose it in the credential's own name; answer the policy's decision."""
        path = "/memory-imports"
        return self._call("POST", path, ProposalAnswer, content=as_json(new), headers=JSON)
