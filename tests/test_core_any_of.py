"""One parameter that holds a list: the same rows on both databases, whatever stands in it."""

import pytest
from sqlalchemy import Column, Integer, MetaData, String, Table, bindparam, insert, select

from service.core.any_of import is_any_of
from service.core.database import Database

_WORDS = Table("any_of_words", MetaData(), Column("id", Integer, primary_key=True), Column("word", String))
_HARD = [
    "plain",
    "",
    "it's",
    'a "quote"',
    "[1, 2]",
    "{curly}",
    "null",
    "NULL",
    "back\\slash",
    "naïve 👩‍🚀",
    "a,b",
]


@pytest.fixture
def words(database: Database) -> Database:
    _WORDS.metadata.create_all(database.engine)
    with database.write(None) as session:
        session.connection().execute(
            insert(_WORDS), [{"id": n, "word": word} for n, word in enumerate(_HARD)]
        )
        session.connection().execute(insert(_WORDS), [{"id": 100, "word": None}])
    return database


def found(database: Database, values: list[str]) -> set[str]:
    query = select(_WORDS.c.word).where(is_any_of(_WORDS.c.word, "words"), _WORDS.c.id >= bindparam("least"))
    with database.read(None) as session:
        return set(session.connection().execute(query, {"words": values, "least": 0}).scalars())


@pytest.mark.parametrize("word", _HARD)
def test_each_text_finds_itself_and_nothing_else(words: Database, word: str) -> None:
    assert found(words, [word]) == {word}


def test_lists_of_any_length_are_one_parameter(words: Database) -> None:
    assert found(words, []) == set()
    assert found(words, ["absent"]) == set()
    assert found(words, _HARD) == set(_HARD)
    assert found(words, [*_HARD, *(f"absent {number}" for number in range(50_000))]) == set(_HARD)
