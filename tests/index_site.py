"""The record, the relay and the embedded index put together: what tests of the index jobs stand on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evidence_world import ACME, AGENT, World
from tiny_models import TinyEmbedder, TinyEncoder

from service.adapters.qdrant_edge import EdgeIndex
from service.core.passages import PassageKey
from service.evidence.model import EvidencePassage
from service.evidence.store import EvidenceStore
from service.identity.model import Caller
from service.jobs.index_evidence import EVIDENCE_TOPICS, EvidenceSource
from service.jobs.indexer import Indexer
from service.jobs.relay import Relay
from service.retrieval.model import ItemKind, SearchScope
from service.retrieval.search import Ranked, Retriever


@dataclass
class Site:
    """A world with its index, kept by a relay."""

    world: World
    folder: Path
    embedder: TinyEmbedder

    def __post_init__(self) -> None:
        self.open()

    def open(self) -> None:
        """Open the index, and all that stands on it."""
        encoder = TinyEncoder()
        self.index = EdgeIndex(self.folder, embedder=self.embedder, sparse=encoder)
        self.retriever = Retriever(self.embedder, encoder, self.index)
        self.indexer = Indexer(
            EvidenceSource(),
            database=self.world.database,
            ciphers=self.world.ciphers,
            embedder=self.embedder,
            sparse=encoder,
            index=self.index,
        )
        self.relay = Relay(
            self.world.database, dict.fromkeys(EVIDENCE_TOPICS, self.indexer), self.world.clock
        )

    def held(self, tenant_id: str = ACME) -> list[tuple[str, int, int]]:
        """Answer what the index holds."""
        found = self.index.list_keys(tenant_id, ItemKind.EVIDENCE)
        return [(key.item_id, key.version, key.ordinal) for key in found]

    def search(self, query: str, who: Caller = AGENT) -> Sequence[Ranked[EvidencePassage]]:
        """Search as evidence does."""
        with self.world.unit(who) as unit:
            store = EvidenceStore.of(unit)
            readers = tuple(unit.cipher.keyed_hash(label) for label in sorted(who.reader_labels))
            scopes = tuple(f"project:{project_id}" for project_id in sorted(who.project_ids))

            def reread(keys: Sequence[PassageKey]) -> Mapping[PassageKey, EvidencePassage]:
                return store.passages(keys, caller=who, now=unit.now)

            scope = SearchScope(who.tenant_id, ItemKind.EVIDENCE, scopes, readers)
            return self.retriever.search(query, scope, reread=reread, neighbours=store.neighbours, limit=10)
