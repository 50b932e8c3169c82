"""One request's way into the record and back: the transaction, the answer, and what must hold of both.

A route hands over its work and nothing else; when to commit, what to answer twice, and what to deliver
afterwards is decided here for all of them.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, TypeVar

import structlog
from fastapi import Depends, Header, Path, Query, Request, Security
from fastapi.security import HTTPBearer
from pydantic import AfterValidator
from sqlmodel import Session
from starlette.responses import Response

from service.core.errors import NotFound, Refusal
from service.core.failpoints import hit
from service.core.ids import is_id
from service.core.paging import PAGE_ITEMS_MAX, PageRequest, page_request
from service.entry.http.body import UploadedFile
from service.entry.http.idempotency import Attempt, attempt_of
from service.entry.http.openapi import operation
from service.entry.http.preconditions import read_fencing_token, read_version
from service.entry.http.reply import Answered, Derived, Reply, render
from service.entry.http.route import new_router
from service.entry.http.state import RequestState, state_of
from service.executions.delivery.model import DELIVER_TOPIC
from service.identity.matrix import EXECUTIONS_WRITE, PACKAGES_BUILD
from service.identity.model import Caller
from service.identity.unit import Unit
from service.wiring import Runtime

__all__ = [
    "Cursor",
    "Derived",
    "Edge",
    "IfMatch",
    "Limit",
    "PathId",
    "Reply",
    "Upload",
    "needs",
    "new_router",
    "operation",
]

_log: Final = structlog.get_logger("muniment.http")
_CREDENTIAL: Final = HTTPBearer(
    scheme_name="credential",
    bearerFormat="mun_<id>_<secret>",
    description="An API key. Scopes are listed in the documentation of roles.",
    auto_error=False,
)

Result = TypeVar("Result")
Work = Callable[[Unit], Reply | Refusal]
"""What a route does. A refusal that it raises undoes all of it; one that it returns is raised after the
commit, so that what was found out on the way stands although the caller is refused."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One request, authenticated and allowed to make this call."""

    runtime: Runtime
    state: RequestState
    request: Request = field(repr=False)
    fencing_token: int | None = None

    @property
    def caller(self) -> Caller:
        """Who is asking."""
        return self.state.caller

    @property
    def request_id(self) -> str:
        """The id that the request came with, or was given."""
        return self.state.request_id

    def read(self, work: Work) -> Response:
        """Do the work in a reading transaction and answer its reply."""
        with self._open(self.runtime.database.read(self.caller.tenant_id)) as unit:
            return _respond(self._render(work(unit)))

    def look(self, work: Callable[[Unit], Result]) -> Result:
        """Do a part of a request in a reading transaction of its own: what comes before a call out."""
        with self._open(self.runtime.database.read(self.caller.tenant_id)) as unit:
            return work(unit)

    def write(self, work: Work) -> Response:
        """Do the work in a writing transaction, commit, deliver what it staged, and answer its reply.

        The reply is written out before the commit: an answer that cannot be sent is never kept.
        """
        return _respond(self.transact(lambda unit: self._render(work(unit))))

    def create(self, work: Work) -> Response:
        """Do as `write`, once for each `Idempotency-Key`: a repeat gets the first answer again."""
        attempt = attempt_of(self.request, self.state)
        if attempt is None:
            return self.write(work)
        return _respond(self.transact(lambda unit: self._once(attempt, work, unit)))

    def find_answer(self) -> Response | None:
        """Answer what this request was answered before under its `Idempotency-Key`, `None` when it is new.

        For what is slow and comes before the writing: `create` tells a repeat too, but only then.
        """
        attempt = attempt_of(self.request, self.state)
        kept = None if attempt is None else self.look(attempt.find)
        return None if kept is None else kept.response()

    def derive(self, work: Callable[[Unit], Derived]) -> Response:
        """Answer what long reading works out: it blocks no writer, and a short transaction keeps it.

        With an `Idempotency-Key` reading and keeping are one writing transaction, as in `create`: a kept
        answer holds text, and an erasure that came in between would find nothing of it to empty.
        """

        def at_once(unit: Unit) -> Reply:
            derived = work(unit)
            derived.keep(unit)
            return derived.reply

        attempt = attempt_of(self.request, self.state)
        if attempt is not None:
            return _respond(self.transact(lambda unit: self._once(attempt, at_once, unit)))
        with self._open(self.runtime.database.read(self.caller.tenant_id)) as unit:
            derived = work(unit)
            answered = self._render(derived.reply)
        self.transact(derived.keep)
        return _respond(answered)

    def transact(self, work: Callable[[Unit], Result]) -> Result:
        """Do a part of a request in a writing transaction of its own: for batches, which keep good lines."""
        tenant_id = self.caller.tenant_id
        point = f"http.{self.request.scope['endpoint'].__name__}"
        with self._open(self.runtime.database.write(tenant_id)) as unit:
            result = work(unit)
            unit.session.flush()
            topics = unit.session.info.get("staged_topics", ())
            hit(f"{point}.before_commit")
        hit(f"{point}.after_commit")
        if topics:
            self._deliver(tenant_id)
        if DELIVER_TOPIC in topics and self.runtime.deliveries is not None:
            # A downstream may be slow: others bring the command there, and nobody waits for it here.
            self.runtime.deliveries.wake()
        return result

    def page(self, limit: int, cursor: str | None, *filters: object) -> PageRequest:
        """Answer which page is asked for. `filters` are all values that choose the list's items."""
        return page_request(
            limit, cursor, tenant_id=self.caller.tenant_id, filters=(self.request.url.path, *filters)
        )

    @contextmanager
    def _open(self, transaction: AbstractContextManager[Session]) -> Iterator[Unit]:
        with transaction as session:
            yield self.runtime.unit(session, self.caller, self.request_id, fencing_token=self.fencing_token)

    def _once(self, attempt: Attempt, work: Work, unit: Unit) -> Answered | Refusal:
        kept = attempt.claim(unit)
        if kept is not None:
            return kept
        reply = work(unit)
        if isinstance(reply, Refusal):
            attempt.release(unit)
            return reply
        answered = render(reply, self.request.url)
        unit.session.flush()
        attempt.keep(unit, answered, reply)
        return answered

    def _render(self, reply: Reply | Refusal) -> Answered | Refusal:
        return reply if isinstance(reply, Refusal) else render(reply, self.request.url)

    def _deliver(self, tenant_id: str) -> None:
        # The work is committed: whatever fails now must not tell the client that it was not.
        try:
            self.runtime.relay.drain(tenant_id)
        except Exception as failure:  # noqa: BLE001 - the message stays in the outbox and is tried again
            _log.warning("drain_failed", request_id=self.state.logged_id, failure=type(failure).__name__)


