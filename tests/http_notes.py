"""A tiny capability for tests of the edge: notes, kept as messages that nobody delivers."""

import time
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field, TypeAdapter
from sqlalchemy.exc import OperationalError
from sqlmodel import col, select
from starlette.responses import Response

from service.core.errors import Conflict, NotFound, Refusal, Stale
from service.core.outbox import OutboxRow
from service.entry.http.edge import (
    Cursor,
    Edge,
    IfMatch,
    Limit,
    PathId,
    Reply,
    Upload,
    needs,
    new_router,
    operation,
)
from service.entry.http.json_lines import Lines
from service.identity import matrix
from service.identity.unit import Unit
from service.wire.scalars import Answer, Request, Text, When

router = new_router("notes")
SLOW_SECONDS = 0.3
EXAMPLE = {"text": "Plot 18 has outline consent."}
ANSWER = {"id": "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11", "version": 1, "text": "Plot 18 has outline consent."}


Metadata = Annotated[dict[str, Any], Field(max_length=50)]


class Mood(StrEnum):
    CALM = "calm"


class AddNote(Request):
    text: Text
    project: str | None = None
    mood: Mood = Mood.CALM
    tags: tuple[str, ...] = ()
    at: When | None = None
    number: float | None = None
    metadata: Metadata = Field(default_factory=dict)


class Note(Answer):
    id: str
    version: int
    text: str


class Notes(Answer):
    items: list[Note]
    next_cursor: str | None


class Sent(Answer):
    name: str | None
    media_type: str | None
    size: int


class Counted(Answer):
    accepted: int
    rejected: list[dict[str, Any]]


def _add(body: AddNote, unit: Unit) -> Note:
    row = OutboxRow(
        tenant_id=unit.tenant_id,
        id=unit.ids(),
        topic="note",
        payload={"text": body.text, "version": 1, "metadata": body.metadata},
        created_at=unit.now,
        available_at=unit.now + timedelta(days=365),
    )
    unit.session.add(row)
    return Note(id=row.id, version=1, text=body.text)


def _find(note_id: str, unit: Unit) -> OutboxRow:
    row = unit.session.exec(
        select(OutboxRow)
        .where(col(OutboxRow.tenant_id) == unit.tenant_id, col(OutboxRow.id) == note_id)
        .with_for_update()
    ).one_or_none()
    if row is None:
        raise NotFound
    return row


def _note(row: OutboxRow) -> Note:
    return Note(id=row.id, version=row.payload["version"], text=row.payload["text"])


@router.post("/notes", **operation(summary="Add a note", answer=Note, status=201, example=EXAMPLE))
def add_note(body: AddNote, edge: Edge = needs(matrix.EVIDENCE_WRITE)) -> Response:
    def work(unit: Unit) -> Reply:
        note = _add(body, unit)
        project = None if body.project is None else unit.project(body.project).id
        return Reply(note, status=201, etag=1, refs=(note.id,), project_id=project)

    return edge.create(work)


@router.post("/notes/slow", **operation(summary="Add slowly", answer=Note, status=201, example=EXAMPLE))
def add_slowly(body: AddNote, edge: Edge = needs(matrix.EVIDENCE_WRITE)) -> Response:
    def work(unit: Unit) -> Reply:
        note = _add(body, unit)
        unit.session.flush()
        time.sleep(SLOW_SECONDS)
        return Reply(note, status=201)

    return edge.create(work)


@router.get(
    "/notes", **operation(summary="List notes", answer=Notes, example={"items": [], "next_cursor": None})
)
def list_notes(
    edge: Edge = needs(matrix.EVIDENCE_READ),
    limit: Limit = 50,
    cursor: Cursor = None,
    word: Annotated[str | None, Query()] = None,
) -> Response:
    wanted = edge.page(limit, cursor, word)

    def work(unit: Unit) -> Reply:
        query = select(OutboxRow).where(col(OutboxRow.tenant_id) == unit.tenant_id)
        if wanted.after is not None:
            query = query.where(col(OutboxRow.id) > str(wanted.after[0]))
        rows = unit.session.exec(query.order_by(col(OutboxRow.id)).limit(limit + 1)).all()
        page = wanted.page(rows, [(row.id,) for row in rows])
        return Reply(Notes(items=[_note(row) for row in page.items], next_cursor=page.next_cursor))

    return edge.read(work)


