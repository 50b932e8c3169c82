"""Names calls by their route, so that the same call is known again in another run."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from service.entry.rehearse.model import Channel

_BASE: Final = "/v1"
_PARAMETER: Final = re.compile(r"\{[^}]+\}")
_WORD: Final = re.compile(r"[a-z-]*")
_EVERY_METHOD: Final = frozenset({"get", "post", "put", "patch", "delete"})


class Routes:
    """The routes of a service, as its own description names them."""

    def __init__(self, templates: Iterable[str]) -> None:
        """Take templates such as `/v1/executions/{execution_id}/steps`."""
        fixed: dict[str, str] = {}
        loose: list[tuple[re.Pattern[str], str]] = []
        for template in sorted(set(templates)):
            name = _PARAMETER.sub("*", template).removeprefix(_BASE)
            if "*" in name:
                parts = map(re.escape, _PARAMETER.split(template))
                loose.append((re.compile("[^/]+".join(parts)), name))
            else:
                fixed[template] = name
        self._fixed, self._loose = fixed, loose

    @classmethod
    def of_description(cls, description: Mapping[str, Any]) -> "Routes":
        """Read an OpenAPI document."""
        return cls(path for path, methods in description["paths"].items() if _EVERY_METHOD & methods.keys())

    def pattern(self, channel: Channel, method: str, path: str) -> str:
        """Answer `POST /executions/*/steps` for such a call.

        Of a path that no route has, plain words stay; of the downstream's, the first part.
        """
        bare = path.partition("?")[0]
        if channel is Channel.DOWNSTREAM:
            head, *rest = bare.strip("/").split("/")
            return f"downstream {method} /{'/'.join([head, *('*' for _ in rest)])}"
        name = self._fixed.get(bare) or next(
            (name for route, name in self._loose if route.fullmatch(bare)), None
        )
        return f"{method} {name or _without_ids(bare)}"


def _without_ids(path: str) -> str:
    parts = path.removeprefix(_BASE).split("/")
    return "/".join(part if _WORD.fullmatch(part) else "*" for part in parts)
