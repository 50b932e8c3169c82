"""Reads out of a call what work it is: pure, from its pattern, its body and nothing else."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from service.core.hashing import hash_json, hash_text
from service.entry.rehearse.model import Act, ActKind, Channel

_KEY_CHARACTERS_MAX: Final = 200
_HASH_CHARACTERS: Final = len("sha256:") + 12
_RUN: Final = "/executions/*"

Body = Mapping[str, Any]


def read_act(channel: Channel, pattern: str, path: str, body: bytes) -> Act | None:
    """Answer the work that a call does; `None` where it does none, or where its body is no JSON object."""
    content = _object(body)
    if channel is Channel.DOWNSTREAM:
        if pattern.endswith("/*"):
            # Looking up what became of an order is how doubt is settled, and harmless however often.
            return None
        if content is None:
            return Act(ActKind.TOOL, path[:_KEY_CHARACTERS_MAX])
        return Act(ActKind.ORDER, f"{path} {short_hash(content_of_order(content))}"[:_KEY_CHARACTERS_MAX])
    reader = _READERS.get(pattern)
    if reader is None or content is None:
        return None
    found = reader(content)
    return None if found is None else Act(found.kind, found.key[:_KEY_CHARACTERS_MAX])


def read_operation(pattern: str, body: bytes) -> str | None:
    """Answer the operation id that a call gives an effect's intent; `None` for other calls."""
    content = _object(body) if pattern in _INTENTS else None
    return None if content is None else str(content.get("operation_id"))


def content_of_order(body: Body) -> Body:
    """Answer what an order asks for, without the name that its sender gave the operation."""
    return {name: value for name, value in body.items() if name != "operation_id"}


def short_hash(value: object) -> str:
    """Answer the beginning of the hash of a JSON value: enough to tell values of one rehearsal apart."""
    try:
        return hash_json(value)[:_HASH_CHARACTERS]
    except ValueError:
        # Numbers that canonical JSON cannot carry: any hash that is the same for the same value will do.
        return hash_text(json.dumps(value, sort_keys=True))[:_HASH_CHARACTERS]


def _object(body: bytes) -> Body | None:
    try:
        content = json.loads(body) if body else None
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _step(body: Body) -> Act | None:
    kinds = {"started": ActKind.STARTED, "completed": ActKind.COMPLETED, "failed": ActKind.FAILED}
    kind = kinds.get(str(body.get("exit_status")))
    if kind is None:
        return None
    inputs = body.get("inputs") or []
    return Act(kind, f"{body.get('task_id')} on {short_hash(inputs)}" if inputs else f"{body.get('task_id')}")


def _package(body: Body) -> Act:
    task, query = body.get("task_id"), body.get("query")
    return Act(
        ActKind.PACKAGE, f"for {task}" if task else f"asking {short_hash(query)}" if query else "for the run"
    )


def _observation(body: Body) -> Act:
    source = body.get("source")
    uri = source.get("uri") if isinstance(source, dict) else None
    return Act(ActKind.OBSERVATION, f"{uri} {short_hash(body.get('content'))}")


def _turn(body: Body) -> Act:
    return Act(ActKind.TURN, f"{body.get('role')} {short_hash([body.get('text'), body.get('tool_calls')])}")


def _intent(body: Body) -> Act:
    return Act(ActKind.INTENT, content_of_effect(body.get("kind"), body.get("request")))


def _redeemed(body: Body) -> Act | None:
    command = body.get("command")
    if not isinstance(command, dict):
        return None
    request = {name: value for name, value in command.items() if name != "kind"}
    return Act(ActKind.INTENT, content_of_effect(command.get("kind"), request))


def content_of_effect(kind: object, request: object) -> str:
    """Answer what an effect is to do, by its kind and the hash of its request."""
    return f"{kind} {short_hash(request or {})}"


def _as(kind: ActKind, field: str) -> Callable[[Body], Act]:
    return lambda body: Act(kind, str(body.get(field)))


_READERS: Final[Mapping[str, Callable[[Body], Act | None]]] = {
    f"POST {_RUN}/steps": _step,
    f"POST {_RUN}/observations": _observation,
    f"POST {_RUN}/turns": _turn,
    f"POST {_RUN}/checkpoints": _as(ActKind.CHECKPOINT, "transition"),
    f"POST {_RUN}/candidates": _as(ActKind.CANDIDATE, "artifact_hash"),
    f"POST {_RUN}/effects": _intent,
    "POST /approvals/*/redeem": _redeemed,
    f"PATCH {_RUN}/effects/*": _as(ActKind.SETTLEMENT, "status"),
    f"POST {_RUN}/effects/*/reconcile": _as(ActKind.SETTLEMENT, "outcome"),
    "POST /context-packages": _package,
}
_INTENTS: Final = frozenset({f"POST {_RUN}/effects", "POST /approvals/*/redeem"})
