"""What a file of questions may say: what is asked, and which sources a package must hold for it."""

import re
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field

from service.policies.parts import Part
from service.wire.packages import QUERY_CHARACTERS_MAX, Tokens
from service.wire.scalars import Id, Money, Name, Text

QUESTIONS_MAX: Final = 10_000
SOURCES_MAX: Final = 100
EVIDENCE_PREFIX: Final = "evidence:"
_EVIDENCE_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")

_Word = Annotated[Text, Field(min_length=1, max_length=100)]


def _names_a_source(source: str) -> str:
    """Answer an evidence id without its prefix, or a uri as it is."""
    name = source.removeprefix(EVIDENCE_PREFIX)
    if _EVIDENCE_ID.fullmatch(name):
        return name
    if source.startswith(EVIDENCE_PREFIX) or not _URI.fullmatch(source):
        raise ValueError("a uri (`doc://cases/18`) or the id of a piece of evidence (`evidence:0193…`)")
    return source


def _as_fields(value: Any) -> Any:  # noqa: ANN401 - whatever the file held
    return {"source": value} if isinstance(value, str) else value


class ExpectedSource(Part):
    """A source that the package must hold, perhaps with words that must be shown of it."""

    source: Annotated[Text, Field(min_length=1, max_length=2_000), AfterValidator(_names_a_source)]
    """Its uri, or the id of the evidence."""
    contains: Annotated[Text, Field(min_length=1, max_length=2_000)] | None = None
    """Words that the shown text must hold; without them any passage of the source counts."""

    @property
    def is_id(self) -> bool:
        """Whether the source is named by the id of its evidence."""
        return _EVIDENCE_ID.fullmatch(self.source) is not None


class Question(Part):
    """One question."""

    question: Annotated[Text, Field(min_length=1, max_length=QUERY_CHARACTERS_MAX)]
    id: Annotated[Text, Field(min_length=1, max_length=100)] | None = None
    """A name of its own, for the report."""
    project: Name | None = None
    purpose: _Word | None = None
    execution_id: Id | None = None
    """The run whose package this is."""
    expected: Annotated[
        tuple[Annotated[ExpectedSource, BeforeValidator(_as_fields)], ...],
        Field(min_length=1, max_length=SOURCES_MAX),
    ]
    """The sources that answer it, by uri or evidence id."""


class Prices(Part):
    """What a provider asks for a million tokens that are sent, and for those that it had in its cache."""

    per_million: Money
    cached_per_million: Money | None = None
    """Without it, tokens from the cache cost what others do."""
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"


class QuestionFile(Part):
    """A file of questions. What stands above them holds for each that does not say otherwise."""

    project: Name | None = None
    purpose: _Word | None = None
    max_tokens: Tokens | None = None
    reply_reserve: Tokens | None = None
    encoding: _Word | None = None
    model: _Word | None = None
    prices: Prices | None = None
    questions: Annotated[tuple[Question, ...], Field(min_length=1, max_length=QUESTIONS_MAX)]
