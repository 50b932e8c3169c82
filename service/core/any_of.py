"""Comparing a column with a list of texts that is one parameter, however long the list is.

An `IN` list has a parameter for each value, and the statement is written out anew for each length: for some
hundred values that takes longer than the query. This way a statement is built once, when its module is
loaded, and each call only binds.
"""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Dialect, String, Text, bindparam
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import SQLCoreOperations
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine


def is_any_of(column: SQLCoreOperations[Any], name: str) -> ColumnElement[bool]:
    """Keep rows whose text equals one of the list that is bound to `name`; an empty list keeps none."""
    return _IsAnyOf(column, bindparam(name, type_=_TextList()))


class _TextList(TypeDecorator[Sequence[str]]):
    """An array on PostgreSQL, JSON on SQLite, which reads it as a table."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Answer the database's own type."""
        return dialect.type_descriptor(ARRAY(String()) if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: Sequence[str] | None, dialect: Dialect) -> Any:  # noqa: ANN401 - the driver's own type
        """Hand the list over in the form that the database reads."""
        values = list(value or ())
        return values if dialect.name == "postgresql" else json.dumps(values)


class _IsAnyOf(FunctionElement[bool]):
    """The comparison, written out below for each database."""

    name = "is_any_of"
    type = Boolean()
    inherit_cache = True


@compiles(_IsAnyOf)
def _as_table(element: _IsAnyOf, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - the compiler's own
    column, values = (compiler.process(clause, **options) for clause in element.clauses)
    # Both parts were written out by the compiler: a column's name and a parameter's.
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608


@compiles(_IsAnyOf, "postgresql")
def _as_array(element: _IsAnyOf, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - the compiler's own
    column, values = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{column} = ANY ({values})"