@router.get("/notes/{note_id}", **operation(summary="Read a note", answer=Note, example=ANSWER))
def read_note(note_id: PathId, edge: Edge = needs(matrix.EVIDENCE_READ)) -> Response:
    def work(unit: Unit) -> Reply:
        note = _note(_find(note_id, unit))
        return Reply(note, etag=note.version)

    return edge.read(work)


@router.get("/names/{name}", **operation(summary="Echo a name", answer=Note, example=ANSWER))
def read_name(name: str, edge: Edge = needs(matrix.EVIDENCE_READ)) -> Response:
    return edge.read(lambda _unit: Reply(Note(id="-", version=1, text=name)))


@router.put("/notes/{note_id}", **operation(summary="Write a note", answer=Note, example=EXAMPLE))
def write_note(
    note_id: PathId, body: AddNote, version: IfMatch, edge: Edge = needs(matrix.EVIDENCE_WRITE)
) -> Response:
    def work(unit: Unit) -> Reply:
        row = _find(note_id, unit)
        if row.payload["version"] != version:
            raise Stale(row.payload["version"])
        row.payload = {**row.payload, "version": version + 1, "text": body.text}
        unit.session.add(row)
        return Reply(_note(row), etag=version + 1)

    return edge.write(work)


class Fail(Request):
    how: str


class _Unsendable(BaseModel):
    text: str


def _raise(how: str, unit: Unit) -> Reply:
    match how:
        case "unsendable":
            return Reply(_Unsendable(text="\ud800"))
        case "collision":
            row = unit.session.exec(
                select(OutboxRow).where(col(OutboxRow.tenant_id) == unit.tenant_id)
            ).first()
            assert row is not None
            copy = row.model_dump()
            unit.session.expunge(row)
            unit.session.add(OutboxRow(**copy))
            return Reply(None)
        case "missing":
            unit.session.add(OutboxRow(tenant_id=unit.tenant_id, id=unit.ids()))  # type: ignore[call-arg]
            return Reply(None)
        case "engine":
            raise OperationalError("SELECT secret-of-the-engine", {}, Exception("secret-of-the-engine"))
        case "refused":
            raise Conflict("It is the wrong moment.", blocked_by=["a"], status="mine")
        case "unknown_kind":
            raise Refusal("a kind that no table names")
    raise RuntimeError("secret-of-the-engine")


@router.post(
    "/failures", **operation(summary="Fail", answer=Note, example={"how": "refused"}, problems=[Conflict])
)
def fail(body: Fail, edge: Edge = needs(matrix.EVIDENCE_WRITE)) -> Response:
    def work(unit: Unit) -> Reply:
        _add(AddNote(text="must not stay"), unit)
        unit.session.flush()
        return _raise(body.how, unit)

    return edge.create(work)


@router.post(
    "/files", **operation(summary="Send a file", answer=Sent, status=201, example=EXAMPLE, upload=True)
)
def send_file(body: AddNote, upload: Upload, edge: Edge = needs(matrix.EVIDENCE_WRITE)) -> Response:
    def work(unit: Unit) -> Reply:
        _add(body, unit)
        if upload is None:
            return Reply(Sent(name=None, media_type=None, size=0), status=201)
        sent = Sent(name=upload.name, media_type=upload.media_type, size=len(upload.content))
        return Reply(sent, status=201)

    return edge.create(work)


@router.post("/staged", **operation(summary="Stage", answer=Note, status=201, example=EXAMPLE))
def add_and_stage(body: AddNote, edge: Edge = needs(matrix.EVIDENCE_WRITE)) -> Response:
    def work(unit: Unit) -> Reply:
        note = _add(body, unit)
        unit.stage("evidence.deleted", item_id=note.id)
        return Reply(note, status=201)

    return edge.create(work)


_LINE = TypeAdapter(AddNote)


@router.post(
    "/lines", **operation(summary="Send lines", answer=Counted, example={"accepted": 1, "rejected": []})
)
def send_lines(lines: Lines, edge: Edge = needs(matrix.EVIDENCE_WRITE)) -> Response:
    accepted, rejected = 0, []
    for line in lines:
        try:
            body = line.read(_LINE)
        except Refusal as refusal:
            rejected.append({"line": line.number, "type": refusal.code})
            continue
        edge.transact(lambda unit, body=body: _add(body, unit))
        accepted += 1
    return edge.read(lambda _unit: Reply(Counted(accepted=accepted, rejected=rejected)))
