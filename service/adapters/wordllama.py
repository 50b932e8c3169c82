"""Dense vectors from wordllama's static word embeddings, read from its package: no network, no torch.

Only the package's two data files are used. Its code sets up logging for the whole process when imported, pads
each batch to its longest text, and looks for a missing file on the network.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from safetensors import safe_open
from tokenizers import Tokenizer

from service.retrieval.rerank.pooling import sum_runs

_MODEL: Final = "l2_supercat"
_DIMENSION: Final = 256
_TENSOR: Final = "embedding.weight"

_TEXT_CHARACTERS_MAX: Final = 8_192
"""How much of a text is read.

The vector is the mean of the words' vectors: what comes later moves it less and less, and a chunk of evidence
is far shorter. The limit keeps a batch within a few megabytes, and the tokenizer, which takes a text without
white space as one word, within milliseconds.
"""
_BATCH_TEXTS_MAX: Final = 64


class WordllamaEmbedder:
    """Implements `retrieval.ports.Embedder`: unit vectors of 256 numbers, float32 in precision.

    The first that is made loads 18 MB in about 0.2 s; the next share what it loaded. Safe to share between
    threads.
    """

    name = f"wordllama-{_MODEL}-{_DIMENSION}"
    dimension = _DIMENSION

    def __init__(self, cache_dir: Path) -> None:
        """Load the model from the installed package or, where it came without its data, from `cache_dir`.

        `cache_dir` then holds `weights/` and `tokenizers/` as the package would. Raises `FileNotFoundError`.
        """
        folders = (*_package_folders(), cache_dir)
        self._tokenizer = _read_tokenizer(
            _find(folders, Path("tokenizers", f"{_MODEL}_tokenizer_config.json"))
        )
        self._vectors = _read_vectors(_find(folders, Path("weights", f"{_MODEL}_{_DIMENSION}.safetensors")))

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float] | None]:
        """Answer a finite unit vector for each text, `None` for one without direction.

        Without direction are a text of nothing but white space and one whose words cancel out. Of a longer
        text the first 8,192 characters count.
        """
        vectors: list[Sequence[float] | None] = []
        for start in range(0, len(texts), _BATCH_TEXTS_MAX):
            batch = [text[:_TEXT_CHARACTERS_MAX].strip() for text in texts[start : start + _BATCH_TEXTS_MAX]]
            encodings = self._tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            vectors.extend(
                self._mean(encoding.ids) if text else None
                for text, encoding in zip(batch, encodings, strict=True)
            )
        return vectors

    def embed_words(self, words: Sequence[str]) -> npt.NDArray[np.float64]:
        """Answer the sum of the vectors of each word's tokens; zeros for a word without any.

        Implements `retrieval.rerank.ports.WordVectors`: about 3 microseconds a word.
        """
        encodings = self._tokenizer.encode_batch_fast(list(words), add_special_tokens=False)
        counts = np.array([len(encoding.ids) for encoding in encodings], dtype=np.intp)
        ids = np.fromiter((id_ for encoding in encodings for id_ in encoding.ids), np.intp, int(counts.sum()))
        return sum_runs(self._vectors, np.minimum(ids, len(self._vectors) - 1), counts)

    def _mean(self, ids: Sequence[int]) -> Sequence[float] | None:
        """Answer the direction of the mean of the tokens' vectors."""
        # The tokenizer has a few padding tokens beyond the table; the model reads them as its last row.
        known = np.minimum(np.asarray(ids, dtype=np.intp), len(self._vectors) - 1)
        total = self._vectors[known].sum(axis=0, dtype=np.float64)
        length = np.linalg.norm(total)
        if not np.isfinite(length) or length == 0:
            return None
        direction: list[float] = (total / length).astype(np.float32).tolist()
        return direction


@lru_cache(maxsize=1)
def _read_tokenizer(file: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@lru_cache(maxsize=1)
def _read_vectors(file: Path) -> npt.NDArray[np.float16]:
    with safe_open(file, "np") as weights:
        # As the file holds them: sums are taken in double precision, so half the memory loses nothing.
        vectors: npt.NDArray[np.float16] = np.ascontiguousarray(weights.get_tensor(_TENSOR))
    vectors.flags.writeable = False  # shared by every embedder of the process
    return vectors


def _package_folders() -> Sequence[Path]:
    """Answer where wordllama is installed, without importing it."""
    package = find_spec("wordllama")
    return [Path(folder) for folder in (package and package.submodule_search_locations) or ()]


def _find(folders: Sequence[Path], file: Path) -> Path:
    for folder in folders:
        if (folder / file).is_file():
            return folder / file
    raise FileNotFoundError(f"the embedding model's {file} is neither in the package nor in its folder")
