"""A program that reads a PDF from standard input and writes its text to standard output, within bounds.

It runs as a process of its own (`python -m`), so that what a hostile file uses up is only this process.
"""

import io
import logging
import sys
from typing import Final

PAGES_MAX: Final = 2_000
CHARACTERS_MAX: Final = 8 * 1024 * 1024
MEMORY_BYTES_MAX: Final = 1024 * 1024 * 1024
EXIT_BROKEN: Final = 3
EXIT_ENCRYPTED: Final = 4
EXIT_TOO_LARGE: Final = 5


def main() -> int:
    """Read, write, and answer the exit code. Says nothing about the file on standard error."""
    # The library logs what it finds in a file, and what people wrote belongs in no log.
    logging.disable(logging.CRITICAL)
    _limit_memory()
    try:
        return _copy_text(sys.stdin.buffer.read())
    except Exception:  # noqa: BLE001 - whatever a broken file provokes in the library means: broken
        return EXIT_BROKEN


def _copy_text(content: bytes) -> int:
    from pypdf import PdfReader  # noqa: PLC0415 - only this process needs it

    reader = PdfReader(io.BytesIO(content))
    if reader.is_encrypted:
        return EXIT_ENCRYPTED
    if len(reader.pages) > PAGES_MAX:
        return EXIT_TOO_LARGE
    parts: list[str] = []
    characters = 0
    for page in reader.pages:
        # Fonts may map glyphs to NUL or to half a surrogate pair: neither is text.
        text = page.extract_text().replace("\x00", "").encode("utf-8", "ignore").decode()
        parts.append(text.strip())
        characters += len(text)
        if characters > CHARACTERS_MAX:
            return EXIT_TOO_LARGE
    sys.stdout.buffer.write("\n\n".join(parts).strip().encode())
    return 0


def _limit_memory() -> None:
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - not on every system

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))


if __name__ == "__main__":
    sys.exit(main())
