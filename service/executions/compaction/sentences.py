"""Text cut into sentences, and sentences into terms, whatever the language. Pure."""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

import regex

from service.core.text import cut_at_grapheme
from service.executions.compaction.courtesies import COURTESIES

SENTENCE_CHARACTERS_MAX: Final = 300
"""A longer one, and text without any sign of an end, is cut here."""
_LETTERS_MIN: Final = 2
"""What has fewer is a number in a list or the rest of one, and belongs to what follows."""

_ENDS: Final = r"\u3002\uff01\uff1f\uff61\uff0e\u061f\u0964\u0965\u1362\u17d4"
"""Full stops, question and exclamation marks of scripts that set no space after them."""
_CLOSES: Final = r"\u201d\u2019\u300d\u300f\uff09\u0022\u0027)\]"
"""Closing quotation marks and brackets, which belong to the sentence before them."""
_END: Final = regex.compile(
    rf"""(?xV1)
        [\n\r\x0b\x0c\x85\u2028\u2029]+
      | (?<=[{_ENDS}][{_CLOSES}]{{0,2}}) (?![{_ENDS}{_CLOSES}])
      | (?<=[.!?\u2026][{_CLOSES}]{{0,2}}) \s+
    """
)
_WORD: Final = regex.compile(r"\w+")
_UNSPACED: Final = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
)
_LETTER: Final = regex.compile(r"[\p{L}\p{N}]")

_COURTESY_WORDS_MAX: Final = 12


def split_sentences(text: str) -> Sequence[str]:
    """Answer the sentences of a text in their order, each one line of at most `SENTENCE_CHARACTERS_MAX`."""
    found: list[str] = []
    begun = ""
    for piece in _END.split(text):
        sentence = " ".join(f"{begun} {piece}".split())
        if len(_LETTER.findall(sentence, endpos=_LETTERS_MIN * 20)) < _LETTERS_MIN:
            begun = sentence
            continue
        begun = ""
        found.extend(_cut(sentence))
    return [*found, begun] if begun else found


def terms_of(sentence: str) -> frozenset[str]:
    """Answer what a sentence speaks of: words, and pairs of characters where words stand without spaces."""
    return frozenset(_terms(sentence))


def folded(text: str) -> str:
    """Answer text in which words are equal that differ in case or width alone."""
    return text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def is_courtesy(sentence: str) -> bool:
    """Say whether a sentence is greeting or thanks and nothing else."""
    words = _WORD.findall(folded(sentence))
    return len(words) <= _COURTESY_WORDS_MAX and all(word in COURTESIES for word in words)


def _terms(sentence: str) -> Iterator[str]:
    for word in _WORD.findall(folded(sentence)):
        if len(word) > 1 and _UNSPACED.search(word):
            yield from (word[place : place + 2] for place in range(len(word) - 1))
        else:
            yield word


def _cut(sentence: str) -> Iterator[str]:
    while len(sentence) > SENTENCE_CHARACTERS_MAX:
        end = cut_at_grapheme(sentence, SENTENCE_CHARACTERS_MAX) or SENTENCE_CHARACTERS_MAX
        space = sentence.rfind(" ", end // 2, end)
        end = space if space > 0 else end
        yield sentence[:end]
        sentence = sentence[end:].lstrip()
    if sentence:
        yield sentence
