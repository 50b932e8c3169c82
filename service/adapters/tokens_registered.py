"""Tokenizers that an operator registers: files of the `tokenizers` library, as most open models have one."""

import re
from pathlib import Path
from typing import Final

from tokenizers import Tokenizer

from service.core.tokens import Estimate

_CROSSES_A_LINE: Final = re.compile(r"\n[^\s/]")
_ALONE_CHARACTERS_MAX: Final = 2_000
"""Longer texts are counted where the library lets other threads run meanwhile; that costs 50 µs a call."""

_PROBES: Final = (
    "a\nb", "The cat\nsat on it", "foo\n\nfoobar", "1\n23", "[E1] x\n# evidence\n", "a \n\n  \nzürich",
    "カード\n登録", "tail \r\n<data 123456789>\nx", '{\n"k": [1.5]}\n{', "- item\n- thing\n", "x\n😀y",
)  # fmt: skip

_MARKERS: Final = range(100_000_000, 1_000_000_000, 2_999_999)
"""Some of the numbers that a package's fence may carry."""


class TokenizerUnusable(ValueError):
    """The file is no tokenizer that counts can rest on; the text says why."""


class RegisteredTokenizer:
    """Counts as one tokenizer does. Safe to share between threads."""

    def __init__(self, name: str, file: Path) -> None:
        """Load `file`. Raises `TokenizerUnusable`."""
        try:
            tokenizer = Tokenizer.from_file(str(file))
        except Exception as fault:  # noqa: BLE001 - the library raises plain `Exception` for whatever is wrong
            raise TokenizerUnusable(
                f"the tokenizer `{name}` cannot be loaded ({type(fault).__name__})"
            ) from None
        tokenizer.no_truncation()
        tokenizer.no_padding()
        # What looks like a special token is text, as everywhere.
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self._line_tokens = self._plain("\n")
        if self._crosses_lines():
            raise TokenizerUnusable(
                f"the tokenizer `{name}` has tokens that reach over a line break: its counts cannot be added"
            )
        if len({self._plain(f"</data {number}>\n") for number in _MARKERS}) > 1:
            raise TokenizerUnusable(
                f"the tokenizer `{name}` counts nine digits differently from nine others:"
                " which marker a package gets would change its size"
            )
        self.estimate = None if self._adds() else Estimate(f"{name}, each piece as after a line break")

    def count(self, text: str) -> int:
        """Answer the number of tokens of `text`.

        Where the tokenizer sets something before a text's first word, each piece is counted both with it and
        as after a line break, and the higher count is the answer: sums are then never too low.
        """
        if not text:
            return 0
        if self.estimate is None:
            return self._plain(text)
        return max(self._plain(text), self._plain("\n" + text) - self._line_tokens)

    def _plain(self, text: str) -> int:
        if len(text) <= _ALONE_CHARACTERS_MAX:
            return len(self._tokenizer.encode(text, add_special_tokens=False).ids)
        return len(self._tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids)

    def _crosses_lines(self) -> bool:
        ids = sorted(self._tokenizer.get_vocab(with_added_tokens=True).values())
        texts = self._tokenizer.decode_batch([[number] for number in ids], skip_special_tokens=False)
        return any(_CROSSES_A_LINE.search(text) for text in texts)

    def _adds(self) -> bool:
        """Say whether counts add after each line break that is followed by something visible."""
        for probe in _PROBES:
            pieces = re.split(r"(?<=\n)(?=[^\s/])", probe)
            if self._plain(probe) != sum(self._plain(piece) for piece in pieces):
                return False
        return True
