"""Tokenizers as an operator registers them: `MUNIMENT_TOKENIZERS` is a JSON object of these, by name."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

ModelPattern = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}\*?$")]
"""The name of a model, or the beginning of names followed by `*`."""


class TokenizerSettings(BaseModel):
    """One tokenizer: its file, and the models that it counts for."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    file: Path
    """A `tokenizer.json` as the `tokenizers` library writes it."""
    models: Annotated[tuple[ModelPattern, ...], Field(max_length=100)] = ()
    """Models whose name alone selects it. It can always be named as `encoding`."""
