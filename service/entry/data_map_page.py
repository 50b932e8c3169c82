"""The data map as a page: what `docs/data-map.md` holds."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from service.governance.columns import SealedUnder
from service.governance.data_map import MappedField
from service.governance.registry import NO_TEXT, STORES

_HEAD: Final = """\
# Data map

Every field of every store: what it holds, whether it is about a person, why it is kept, for how long, and
what an erasure does to it. Written by `muniment data-map` from the code; a test fails where one is missing.
`GET /v1/data-map` answers the same (`policies:read` or `tenant:admin`), `GET /v1/records-of-processing` the
record of processing (GDPR, article 30) of the active policy.

- **personal**: `personal` names a person or holds words about one; `pseudonymous` is an id, hash or
  reference; `none` tells nothing by itself.
- **sealed**: `subject` rests as ciphertext under the keys of all persons whom it is about (the tenant's
  where it is about nobody), `tenant` under the tenant's.
- **erased by**: the store of the receipt that counts it when a person is erased. Empty: it stays.
- *by class*: as the memory class of the policy says.
"""


def render_page(fields: Sequence[MappedField]) -> str:
    """Answer the page, in Markdown."""
    return "\n".join([_HEAD, *_stores_that_stay(), *_tables(fields)]).rstrip() + "\n"


def _stores_that_stay() -> Iterator[str]:
    yield "## What an erasure leaves"
    yield ""
    for store in STORES:
        note = getattr(store, "note", "")
        if note:
            yield f"- `{store.name}`: {note}"
    for table, reason in NO_TEXT.items():
        yield f"- table `{table}`: {reason}"
    yield ""


def _tables(fields: Sequence[MappedField]) -> Iterator[str]:
    for (store, table), group in groupby(fields, key=lambda field: (field.store, field.table)):
        rows = list(group)
        first = rows[0]
        yield f"## {store.value}: `{table}`"
        yield ""
        yield f"{first.handling.purpose} · basis: {first.handling.lawful_basis}"
        yield ""
        yield f"Kept {first.retention.until} (`{first.retention.name}`)."
        yield ""
        yield "| field | holds | personal | sealed | erased by |"
        yield "|---|---|---|---|---|"
        for row in rows:
            sealed = row.described.sealed_under
            yield " | ".join(
                (
                    f"| `{row.field}`",
                    row.described.what,
                    row.described.personal.value,
                    "" if sealed is SealedUnder.NONE else sealed.value,
                    ", ".join(row.erased_by) + " |",
                )
            )
        yield ""
