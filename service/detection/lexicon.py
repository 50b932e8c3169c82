"""Words and phrases looked up word by word: the time does not grow with the length of the lists."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

Subject = TypeVar("Subject")

_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_KEY_CHARACTERS: Final = 3


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a folded text and where it stands."""

    text: str
    start: int
    end: int


def words_of(folded: str) -> Sequence[Word]:
    """Answer the words of a text in lower case."""
    return [Word(found.group(), *found.span()) for found in _WORD.finditer(folded)]


class Lexicon(Generic[Subject]):
    """What words speak of: whole ones (`asthma`), beginnings (`diabet*`), ends (`*krebs`), phrases.

    In a phrase (`chronic illness*`) the first word is whole; the others may be beginnings. Beginnings and
    ends have three characters or more, by which they are found.
    """

    def __init__(self, entries: Mapping[Subject, Sequence[str]]) -> None:
        self._words: dict[str, list[Subject]] = {}
        self._heads: dict[str, list[tuple[str, Subject]]] = {}
        self._tails: dict[str, list[tuple[str, Subject]]] = {}
        self._phrases: dict[str, list[tuple[tuple[str, ...], Subject]]] = {}
        for subject, lines in entries.items():
            for entry in (one for line in lines for one in line.split(",")):
                self._add(entry, subject)

    def _add(self, entry: str, subject: Subject) -> None:
        first, *rest = entry.split()
        if rest:
            self._phrases.setdefault(first, []).append((tuple(rest), subject))
        elif first.endswith("*"):
            self._heads.setdefault(first[:_KEY_CHARACTERS], []).append((first[:-1], subject))
        elif first.startswith("*"):
            self._tails.setdefault(first[-_KEY_CHARACTERS:], []).append((first[1:], subject))
        else:
            self._words.setdefault(first, []).append(subject)

    def find(self, words: Sequence[Word]) -> Iterator[tuple[Subject, int, int]]:
        """Yield what is spoken of and where, in order of place."""
        for position, word in enumerate(words):
            for subject in self._subjects_of(word.text):
                yield subject, word.start, word.end
            for rest, subject in self._phrases.get(word.text, ()):
                following = words[position + 1 : position + 1 + len(rest)]
                if len(following) == len(rest) and all(map(_fits, following, rest)):
                    yield subject, word.start, following[-1].end

    def _subjects_of(self, word: str) -> Iterator[Subject]:
        yield from self._words.get(word, ())
        for head, subject in self._heads.get(word[:_KEY_CHARACTERS], ()):
            if word.startswith(head):
                yield subject
        for tail, subject in self._tails.get(word[-_KEY_CHARACTERS:], ()):
            if word.endswith(tail):
                yield subject


def _fits(word: Word, wanted: str) -> bool:
    return word.text.startswith(wanted[:-1]) if wanted.endswith("*") else word.text == wanted
