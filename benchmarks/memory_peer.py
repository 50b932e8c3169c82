"""The bare search of a memory library over items and vectors that are given to it, driven line by line.

Runs in an environment of its own, which has the libraries and nothing of ours: `python -I memory_peer.py
mem0|langgraph FOLDER`. For each JSON line on standard input it answers one on standard output. No model is
asked and nothing is sent: the vector of each text is handed in, so that no side embeds while it is timed.
"""

import json
import sys
import time
import uuid
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

_DIMENSION = 256
_BATCH = 1_000
_RESULTS = 20


class Given:
    """The vectors of texts, as they were handed in."""

    def __init__(self) -> None:
        self.vectors: dict[str, Any] = {}

    def embed(self, text: str, _action: str | None = None) -> list[float]:
        """Answer as mem0 asks."""
        return self.vectors[text]

    def documents(self, texts: list[str]) -> list[Any]:
        """Answer as LangGraph asks."""
        return [self.vectors[text] for text in texts]


class Mem0:
    """mem0 on the library of its default store, held in memory; its language model is never asked.

    On disk the same store commits each point for itself, which only makes loading take an hour.
    """

    def __init__(self, folder: str) -> None:
        from mem0 import Memory  # noqa: PLC0415 - each side imports its own library alone
        from qdrant_client import QdrantClient  # noqa: PLC0415

        store = {
            "client": QdrantClient(":memory:"),
            "embedding_model_dims": _DIMENSION,
            "collection_name": "pieces",
        }
        self.memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": f"{folder}/history.db",
            }
        )
        self.given = Given()
        self.numbers = count()
        self.memory.embedding_model = self.given

    def load(self, owner: str, texts: list[str], vectors: np.ndarray) -> None:
        """Put into the collection what `add` would have put there."""
        for start in range(0, len(texts), _BATCH):
            part = texts[start : start + _BATCH]
            self.memory.vector_store.insert(
                vectors=vectors[start : start + _BATCH].tolist(),
                payloads=[{"data": text, "user_id": owner} for text in part],
                ids=[str(uuid.UUID(int=next(self.numbers))) for _ in part],
            )

    def search(self, owner: str, query: str) -> int:
        """Answer how many were found."""
        found = self.memory.search(query, top_k=_RESULTS, filters={"user_id": owner})
        return len(found["results"])


class LangGraph:
    """LangGraph's store in memory, with its index of vectors."""

    def __init__(self, _folder: str) -> None:
        from langgraph.store.base import PutOp  # noqa: PLC0415 - each side imports its own library alone
        from langgraph.store.memory import InMemoryStore  # noqa: PLC0415

        self.given = Given()
        self.numbers = count()
        self.put = PutOp
        self.store = InMemoryStore(
            index={"dims": _DIMENSION, "embed": self.given.documents, "fields": ["text"]}
        )

    def load(self, owner: str, texts: list[str], vectors: np.ndarray) -> None:
        """Put the items under the owner's name."""
        for start in range(0, len(texts), _BATCH):
            part = texts[start : start + _BATCH]
            self.given.vectors = dict(zip(part, vectors[start : start + _BATCH], strict=True))
            self.store.batch(
                [self.put((owner,), str(uuid.UUID(int=next(self.numbers))), {"text": text}) for text in part]
            )

    def search(self, owner: str, query: str) -> int:
        """Answer how many were found."""
        return len(self.store.search((owner,), query=query, limit=_RESULTS))


def main() -> None:
    """Answer lines until the input ends: what is loaded, or searched with the seconds that it took."""
    name, folder = sys.argv[1:]
    side = Mem0(folder) if name == "mem0" else LangGraph(folder)
    for line in sys.stdin:
        asked = json.loads(line)
        if "load" in asked:
            texts = json.loads(Path(asked["load"] + ".json").read_text(encoding="utf-8"))
            side.load(asked["owner"], texts, np.load(asked["load"] + ".npy"))
            reply = {"loaded": len(texts)}
        else:
            vector = np.array(asked["vector"], dtype=np.float32)
            side.given.vectors = {asked["query"]: vector if name == "langgraph" else vector.tolist()}
            start = time.perf_counter()
            found = side.search(asked["owner"], asked["query"])
            reply = {"seconds": time.perf_counter() - start, "found": found}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
