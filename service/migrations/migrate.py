"""Brings a database to the newest schema. Safe to call at every start and from several processes at once."""

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from sqlalchemy import text

from service.core.database import Database

_LOCK: Final = 0x6D756E69
"""PostgreSQL advisory lock held while migrating ("muni")."""


def alembic_config() -> Config:
    """Answer Alembic's configuration; there is no `alembic.ini`, since nothing in it would be a choice."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    return config


def migrate(database: Database) -> None:
    """Apply what is missing, in one transaction; do nothing when the schema is current."""
    config = alembic_config()
    with database.engine.begin() as connection:
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
