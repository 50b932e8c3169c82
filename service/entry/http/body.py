"""Request bodies: how many bytes are taken, in which media types, and one file beside its fields."""

import hashlib
import json
import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from python_multipart.multipart import parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from service.core.errors import Invalid, TooLarge, Unsupported
from service.core.hashing import Json
from service.entry.http.strict_json import read_json

JSON_BYTES_MAX: Final = 1024 * 1024
FILE_BYTES_MAX: Final = 32 * 1024 * 1024
FILE_FIELD: Final = "file"
META_FIELD: Final = "meta"
_MULTIPART_OVERHEAD_BYTES_MAX: Final = 64 * 1024
_FILE_NAME_LENGTH_MAX: Final = 500
_READ_ON_LOOP_BYTES_MAX: Final = 32 * 1024
_BOUNDARY: Final = re.compile(rb"[0-9A-Za-z'()+_,./:=? -]{1,70}")  # RFC 2046, section 5.1.1

Result = TypeVar("Result")


class UploadMalformed(Invalid):
    """The multipart body is not one `file` with its `meta`."""

    code = "malformed_upload"
    title = "An upload is one part `file` and one part `meta` with JSON"


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """One file as it was sent. Its name and media type are the client's word."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Body:
    """A body that was read: its JSON bytes, its digest (the same however it was formatted), its file."""

    raw: bytes
    digest: str
    upload: UploadedFile | None = None


def media_type_of(request: Request) -> str:
    """Answer the request's media type without its parameters, in lower case; empty without one."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def refuse_encoded(request: Request) -> None:
    """Refuse a compressed body: what it unpacks to would have no bound. Raises `Unsupported`."""
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Unsupported("Send the body without Content-Encoding.")


async def read_body(request: Request, *, takes_file: bool) -> Body:
    """Read a JSON body of at most 1 MiB or, where the call takes one, an upload with a file up to 32 MiB.

    Raises `Unsupported`, `TooLarge`, `JsonMalformed` or `UploadMalformed`.
    """
    refuse_encoded(request)
    media_type = media_type_of(request)
    if media_type == "application/json":
        raw = b"".join([chunk async for chunk in _bounded(request, JSON_BYTES_MAX)])
        return await off_loop(len(raw), lambda: Body(raw, _digest(read_json(raw))))
    if media_type == "multipart/form-data" and takes_file:
        return await _read_upload(request)
    raise Unsupported(
        "Send application/json or multipart/form-data." if takes_file else "Send application/json."
    )


async def off_loop(size: int, work: Callable[[], Result]) -> Result:
    """Do the work here when it is small, else in a thread: a mebibyte of JSON would hold up every request."""
    return work() if size <= _READ_ON_LOOP_BYTES_MAX else await run_in_threadpool(work)


async def _bounded(request: Request, bytes_max: int) -> AsyncGenerator[bytes, None]:
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > bytes_max:
        raise TooLarge(f"The body is larger than {bytes_max} bytes.")
    received = 0
    # A chunked body declares no length: count what comes.
    async for chunk in request.stream():
        received += len(chunk)
        if received > bytes_max:
            raise TooLarge(f"The body is larger than {bytes_max} bytes.")
        yield chunk


def _part_headers(request: Request) -> Headers:
    # The library reads fields in the charset that the client names, or in Latin-1 where that fails. Asked for
    # Latin-1 it hands on the bytes as they came, to be read here: as UTF-8 or not at all.
    boundary = parse_options_header(request.headers.get("content-type"))[1].get(b"boundary", b"")
    if not _BOUNDARY.fullmatch(boundary):
        raise UploadMalformed("The multipart body names no boundary.")
    return Headers({"content-type": f'multipart/form-data; charset=latin-1; boundary="{boundary.decode()}"'})


class _MemoryParser(MultiPartParser):
    # The library would put larger files on disk, in the clear: personal text rests as ciphertext only.
    spool_max_size = FILE_BYTES_MAX + JSON_BYTES_MAX + _MULTIPART_OVERHEAD_BYTES_MAX


async def _read_upload(request: Request) -> Body:
    stream = _bounded(request, FILE_BYTES_MAX + JSON_BYTES_MAX + _MULTIPART_OVERHEAD_BYTES_MAX)
    headers = _part_headers(request)
    parser = _MemoryParser(headers, stream, max_files=1, max_fields=1, max_part_size=JSON_BYTES_MAX)
    try:
        form = await parser.parse()
    except MultiPartException:
        raise UploadMalformed("The multipart body could not be read.") from None
    try:
        file, meta = form.get(FILE_FIELD), form.get(META_FIELD)
        if not isinstance(file, UploadFile) or not isinstance(meta, str) or len(form.multi_items()) != 2:  # noqa: PLR2004 - the two named in the title
            raise UploadMalformed("Send one part `file` with a file name and one part `meta` with JSON.")
        content = await file.read()
    finally:
        await form.close()
    return await off_loop(len(content), lambda: _uploaded(file, content, meta.encode("latin-1")))


def _uploaded(file: UploadFile, content: bytes, meta: bytes) -> Body:
    if len(content) > FILE_BYTES_MAX:
        raise TooLarge(f"The file is larger than {FILE_BYTES_MAX} bytes.")
    try:
        name = (file.filename or "").encode("latin-1").decode()
    except UnicodeDecodeError:
        raise UploadMalformed("The file's name is not UTF-8.") from None
    if len(name) > _FILE_NAME_LENGTH_MAX or not name.isprintable():
        raise UploadMalformed("The file's name is too long or holds characters that cannot be shown.")
    upload = UploadedFile(name, (file.content_type or "").partition(";")[0].strip().lower(), content)
    parts = [_digest(read_json(meta)), name, upload.media_type, hashlib.sha256(content).hexdigest()]
    return Body(meta, _digest([*parts]), upload)


def _digest(value: Json) -> str:
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()
