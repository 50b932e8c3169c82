"""The port for counting tokens. The real counter stands in `adapters`."""

from typing import Final, Protocol

ESTIMATE_ENCODING: Final = "o200k_base"
"""The encoding of stored counts. They choose candidates; what is sent is counted again."""


class TokenCounter(Protocol):
    """Counts tokens exactly as the named encoding's reference implementation does."""

    @property
    def encodings(self) -> frozenset[str]:
        """The names that `count` takes."""
        ...

    def count(self, text: str, encoding: str = ESTIMATE_ENCODING) -> int:
        """Answer the number of tokens of `text`, special-looking text counted as plain text.

        Raises `core.errors.Invalid` (`encoding_unknown`) for an encoding that is not in `encodings`.
        """
        ...

    def encoding_for_model(self, model: str) -> str:
        """Answer the encoding of a model's name. Raises `Invalid` (`model_unknown`)."""
        ...
