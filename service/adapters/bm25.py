"""BM25 term vectors for many languages, by the encoder inside Qdrant's embedded engine."""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

import regex
from qdrant_edge import Bm25, Bm25Config, SnowballLanguage, SnowballParams, StopwordsSet, TokenizerType

from service.adapters.stop_words import ENGLISH_STOP_WORDS
from service.retrieval.model import SparseVector

_TERM_SATURATION: Final = 1.2
_LENGTH_WEIGHT: Final = 0.75
_LENGTH_AVERAGE_TERMS: Final = 256
# The three are the engine's own defaults; a change means another `name`, and so a reindex.
_QUERY_SATURATION: Final = 8.0
"""What a long query says again and again is what it is about; a tenth time tells little more (BM25's k3)."""

_NUMBER: Final = regex.compile(r"(?<![A-Za-z\d])\d+(?![A-Za-z\d])")
_HAN_OR_KANA: Final = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\u30fc]+")
_HAN: Final = regex.compile(r"\p{Han}+")
_KANA: Final = "\u306e"


class Bm25Encoder:
    """Implements `retrieval.ports.SparseEncoder`: words of every script, English stems, numbers kept.

    Vectors are deterministic, their indices sorted and unique. Thread safe. About 3,000 passages of 900
    characters a second on one core; the time grows with the length of the text alone.
    """

    name = (
        f"bm25-multilingual-english{len(ENGLISH_STOP_WORDS)}-numbers"
        f"-k{_TERM_SATURATION}-b{_LENGTH_WEIGHT}-l{_LENGTH_AVERAGE_TERMS}"
    )

    def __init__(self) -> None:
        self._model = _model(_TERM_SATURATION, _LENGTH_WEIGHT)
        self._query_model = _model(_QUERY_SATURATION, 0.0)
        (self._kana_index,) = self._model.embed_query(_KANA).indices

    def encode_documents(self, texts: Sequence[str]) -> Sequence[SparseVector]:
        """Answer the document-side weights of each text; of a text without words, an empty vector."""
        return [self._encode_document(text) for text in texts]

    def encode_query(self, text: str) -> SparseVector:
        """Answer weight 1 for each term, more for one that is said again: up to 9.

        Characters that mean something to query languages mean nothing.
        """
        said = self._query_model.embed_document(_spell_numbers(text))
        weights = dict.fromkeys(self._other_readings(text), 1.0)
        weights.update(zip(said.indices, map(float, said.values), strict=True))
        return SparseVector(tuple(sorted(weights)), tuple(weights[term] for term in sorted(weights)))

    def _encode_document(self, text: str) -> SparseVector:
        vector = self._model.embed_document(_spell_numbers(text))
        weights = sorted(zip(vector.indices, vector.values, strict=True))
        return SparseVector(
            tuple(index for index, _ in weights), tuple(float(weight) for _, weight in weights)
        )

    def _other_readings(self, text: str) -> Iterable[int]:
        """Answer the terms of the Han characters in `text` when read as Japanese and as Chinese.

        The tokenizer reads them as Japanese where kana stand beside them and else as Chinese, with other
        words and other spellings. A query of a few nouns has no kana: read as Chinese alone, it would find
        none of the Japanese documents that hold these nouns.
        """
        if not _HAN.search(text):
            return ()
        as_japanese = self._model.embed_query(f"{_KANA} {' '.join(_HAN_OR_KANA.findall(text))}").indices
        as_chinese = self._model.embed_query(" ".join(_HAN.findall(text))).indices
        # The kana that asks for the Japanese reading is no word of the query.
        return {*as_japanese, *as_chinese} - {self._kana_index}


def _model(saturation: float, length_weight: float) -> Bm25:
    return Bm25(
        Bm25Config(
            k=saturation,
            b=length_weight,
            avg_len=_LENGTH_AVERAGE_TERMS,
            tokenizer=TokenizerType.Multilingual,
            language="english",
            lowercase=True,
            stopwords=StopwordsSet(custom=set(ENGLISH_STOP_WORDS)),
            stemmer=SnowballParams(SnowballLanguage.English),
        )
    )


def _spell_numbers(text: str) -> str:
    """Answer `text` with each number as a word, in the digits 0 to 9 of every script.

    The multilingual tokenizer drops what has no letter: `POL-358` and `POL-359` would be the same term, and
    `plot 18` every plot. A number that touches a Latin letter (`v2`, `18th`) is part of a word already.
    """
    return _NUMBER.sub(_as_word, text)


def _as_word(number: regex.Match[str]) -> str:
    digits = "".join(str(unicodedata.decimal(digit)) for digit in number.group())
    return f" num{digits} "
