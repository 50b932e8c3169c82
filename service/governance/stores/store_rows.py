"""How rows that a target reaches are removed or emptied, and counted, whatever table they are in."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import (
    JSON,
    Column,
    ColumnElement,
    Select,
    String,
    Table,
    and_,
    cast,
    delete,
    func,
    or_,
    select,
    tuple_,
    update,
)
from sqlmodel import SQLModel, col

from service.core.cipher import Cipher
from service.governance.model import Kind, Target
from service.governance.tables import ErasureItemRow
from service.identity.unit import Unit

ALL_KINDS: Final = frozenset(Kind)


@dataclass(frozen=True, slots=True)
class Reach:
    """What one target reaches in one tenant, as conditions."""

    target: Target
    tenant_id: str
    cipher: Cipher

    def items(self, *kinds: str) -> Select[str]:
        """Answer the query of the ids that were gathered, of all kinds or of these."""
        query = select(col(ErasureItemRow.item_id)).where(
            col(ErasureItemRow.tenant_id) == self.tenant_id,
            col(ErasureItemRow.erasure_id) == self.target.erasure_id,
        )
        return query.where(col(ErasureItemRow.kind).in_(kinds)) if kinds else query

    @property
    def subject(self) -> str:
        """The person's name: of use where the target is one."""
        assert self.target.subject is not None, "only a person's erasure looks for a name"
        return self.target.subject


Condition = Callable[[Reach], ColumnElement[bool]]
Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one table that a target reaches, and what becomes of them.

    They go, or, where `emptied` is given, those columns take these values and the row stays. `kinds` are the
    targets that reach into the table at all.
    """

    table: type[SQLModel]
    reached: Condition
    emptied: Callable[[Reach], Values] | None = None
    kinds: frozenset[Kind] = ALL_KINDS

    @property
    def name(self) -> str:
        """The table's name."""
        return _table(self.table).name

    def erase(self, reach: Reach, unit: Unit, limit: int) -> int:
        """Remove or empty up to `limit` rows; answer how many those were."""
        table = _table(self.table)
        key = tuple_(*table.primary_key.columns)
        found = select(*table.primary_key.columns).where(self._holding(reach)).limit(limit)
        if self.emptied is None:
            change: Any = delete(table).where(key.in_(found))
        else:
            change = update(table).where(key.in_(found)).values(dict(self.values(reach, unit)))
        unit.session.flush()
        return int(unit.session.connection().execute(change).rowcount)

    def values(self, reach: Reach, unit: Unit) -> Values:
        """Answer what the columns of a row that stays are to hold."""
        del unit
        assert self.emptied is not None, "rows without it go"
        return self.emptied(reach)

    def count(self, reach: Reach, unit: Unit) -> int:
        """Count the rows that still hold something, by a query of its own."""
        unit.session.flush()
        query = select(func.count()).select_from(_table(self.table)).where(self._holding(reach))
        return int(unit.session.connection().execute(query).scalar_one())

    def _holding(self, reach: Reach) -> ColumnElement[bool]:
        table = _table(self.table)
        reached = and_(table.c.tenant_id == reach.tenant_id, self.reached(reach))
        if self.emptied is None:
            return reached
        still = [_differs(table.c[name], value) for name, value in self.emptied(reach).items()]
        return and_(reached, or_(*still))


@dataclass(frozen=True, slots=True)
class RowStore:
    """One store of the registry: tables that are erased in order, those that others point at last."""

    name: str
    rows: Sequence[Rows]
    note: str = ""
    """What stays, and why."""
    kinds: frozenset[Kind] = field(init=False)

    def __post_init__(self) -> None:
        """Work out which targets reach into the store."""
        object.__setattr__(self, "kinds", frozenset().union(*(rows.kinds for rows in self.rows)))

    @property
    def tables(self) -> frozenset[str]:
        """The tables that it answers for."""
        return frozenset(rows.name for rows in self.rows)

    def erase(self, target: Target, unit: Unit, limit: int) -> int:
        """Erase up to `limit` rows of what the target reaches; answer how many those were, 0 at the end."""
        reach, erased = reach_of(target, unit), 0
        for rows in self._of(target):
            if erased >= limit:
                break
            erased += rows.erase(reach, unit, limit - erased)
        return erased

    def count(self, target: Target, unit: Unit) -> int:
        """Count what is left of it, by queries of their own."""
        reach = reach_of(target, unit)
        return sum(rows.count(reach, unit) for rows in self._of(target))

    def _of(self, target: Target) -> Sequence[Rows]:
        return [rows for rows in self.rows if target.kind in rows.kinds]


def reach_of(target: Target, unit: Unit) -> Reach:
    """Answer what the target reaches in the unit's tenant."""
    return Reach(target, unit.tenant_id, unit.cipher)


def among(column: Any, *kinds: str) -> Condition:  # noqa: ANN401 - a column of any of the row classes
    """Hold for rows whose column names something that was gathered."""
    return lambda reach: col(column).in_(reach.items(*kinds))


def emptied(**values: object) -> Callable[[Reach], Values]:
    """Answer fixed values that take the place of what columns held."""
    return lambda _reach: values


def _table(row: type[SQLModel]) -> Table:
    table = row.__table__  # type: ignore[attr-defined]  # SQLModel adds it to table models
    assert isinstance(table, Table)
    return table


def _differs(column: Column[Any], value: object) -> ColumnElement[bool]:
    if isinstance(column.type, JSON):
        # PostgreSQL cannot compare two values of its type json.
        return cast(column, String) != json.dumps(value)
    return column.is_distinct_from(value)
