"""All ways of counting behind one port: tiktoken's encodings, registered tokenizers, and the estimate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from service.adapters.tokens import TiktokenCounter
from service.adapters.tokens_estimated import ESTIMATE, estimate_tokens
from service.adapters.tokens_registered import RegisteredTokenizer, TokenizerUnusable
from service.core.tokens import CAREFUL_ESTIMATE, ESTIMATE_ENCODING, Estimate


@dataclass(frozen=True, slots=True)
class Registration:
    """A tokenizer file and the models that it counts for: names, or beginnings of names and `*`."""

    file: Path
    models: Sequence[str] = ()


class TokenCounters:
    """Implements `core.tokens.TokenCounter`. Registered files are loaded at once: none fails later."""

    def __init__(self, tiktoken: TiktokenCounter, registered: Mapping[str, Registration]) -> None:
        """Load what is registered. Raises `TokenizerUnusable` for a file or name that cannot be used."""
        taken = sorted(({CAREFUL_ESTIMATE} | tiktoken.encodings) & registered.keys())
        if taken:
            raise TokenizerUnusable(f"`{taken[0]}` is the name of what is built in: choose another")
        self._tiktoken = tiktoken
        self._registered = {name: RegisteredTokenizer(name, one.file) for name, one in registered.items()}
        self._models = [(pattern, name) for name, one in registered.items() for pattern in one.models]

    @property
    def encodings(self) -> frozenset[str]:
        """The names that `count` takes."""
        return self._tiktoken.encodings | self._registered.keys() | {CAREFUL_ESTIMATE}

    def count(self, text: str, encoding: str = ESTIMATE_ENCODING) -> int:
        """Answer the number of tokens of `text`. Raises `EncodingUnknown` and `TextUncountable`."""
        if (registered := self._registered.get(encoding)) is not None:
            return registered.count(text)
        if encoding == CAREFUL_ESTIMATE:
            return estimate_tokens(text, self._tiktoken.count)
        return self._tiktoken.count(text, encoding)

    def estimate_of(self, encoding: str) -> Estimate | None:
        """Answer how counts in `encoding` are estimated, or `None` where they are exact."""
        if encoding == CAREFUL_ESTIMATE:
            return ESTIMATE
        registered = self._registered.get(encoding)
        return None if registered is None else registered.estimate

    def encoding_for_model(self, model: str) -> str:
        """Answer the encoding of a model's name: what is registered for it, else tiktoken's list.

        The longest pattern that fits counts. Raises `ModelUnknown`, `EncodingUnknown`.
        """
        fitting = [(len(pattern), name) for pattern, name in self._models if _fits(model, pattern)]
        return max(fitting)[1] if fitting else self._tiktoken.encoding_for_model(model)


def _fits(model: str, pattern: str) -> bool:
    return model.startswith(pattern[:-1]) if pattern.endswith("*") else model == pattern
