"""`muniment keys`: issue, list and end credentials. A token is printed once, when it is made."""

from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Final

import typer

from service.audit.record import record
from service.core.clock import format_time
from service.core.errors import NotFound
from service.entry.cli.opening import every, open_registry
from service.entry.cli.output import AsJson, Fields, TenantName, answer, answer_list, note
from service.identity.keys import create_key, get_tenant_id_of_key, list_keys, revoke_key
from service.identity.model import ApiKey, KeyWarning, NewKey, Role
from service.identity.projects import list_projects
from service.identity.rules import parse_lifetime

app = typer.Typer(help="Issue, list and end credentials.", no_args_is_help=True, add_completion=False)

_SENTENCES: Final = MappingProxyType(
    {
        KeyWarning.USER_NOT_A_MEMBER: "The user that it acts for is a member of no project of this key.",
        KeyWarning.NO_PROJECT: "Its holder is a member of no project of this key.",
    }
)

_COLUMNS: Final = ("id", "state", "role", "subject", "on_behalf_of", "project", "sources")


@app.command("create")
def create(
    *,
    tenant: TenantName,
    role: Annotated[Role, typer.Option("--role", help="What the key is for.")],
    subject: Annotated[str, typer.Option("--subject", help="Who holds it: a user's or agent's name.")],
    on_behalf_of: Annotated[
        str | None, typer.Option("--on-behalf-of", help="The user that an agent acts for.")
    ] = None,
    project: Annotated[str | None, typer.Option("--project", help="The only project it may enter.")] = None,
    source: Annotated[
        list[str] | None, typer.Option("--source", help="A kind of source it may submit; may be repeated.")
    ] = None,
    expires_in: Annotated[
        str | None, typer.Option("--expires-in", help="Its lifetime, such as 12h or 30d; none without.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Issue a key and print its token, which is kept nowhere and cannot be printed again."""
    new = NewKey(
        role=role,
        subject=subject,
        on_behalf_of=on_behalf_of,
        project=project,
        sources=tuple(source or ()),
        lifetime=None if expires_in is None else parse_lifetime(expires_in),
    )
    with open_registry() as registry, registry.write(registry.tenant(tenant).id) as unit:
        issued = create_key(new, unit=unit, trail=record)
    for warning in issued.warnings:
        note(f"Warning: {_SENTENCES[warning]}")
    shown = _fields(issued.key, project=project, now=issued.key.created_at)
    answer(
        {
            "id": shown["id"],
            "token": issued.token,
            **shown,
            "tenant": tenant,
            "member_added": issued.member_added,
            "warnings": [str(warning) for warning in issued.warnings],
        },
        as_json=as_json,
    )


@app.command("list")
def list_all(*, tenant: TenantName, as_json: AsJson = False) -> None:
    """List the tenant's keys, live and ended. Secrets are not known and not shown."""
    with open_registry() as registry, registry.read(registry.tenant(tenant).id) as unit:
        keys = every(lambda request: list_keys(request, unit=unit))
        names = {each.id: each.name for each in every(lambda request: list_projects(request, unit=unit))}
    items = [
        _fields(key, project=None if key.project_id is None else names[key.project_id], now=unit.now)
        for key in keys
    ]
    answer_list(items, as_json=as_json, columns=_COLUMNS)


@app.command("revoke")
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id: its token's middle part.")],
    *,
    tenant: Annotated[str | None, typer.Option("--tenant", help="Whose key it must be.")] = None,
    as_json: AsJson = False,
) -> None:
    """End a key, from the next request on. Repeating is fine."""
    with open_registry() as registry:
        with registry.record.database.read(None, credential_id=key_id) as session:
            tenant_id = get_tenant_id_of_key(key_id, session=session)
        if tenant is not None and registry.tenant(tenant).id != tenant_id:
            raise NotFound("There is no key of that id.")
        with registry.write(tenant_id) as unit:
            key = revoke_key(key_id, unit=unit, trail=record)
    answer({"id": key.id, "revoked_at": _time(key)}, as_json=as_json)


def _fields(key: ApiKey, *, project: str | None, now: datetime) -> Fields:
    return {
        "id": key.id,
        "role": str(key.role),
        "subject": key.subject,
        "on_behalf_of": key.on_behalf_of,
        "project": project,
        "sources": list(key.sources),
        "created_at": format_time(key.created_at),
        "expires_at": None if key.expires_at is None else format_time(key.expires_at),
        "revoked_at": _time(key),
        "state": _state(key, now),
    }


def _state(key: ApiKey, now: datetime) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "live" if key.is_live(now) else "expired"


def _time(key: ApiKey) -> str | None:
    return None if key.revoked_at is None else format_time(key.revoked_at)
