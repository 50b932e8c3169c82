"""What the edge learns about one request on its way in, in one typed place."""

import re
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any, Final

from service.core.hashing import hash_text
from service.core.ids import is_id
from service.entry.http.body import UploadedFile
from service.identity.model import Caller

_KEY: Final = "muniment"
_TRACE: Final = re.compile(r"[0-9a-f]{32}")


@dataclass(slots=True)
class RequestState:
    """Grows from the outside in: id, caller, route, body."""

    request_id: str
    known_caller: Caller | None = None
    route: str = "unmatched"
    body_digest: str = ""
    upload: UploadedFile | None = None

    @property
    def logged_id(self) -> str:
        """What logs call the request: its id, and of one that a client made of words their hash."""
        is_wordless = is_id(self.request_id) or _TRACE.fullmatch(self.request_id)
        return self.request_id if is_wordless else hash_text(self.request_id)

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
