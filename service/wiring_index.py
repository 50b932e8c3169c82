"""Builds what works on texts, and the index of their vectors.

Vendors are imported where they are built.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from service.core.tokens import TokenCounter
from service.evidence.ports import Chunker, FileReader
from service.retrieval.ports import Embedder, SparseEncoder, VectorIndex
from service.settings import Settings
from service.settings_tokenizers import TokenizerSettings

if TYPE_CHECKING:  # it computes with numpy, which commands of the record do not need
    from service.retrieval.rerank.ports import Reranker

_INDEX_SECONDS_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class Texts:
    """What reads, cuts, counts and encodes text."""

    tokens: TokenCounter
    chunker: Chunker
    files: FileReader
    embedder: Embedder
    sparse: SparseEncoder
    reranker: "Reranker"


def build_texts(models: Path, tokenizers: Mapping[str, TokenizerSettings]) -> Texts:
    """Make what works on texts; `models` is the folder of vocabularies and embedding models.

    Raises `TokenizerUnusable` for a registered tokenizer whose counts nothing can rest on.
    """
    # The vendors' packages are loaded here, as the module says.
    from service.adapters.bm25 import Bm25Encoder  # noqa: PLC0415
    from service.adapters.chunker import SemanticChunker  # noqa: PLC0415
    from service.adapters.files import StandardFileReader  # noqa: PLC0415
    from service.adapters.token_counters import Registration, TokenCounters  # noqa: PLC0415
    from service.adapters.tokens import TiktokenCounter  # noqa: PLC0415
    from service.adapters.wordllama import WordllamaEmbedder  # noqa: PLC0415
    from service.retrieval.rerank.linear import LinearReranker  # noqa: PLC0415

    registered = {name: Registration(one.file, one.models) for name, one in tokenizers.items()}
    tokens = TokenCounters(TiktokenCounter(models / "tiktoken"), registered)
    embedder, sparse = WordllamaEmbedder(models / "wordllama"), Bm25Encoder()
    return Texts(
        tokens=tokens,
        chunker=SemanticChunker(tokens),
        files=StandardFileReader(),
        embedder=embedder,
        sparse=sparse,
        reranker=LinearReranker(sparse, embedder),
    )


def build_index(settings: Settings, texts: Texts) -> tuple[VectorIndex, Callable[[], None] | None]:
    """Open the index; where it must be compared with the record first, answer whom to tell afterwards."""
    # Either engine is loaded only where it is used.
    if settings.qdrant_url is None:
        from service.adapters.qdrant_edge import EdgeIndex  # noqa: PLC0415

        folder = settings.data_dir / "index"
        embedded = EdgeIndex(folder, embedder=texts.embedder, sparse=texts.sparse)
        return embedded, None if embedded.closed_cleanly else embedded.confirm_whole
    from qdrant_client import QdrantClient  # noqa: PLC0415

    from service.adapters.qdrant_client import ClientIndex  # noqa: PLC0415

    key = None if settings.qdrant_api_key is None else settings.qdrant_api_key.get_secret_value()
    client = QdrantClient(url=settings.qdrant_url, api_key=key, timeout=_INDEX_SECONDS_MAX)
    return ClientIndex(client, embedder=texts.embedder, sparse=texts.sparse), None
