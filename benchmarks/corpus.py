"""What is measured on: documents and tasks read from given paths, or made up when none are given."""

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_MADE_UP_DOCUMENTS: Final = 700
_WORDS: Final = tuple(
    """
    account balance branch card cheque claim client credit customer dispute fee fraud freeze holder identity
    interest limit loan manager mortgage notice overdraft payment period policy process rate reason refund
    replacement request review savings statement transfer verification withdrawal
    """.split()  # noqa: SIM905 - forty quoted words are harder to read
)


@dataclass(frozen=True, slots=True)
class Document:
    """One document to ingest."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Task:
    """One question, and the ids of the documents that it needs (none when unknown)."""

    query: str
    needed: frozenset[str]


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """Read one JSON object from each line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def read_documents(path: Path | None) -> list[Document]:
    """Read `id`, `title`, `content` lines; without a path, make up 700 documents from a fixed seed."""
    if path is None:
        chance = random.Random(18)  # noqa: S311 - repeatable, not secret
        return [_made_up_document(chance, number) for number in range(_MADE_UP_DOCUMENTS)]
    return [Document(row["id"], row["title"], row["content"]) for row in read_json_lines(path)]


def read_tasks(path: Path | None) -> list[Task]:
    """Read `instructions`, `required_documents` lines; without a path, make up 50 questions."""
    if path is None:
        chance = random.Random(42)  # noqa: S311 - repeatable, not secret
        return [Task(" ".join(chance.choices(_WORDS, k=12)), frozenset()) for _ in range(50)]
    return [Task(row["instructions"], frozenset(row["required_documents"])) for row in read_json_lines(path)]


def _made_up_document(chance: random.Random, number: int) -> Document:
    subject = " ".join(chance.choices(_WORDS, k=3))
    paragraphs = [
        " ".join(chance.choices(_WORDS, k=chance.randint(20, 60))).capitalize() + "." for _ in range(6)
    ]
    return Document(f"document-{number}", f"Internal: {subject}", "## Rules\n\n" + "\n\n".join(paragraphs))
