"""The built-in embedding model works offline, and every vector can be written to the index."""

import json
import math
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.adapters.wordllama import WordllamaEmbedder

EMBEDDER = WordllamaEmbedder(Path("no-such-folder"))

TEXTS = [
    "Plot 18 has outline consent.",
    "The weather is fine.",
    "東京都の計画",
    "l'été dernier",
    "x" * 9_000,
    "\u0301",
    "<unk> </s>",
]

LOAD_AND_EMBED = """
import json, logging, socket, sys
from pathlib import Path

def refuse(*args, **kwargs):
    raise AssertionError("the network was asked")

socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
from service.adapters.wordllama import WordllamaEmbedder

vectors = WordllamaEmbedder(Path(sys.argv[1])).embed(json.loads(sys.argv[2]))
assert not logging.getLogger().handlers, "importing set up logging"
print(json.dumps(vectors))
"""

REFERENCE = """
import json, sys
from pathlib import Path
import wordllama

model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
print(json.dumps([model.embed(text, norm=True)[0].tolist() for text in json.loads(sys.argv[1])]))
"""


def cosine(left: str, right: str) -> float:
    one, other = EMBEDDER.embed([left, right])
    assert one is not None
    assert other is not None
    return sum(a * b for a, b in zip(one, other, strict=True))


def run(program: str, *arguments: str) -> list[list[float]]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, *arguments],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path), "HF_HUB_OFFLINE": "1"},
    )
    vectors: list[list[float]] = json.loads(done.stdout)
    return vectors


def test_the_model_loads_without_network_warning_or_logging(tmp_path: Path) -> None:
    vectors = run(LOAD_AND_EMBED, str(tmp_path), json.dumps(TEXTS))

    assert len(vectors) == len(TEXTS)
    assert list(tmp_path.iterdir()) == []


def test_vectors_are_those_of_the_library() -> None:
    texts = [text[:5_000] for text in TEXTS]
    for ours, theirs in zip(EMBEDDER.embed(texts), run(REFERENCE, json.dumps(texts)), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-5)


@settings(deadline=None)
@given(st.lists(st.text(), max_size=5))
def test_every_text_with_a_visible_character_has_a_finite_unit_vector(texts: list[str]) -> None:
    vectors = EMBEDDER.embed(texts)

    assert len(vectors) == len(texts)
    for text, vector in zip(texts, vectors, strict=True):
        if not text.strip():
            assert vector is None
        elif vector is not None:
            assert len(vector) == EMBEDDER.dimension
            assert math.hypot(*vector) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("text", ["", " ", "\n\t \u3000"])
def test_a_text_without_words_has_no_direction(text: str) -> None:
    assert EMBEDDER.embed([text]) == [None]


def test_a_text_has_one_vector_whatever_stands_beside_it() -> None:
    alone = [EMBEDDER.embed([text])[0] for text in TEXTS]

    assert EMBEDDER.embed(TEXTS * 30) == alone * 30
    assert EMBEDDER.embed([]) == []


def test_near_texts_are_nearer_than_far_ones() -> None:
    near = cosine("The plot has planning permission", "Consent was granted to build on the site")

    assert near > cosine("The plot has planning permission", "She plays the violin on Sundays")


def test_what_stands_after_the_limit_does_not_count_and_costs_nothing() -> None:
    started = time.thread_time()
    word, longer = EMBEDDER.embed(["consent " * 1_024, "consent " * 1_024 + "violin " * 200_000])

    assert word == longer
    assert time.thread_time() - started < 1


def test_the_name_says_model_and_dimension() -> None:
    assert EMBEDDER.name == "wordllama-l2_supercat-256"
    assert EMBEDDER.dimension == 256


def test_a_package_without_its_data_is_helped_out_by_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = find_spec("wordllama")
    assert package is not None
    assert package.origin is not None
    # No package is found any more that is not imported already, and ours never imports this one.
    monkeypatch.setattr(sys, "path", [str(tmp_path)])

    with pytest.raises(FileNotFoundError, match="tokenizers"):
        WordllamaEmbedder(tmp_path)

    for folder in ("weights", "tokenizers"):
        (tmp_path / folder).symlink_to(Path(package.origin).parent / folder)
    assert WordllamaEmbedder(tmp_path).embed(["plot"]) == EMBEDDER.embed(["plot"])
