"""What the edge learns about one request on its way in, in one typed place."""

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any, Final

from service.entry.http.body import UploadedFile
from service.identity.model import Caller

_KEY: Final = "muniment"


@dataclass(slots=True)
class RequestState:
    """Grows from the outside in: id, caller, route, body."""

    request_id: str
    known_caller: Caller | None = None
    route: str = "unmatched"
    body_digest: str = ""
    upload: UploadedFile | None = None

    @property
    def caller(self) -> Caller:
        """The authenticated caller. Only public paths have none, and those never ask."""
        if self.known_caller is None:
            raise RuntimeError("a route was reached without authentication")
        return self.known_caller


def put_state(scope: MutableMapping[str, Any], state: RequestState) -> None:
    """Attach the state to an ASGI scope."""
    scope.setdefault("state", {})[_KEY] = state


def state_of(scope: MutableMapping[str, Any]) -> RequestState:
    """Answer the state that the outermost layer attached."""
    state: RequestState = scope["state"][_KEY]
    return state
