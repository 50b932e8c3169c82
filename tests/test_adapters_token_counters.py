"""Tokens of other models: registered tokenizers count as their files do, and the estimate over-counts."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from service.adapters.token_counters import Registration, TokenCounters
from service.adapters.tokens import TiktokenCounter
from service.adapters.tokens_registered import RegisteredTokenizer, TokenizerUnusable
from service.core.tokens import CAREFUL_ESTIMATE, EncodingUnknown, ModelUnknown

LIKE_CL100K: Final = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CORPUS: Final = [
    "The cat sat on the mat.\nAnd then it left, 123 times.\n# evidence\n[E1] a\n<data 123456789>\n",
    *(f"<data {number}> {number:03d}\n" for number in range(1000)),
]
TEXTS = st.text(st.sampled_from(" \n\r\ta1/#é漢😀[<") | st.characters(exclude_categories=["Cs"]), max_size=60)


def _trained(split: str | None) -> Tokenizer:
    """Train a small byte-level tokenizer; without a rule for splitting, tokens may reach over anything."""
    tokenizer = Tokenizer(models.BPE())
    bytes_only = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = (
        bytes_only
        if split is None
        else pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(split), "isolated"), bytes_only])
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=2_000,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|end|>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tokenizers")


@pytest.fixture(scope="module")
def tiny(folder: Path) -> Path:
    path = folder / "tiny.json"
    _trained(LIKE_CL100K).save(str(path))
    return path


@pytest.fixture(scope="module")
def llama() -> Path:
    """The tokenizer of Llama 2, which sets a blank before the first word of a text."""
    package = find_spec("wordllama")
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent / "tokenizers" / "l2_supercat_tokenizer_config.json"


@pytest.fixture(scope="module")
def counters(folder: Path, tiny: Path, llama: Path) -> TokenCounters:
    registered = {
        "tiny": Registration(tiny, ["tiny-*", "tiny-exact"]),
        "llama_2": Registration(llama, ["tiny-llama*"]),
    }
    return TokenCounters(TiktokenCounter(folder / "tiktoken"), registered)


def _plain(path: Path, text: str) -> int:
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.encode_special_tokens = True
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


def test_a_registered_tokenizer_counts_as_its_file_does(counters: TokenCounters, tiny: Path) -> None:
    for text in ("", "The cat", "<|end|> is text", "12345", " \n\n x", "漢字 😀", "a" * 5_000):
        assert counters.count(text, "tiny") == _plain(tiny, text)
    assert counters.estimate_of("tiny") is None


@settings(deadline=None, max_examples=60)
@given(pieces=st.lists(TEXTS, max_size=6))
def test_sums_of_pieces_are_exact_or_too_high(pieces: list[str], counters: TokenCounters) -> None:
    blocks = ["# head\n", *(f"[{piece}\n" for piece in pieces)]

    whole = "".join(blocks)

    assert sum(counters.count(block, "tiny") for block in blocks) == counters.count(whole, "tiny")
    for name in ("llama_2", CAREFUL_ESTIMATE):
        assert sum(counters.count(block, name) for block in blocks) >= counters.count(whole, name)


@settings(deadline=None, max_examples=60)
@given(text=TEXTS)
def test_what_is_set_before_the_first_word_never_makes_a_count_too_low(text: str, llama: Path) -> None:
    counted = RegisteredTokenizer("llama_2", llama)

    blocks = [f"[{text}\n", "</data 123456789>\n", "[E2] foobar\n"]

    assert counted.estimate is not None
    assert sum(counted.count(block) for block in blocks) >= _plain(llama, "".join(blocks))


def test_a_tokenizer_whose_counts_cannot_be_added_is_refused(folder: Path) -> None:
    # One token for "line break and sign" makes every sum of lines wrong.
    reaching = folder / "reaching.json"
    _trained(None).save(str(reaching))
    # Digits in groups of any length make the size of a package hang on the number of its fence.
    varying = folder / "varying.json"
    _trained(re.sub(r"\\p{N}{1,3}", r"\\p{N}+", LIKE_CL100K)).save(str(varying))
    broken = folder / "broken.json"
    broken.write_text("{}")

    with pytest.raises(TokenizerUnusable, match="reach over a line break"):
        RegisteredTokenizer("reaching", reaching)
    with pytest.raises(TokenizerUnusable, match="nine digits differently"):
        RegisteredTokenizer("varying", varying)
    with pytest.raises(TokenizerUnusable, match="cannot be loaded"):
        RegisteredTokenizer("broken", broken)
    with pytest.raises(TokenizerUnusable, match="cannot be loaded"):
        RegisteredTokenizer("absent", folder / "absent.json")


def test_a_built_in_name_cannot_be_taken(folder: Path, tiny: Path) -> None:
    for name in ("o200k_base", CAREFUL_ESTIMATE):
        with pytest.raises(TokenizerUnusable, match="built in"):
            TokenCounters(TiktokenCounter(folder), {name: Registration(tiny)})


def test_a_models_name_selects_what_is_registered_for_it(counters: TokenCounters) -> None:
    assert counters.encoding_for_model("tiny-1b") == "tiny"
    assert counters.encoding_for_model("tiny-llama-7b") == "llama_2"
    assert counters.encoding_for_model("gpt-4o") == "o200k_base"
    with pytest.raises(ModelUnknown):
        counters.encoding_for_model("tin")
    with pytest.raises(EncodingUnknown):
        counters.count("", "gpt2")
    assert {"tiny", "llama_2", CAREFUL_ESTIMATE, "o200k_base"} <= counters.encodings


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog, and nobody was surprised by it.",
        "def count(self, text: str) -> int:\n    return len(self._tokenizer.encode(text).ids)\n",
        '{"order": "A-1938", "lines": [{"sku": "X1", "quantity": 2}, {"sku": "Y2", "quantity": 10}]}',
        "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心。",
        "سيدخل القانون حيز التنفيذ في بداية العام المقبل",
        "मनुष्यों को गौरव और अधिकारों के मामले में स्वतन्त्रता और समानता प्राप्त है",
        "Все люди рождаются свободными и равными в своем достоинстве и правах.",  # noqa: RUF001 - Russian
        "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz, 2026-11-30T10:00:00Z",
    ],
)
def test_the_estimate_is_above_what_other_tokenizers_count(
    text: str, counters: TokenCounters, llama: Path
) -> None:
    others = [counters.count(text, name) for name in ("o200k_base", "cl100k_base", "llama_2")]

    assert counters.count(text, CAREFUL_ESTIMATE) >= max(*others, _plain(llama, text))
    estimate = counters.estimate_of(CAREFUL_ESTIMATE)
    assert estimate is not None
    assert estimate.base == "o200k_base"
