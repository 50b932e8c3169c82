"""The port for counting tokens. The real counter stands in `adapters`."""

from dataclasses import dataclass
from typing import Final, Protocol

from service.core.errors import Invalid

ESTIMATE_ENCODING: Final = "o200k_base"
"""The encoding of stored counts. They choose candidates; what is sent is counted again."""


CAREFUL_ESTIMATE: Final = "estimate"
"""Asked for in place of an encoding: more tokens than the tokenizers of most models would count."""


class EncodingUnknown(Invalid):
    """No tokenizer of this encoding is carried or registered."""

    code = "encoding_unknown"
    title = "Tokens of this encoding cannot be counted here"


class ModelUnknown(Invalid):
    """The model's name says nothing about its encoding."""

    code = "model_unknown"
    title = "The encoding of this model is not known here"


class TextUncountable(Invalid):
    """The encoding's reference implementation cannot take this text, so no count of it would be exact."""

    code = "text_uncountable"
    title = "The tokens of this text cannot be counted exactly"


@dataclass(frozen=True, slots=True)
class Estimate:
    """How a count that is not exact is made. `base` is the encoding that it adds to, where it adds to one."""

    method: str
    base: str | None = None


class TokenCounter(Protocol):
    """Counts tokens as the named encoding's reference implementation does, or says that it estimates.

    Whatever the encoding, counts add where a text is cut after a line break and before a character that is
    neither white space nor `/`.
    """

    @property
    def encodings(self) -> frozenset[str]:
        """The names that `count` takes."""
        ...

    def count(self, text: str, encoding: str = ESTIMATE_ENCODING) -> int:
        """Answer the number of tokens of `text`, special-looking text counted as plain text.

        Raises `EncodingUnknown` for an encoding that is not in `encodings` and `TextUncountable` for a text
        that the reference cannot take in bounded time.
        """
        ...

    def estimate_of(self, encoding: str) -> Estimate | None:
        """Answer how counts in `encoding` are estimated, or `None` where they are exact."""
        ...

    def encoding_for_model(self, model: str) -> str:
        """Answer the encoding of a model's name. Raises `ModelUnknown`, `EncodingUnknown`."""
        ...


class NoTokens:
    """The counter of work that counts nothing: a vocabulary takes longer to load than most of it takes."""

    encodings: frozenset[str] = frozenset()

    def count(self, text: str, encoding: str = ESTIMATE_ENCODING) -> int:
        """Raise `Invalid`."""
        del text, encoding
        raise Invalid("Nothing counts tokens here.")

    def estimate_of(self, encoding: str) -> Estimate | None:
        """Raise `Invalid`."""
        del encoding
        raise Invalid("Nothing counts tokens here.")

    def encoding_for_model(self, model: str) -> str:
        """Raise `Invalid`."""
        del model
        raise Invalid("Nothing counts tokens here.")
