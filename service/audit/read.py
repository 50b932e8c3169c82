"""Reading the trail as an auditor sees it: with the names of those who are known, and nobody else's."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Select

from service.audit.details import DETAILS, Kind, kept_request_id
from service.audit.model import Detail, Link
from service.audit.principals import find_kept_principal, named_principals
from service.audit.store_events import EventStore, Wanted
from service.core.cipher import Cipher
from service.core.ids import is_id
from service.core.paging import Page, PageRequest
from service.identity.unit import Unit


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for in the words of who asks: a principal and a request's id as they know them."""

    wanted: Wanted
    principal: str | None = None
    request_id: str | None = None


def read_trail(
    asked: Asked, request: PageRequest, *, unit: Unit, refs: Select[str] | None = None
) -> Page[Link]:
    """Answer a page of events with the names of persons. `refs` is a query of what they may be about."""
    wanted = asked.wanted
    if asked.principal is not None:
        wanted = replace(wanted, principals=_forms_of(asked.principal, unit.cipher))
    if asked.request_id is not None:
        forms = {asked.request_id, kept_request_id(asked.request_id, unit.cipher)}
        wanted = replace(wanted, request_ids=forms)
    page = EventStore(unit.session, unit.tenant_id).page(wanted, request, refs=refs)
    return Page(name_persons(page.items, unit.cipher), page.next_cursor)


def name_persons(links: Sequence[Link], cipher: Cipher) -> Sequence[Link]:
    """Answer the links with names in place of the pseudonyms of those whose key still lives."""
    persons = {part for link in links for part in _persons(link.event.details)}
    principals = named_principals({link.event.principal for link in links}, cipher)
    names = cipher.names_of(persons) if persons else {}
    return [
        replace(
            link,
            event=replace(
                link.event,
                principal=principals[link.event.principal],
                details=_named(link.event.details, names),
            ),
        )
        for link in links
    ]


def _forms_of(principal: str, cipher: Cipher) -> Collection[str]:
    # Events of before persons had pseudonyms name them as they are.
    kept = find_kept_principal(principal, cipher)
    return {principal} if kept is None else {principal, kept}


def _persons(details: Mapping[str, Detail]) -> Sequence[str]:
    return [
        value
        for name, value in details.items()
        if DETAILS.get(name) is Kind.PERSON and isinstance(value, str) and is_id(value)
    ]


def _named(details: Mapping[str, Detail], names: Mapping[str, str]) -> Mapping[str, Detail]:
    return {
        name: names.get(value, value)
        if DETAILS.get(name) is Kind.PERSON and isinstance(value, str)
        else value
        for name, value in details.items()
    }
