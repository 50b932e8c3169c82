"""Imports every table once, so that the schema can be compared with the models.

Every `tables.py` of a capability is found by itself, at whatever depth.
"""

from importlib import import_module
from pathlib import Path
from typing import Final

from sqlmodel import SQLModel

_ROOT: Final = Path(__file__).parents[1]
_IN_CORE: Final = ("outbox.py", "idempotency.py", "lineage.py", "quarantined.py")
"""Modules of `core` that hold their rows themselves."""


def load_tables() -> None:
    """Import each module that defines tables: every `tables.py`, and those of `core`."""
    found = [*_ROOT.rglob("tables.py"), *(_ROOT / "core" / name for name in _IN_CORE)]
    for path in sorted(found):
        if path.exists() and path.parent.name != "migrations":
            import_module(".".join(["service", *path.relative_to(_ROOT).with_suffix("").parts]))


def tenant_tables() -> list[str]:
    """Answer the names of all tables that hold tenants' rows, in order."""
    load_tables()
    return sorted(name for name, table in SQLModel.metadata.tables.items() if "tenant_id" in table.columns)
