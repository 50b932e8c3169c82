"""Alembic's entry: runs the migrations on the connection that `migrate` or `make migration` hands in."""

from alembic import context
from sqlmodel import SQLModel

from service.migrations.tables import load_tables

load_tables()
context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=False,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
