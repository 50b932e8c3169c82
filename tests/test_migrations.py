"""The schema: migrations give exactly what the models say, and PostgreSQL itself keeps tenants apart."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError
from sqlmodel import SQLModel

from service.core.database import Database
from service.core.ids import new_id
from service.migrations.migrate import migrate
from service.migrations.tables import load_tables, tenant_tables


def test_the_migrations_give_what_the_models_say(database: Database) -> None:
    load_tables()
    with database.engine.connect() as connection:
        found = MigrationContext.configure(connection, opts={"compare_type": True})

        assert compare_metadata(found, SQLModel.metadata) == []


def test_migrating_again_changes_nothing(database: Database) -> None:
    migrate(database)

    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all() == ["0008"]


def test_every_key_begins_with_its_tenant() -> None:
    names = tenant_tables()
    tables = [SQLModel.metadata.tables[name] for name in names]

    assert len(names) > 20
    assert [table.name for table in tables if next(iter(table.primary_key.columns)).name != "tenant_id"] == []
    foreign = [
        constraint
        for table in tables
        for constraint in table.foreign_key_constraints
        if constraint.column_keys[0] != "tenant_id"
    ]
    assert foreign == []


def test_every_project_that_a_row_names_is_one_of_its_own_tenant() -> None:
    naming = [table for table in SQLModel.metadata.sorted_tables if "project_id" in table.columns]
    held = {
        table.name
        for table in naming
        for constraint in table.foreign_key_constraints
        if constraint.referred_table.name == "projects"
        and constraint.column_keys == ["tenant_id", "project_id"]
    }

    # A kept answer outlives what it names, and whoever asks for it again must still see the project.
    assert {table.name for table in naming} - held == {"idempotency"}
    assert held >= {"evidence", "executions", "memories", "packages"}


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_row_security_is_forced_on_every_table_of_tenants(database: Database) -> None:
    with database.engine.connect() as connection:
        forced = connection.execute(
            text("SELECT relname FROM pg_class WHERE relrowsecurity AND relforcerowsecurity")
        ).scalars()

        assert sorted(forced) == tenant_tables()


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_transaction_sees_and_writes_its_own_tenant_and_no_other(database: Database) -> None:
    mine, theirs = new_id(), new_id()
    insert = text(
        "INSERT INTO projects (tenant_id, id, name, created_at) VALUES (:tenant, :id, 'alpha', now())"
    )
    for tenant_id in (mine, theirs):
        with database.write(None) as session:
            session.connection().execute(
                text("INSERT INTO tenants (id, name, created_at) VALUES (:id, :id, now())"), {"id": tenant_id}
            )
        with database.write(tenant_id) as session:
            session.connection().execute(insert, {"tenant": tenant_id, "id": new_id()})

    with database.read(mine) as session:
        seen = session.connection().execute(text("SELECT tenant_id FROM projects")).scalars().all()
    with database.read(None) as session:
        nobody = session.connection().execute(text("SELECT tenant_id FROM projects")).scalars().all()

    assert seen == [mine]
    assert nobody == []
    with pytest.raises(ProgrammingError, match="row-level security"), database.write(mine) as session:
        session.connection().execute(insert, {"tenant": theirs, "id": new_id()})
