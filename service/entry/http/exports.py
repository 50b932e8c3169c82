"""The route of exports: all that is kept of a person, for themselves, to be read by programs or by people."""

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from fastapi import Request
from starlette.responses import Response

from service.audit.model import Action
from service.audit.record import record
from service.core.clock import format_time
from service.core.errors import NotFound, TooLarge
from service.core.hashing import hash_text
from service.entry.http.edge import Derived, Edge, Reply, needs, new_router, operation
from service.entry.http.exports_content import SECTIONS
from service.identity.matrix import MEMORIES_OWN
from service.identity.model import Role
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.exports import ExportAnswer

router = new_router("exports")

FORMAT: Final = "muniment-export/1"
EXPORT_BYTES_MAX: Final = 256 * 1024 * 1024
"""What one process holds of an answer; ten thousand memories take a tenth of it."""
_HTML: Final = "text/html"
_POLICY: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_EXAMPLE: Final[dict[str, Any]] = {
    "format": FORMAT,
    "manifest": {
        "subject": "user-1",
        "generated_at": "2026-11-30T10:00:00Z",
        "policy_version": "sha256:" + "0" * 64,
        "sections": {"consents": {"count": 0, "sha256": "sha256:" + "0" * 64}},
    },
    "contents": {"consents": []},
}


class ExportTooLarge(TooLarge):
    """More is kept of a person than one answer holds."""

    code = "export_too_large"
    title = "More is kept than one export holds"


@router.get(
    "/subjects/{subject}/export",
    **operation(
        summary="Export all that is kept of you",
        answer=ExportAnswer,
        example=_EXAMPLE,
        problems=[NotFound, ExportTooLarge],
    ),
)
def export(subject: str, request: Request, edge: Edge = needs(MEMORIES_OWN)) -> Response:
    """Answer JSON with counts and hashes of each section or, with `Accept: text/html`, a page to read."""
    as_page = _prefers_page(request.headers.get("accept", ""))

    def work(unit: Unit) -> Derived:
        caller = unit.caller
        if caller.role is not Role.USER or caller.act is not None or caller.subject != subject:
            raise NotFound
        sections = _gather(subject, unit)
        manifest = {
            "subject": subject,
            "generated_at": format_time(unit.now),
            "policy_version": active_bundle(unit).version,
            "sections": {
                name: {"count": len(items), "sha256": hash_text(_joined(items))}
                for name, items in sections.items()
            },
        }
        text = _page(manifest, sections) if as_page else _document(manifest, sections)
        headers = {"Content-Security-Policy": _POLICY, "Vary": "Accept"}
        media_type = f"{_HTML}; charset=utf-8" if as_page else "application/json"
        reply = Reply(text, headers=headers, subjects=(subject,), media_type=media_type)
        return Derived(reply, _keep)

    return edge.derive(work)


def _keep(unit: Unit) -> None:
    record(unit, Action.SUBJECT_EXPORTED, kind="subject", ref=unit.cipher.keyed_hash(unit.caller.subject))


def _gather(subject: str, unit: Unit) -> Mapping[str, Sequence[str]]:
    """Answer each section's items as JSON: what was opened to make one is let go before the next."""
    sections: dict[str, list[str]] = {}
    size_bytes = 0
    for name, section in SECTIONS.items():
        sections[name] = []
        for item in section(subject, unit):
            text = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
            size_bytes += len(text.encode())
            if size_bytes > EXPORT_BYTES_MAX:
                raise ExportTooLarge
            sections[name].append(text)
    return sections


def _document(manifest: Mapping[str, Any], sections: Mapping[str, Sequence[str]]) -> str:
    contents = ",".join(f"{json.dumps(name)}:{_joined(items)}" for name, items in sections.items())
    return f'{{"format":"{FORMAT}","manifest":{json.dumps(manifest)},"contents":{{{contents}}}}}'


def _joined(items: Sequence[str]) -> str:
    return f"[{','.join(items)}]"


def _page(manifest: Mapping[str, Any], sections: Mapping[str, Sequence[str]]) -> str:
    """Answer a page without script, style or anything from elsewhere: every word of it is escaped."""
    parts = [
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>All that is kept of you</title>',
        f"<h1>All that is kept of {html.escape(manifest['subject'])}</h1>",
        f"<p>As of {manifest['generated_at']}, under the policy {manifest['policy_version']}.</p>",
    ]
    for name, items in sections.items():
        parts.append(f"<h2>{html.escape(name.capitalize())}: {len(items)}</h2>")
        parts += (_shown(json.loads(item)) for item in items)
    return "\n".join(parts) + "</html>\n"


def _shown(value: object) -> str:
    match value:
        case dict():
            rows = "".join(
                f"<dt>{html.escape(name)}</dt><dd>{_shown(part)}</dd>" for name, part in value.items()
            )
            return f"<dl>{rows}</dl>"
        case list():
            return (
                "<ul>" + "".join(f"<li>{_shown(part)}</li>" for part in value) + "</ul>" if value else "none"
            )
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case _:
            return html.escape(str(value))


def _prefers_page(accept: str) -> bool:
    kinds = [kind.partition(";")[0].strip().lower() for kind in accept.split(",")]
    return _HTML in kinds and (
        "application/json" not in kinds or kinds.index(_HTML) < kinds.index("application/json")
    )
