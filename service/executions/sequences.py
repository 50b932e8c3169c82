"""Numbers that count the rows of one run."""

from sqlmodel import Session, func, select


def highest(session: Session, sequence: int, *conditions: bool) -> int:
    """Answer the highest value of a column among the rows that hold all `conditions`, 0 without any row.

    Columns and comparisons are typed as SQLModel types them: as the values of their rows. A run's row is
    locked by whoever writes, so the next number is this one plus one.
    """
    return session.exec(select(func.max(sequence)).where(*conditions)).one() or 0