def _respond(outcome: Answered | Refusal) -> Response:
    if isinstance(outcome, Refusal):
        raise outcome
    return outcome.response()


async def _edge(request: Request, _credential: Annotated[object, Depends(_CREDENTIAL)]) -> Edge:
    # The route has compared the scopes before; the credential here is only what the document describes.
    return Edge(request.app.state.runtime, state_of(request.scope), request)


async def _fenced_edge(
    edge: Annotated[Edge, Depends(_edge)],
    fencing_token: Annotated[
        str | None,
        Header(alias="Fencing-Token", description="The token of the run's lease, while one lives."),
    ] = None,
) -> Edge:
    return replace(edge, fencing_token=read_fencing_token(fencing_token))


_FENCED: Final = frozenset({EXECUTIONS_WRITE, PACKAGES_BUILD})
"""Scopes of the calls that may be made under a lease."""


def needs(scope: str, *alternatives: str) -> Any:  # noqa: ANN401 - the default value of a parameter typed `Edge`
    """Demand that the caller's credential carries `scope` or one of the alternatives; answers the `Edge`."""
    return Security(_fenced_edge if scope in _FENCED else _edge, scopes=[scope, *alternatives])


async def _if_match(value: Annotated[str | None, Header(alias="If-Match")] = None) -> int:
    return read_version(value)


async def _upload(request: Request) -> UploadedFile | None:
    return state_of(request.scope).upload


def _known_id(text: str) -> str:
    if not is_id(text):
        raise NotFound
    return text


IfMatch = Annotated[int, Depends(_if_match)]
"""The version that the caller read: 428 without the header; what is no version of ours equals none (0)."""

Upload = Annotated[UploadedFile | None, Depends(_upload)]
"""The uploaded file, in a route whose `operation` says `upload=True`; `None` when JSON was sent."""

PathId = Annotated[str, Path(), AfterValidator(_known_id)]
"""An id in the path, as this service issues them; any other text is 404 like an id that does not exist."""

Limit = Annotated[int, Query(ge=1, le=PAGE_ITEMS_MAX)]
"""How many items a page holds at most; its default is `core.paging.PAGE_ITEMS_DEFAULT`."""

Cursor = Annotated[str | None, Query(max_length=1_000)]
"""Where a page begins: `next_cursor` of the one before."""
