"""The fixed law of the product is code. What a bundle writes to loosen it is refused, and the law is named.

Nothing here makes the law: whatever a bundle says, the service would do none of it. But an author who writes
such a thing relies on it, and is told so in words about the law instead of words about the format.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from service.detection.model import FAMILY_OF, Family
from service.policies.file_model import BundleFile
from service.policies.findings import Finding
from service.policies.read_yaml import Document, Path, Value, path_text
from service.policies.schema import file_schema, properties_at

LAWS: Final[Mapping[str, str]] = {
    "law_provenance": "nothing is remembered without a source that it came from",
    "law_erasure": "everything ends, and what is erased is gone for good",
    "law_agents": "an agent never approves, grades, consents, corrects or activates",
    "law_second_person": "what may allow more than before needs a second person",
    "law_secrets": "a secret is never remembered, whoever allows it",
    "law_advisory": "a memory is never a fact",
    "law_roles": "no bundle widens what a role may call",
    "law_tenants": "a memory is one person's or one project's, and no tenant reaches another",
    "law_audit": "what happens is written down",
}

_ANY: Final = "*"
_DAYS_MAX: Final = 36_500
_GRACE_DAYS_MAX: Final = 90
_FOREVER: Final = frozenset({"never", "forever", "none", "unlimited", "infinite", "always", "no"})
_NO_SOURCE: Final = frozenset(
    {
        "*",
        "any",
        "none",
        "nothing",
        "model",
        "assistant",
        "summary",
        "package",
        "memory",
        "inference",
        "guess",
    }
)
_MACHINES: Final = frozenset({"agent", "agents", "system", "model", "llm", "assistant", "proposer", "writer"})
_SECRETS: Final = frozenset(
    {kind.value for kind, family in FAMILY_OF.items() if family is Family.CREDENTIAL}
    | {"secret", "secrets", "credential", "credentials", "api_key", "key"}
)
_POWERS: Final = re.compile(r"(approv|grad(e|ing)|consent|activat|confirm)[a-z]*(_[a-z0-9_]+)?")


def _is_none_or(words: frozenset[str]) -> Callable[[Value], bool]:
    return lambda value: value is None or value in ([], {}) or _is_one_of(words)(value)


def _is_one_of(words: frozenset[str]) -> Callable[[Value], bool]:
    return lambda value: isinstance(value, str) and value.casefold() in words


def _is_outside(low: int, high: int, *, or_nothing: bool = False) -> Callable[[Value], bool]:
    def outside(value: Value) -> bool:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return not low <= value <= high
        return (value is None and or_nothing) or _is_one_of(_FOREVER)(value)

    return outside


_Try = tuple[tuple[str, ...], Callable[[Value], bool], str, str]
_TRIES: Final[Sequence[_Try]] = (
    (("classes", _ANY, "sources"), _is_none_or(_NO_SOURCE), "law_provenance", "say what it may cite"),
    (
        ("classes", _ANY, "sources", "provenance"),
        _is_none_or(_NO_SOURCE),
        "law_provenance",
        "name at least one of turn, evidence, observation",
    ),
    (
        ("classes", _ANY, "sources", "provenance", _ANY),
        _is_one_of(_NO_SOURCE),
        "law_provenance",
        "what can be cited is a turn, evidence or an observation",
    ),
    (
        ("classes", _ANY, "sources", "from_sources"),
        _is_none_or(_NO_SOURCE),
        "law_provenance",
        "name at least one of the bundle's sources",
    ),
    (
        ("classes", _ANY, "sources", "from_sources", _ANY),
        _is_one_of(frozenset({"*"})),
        "law_provenance",
        "name each source",
    ),
    (
        ("classes", _ANY, "expiry"),
        _is_none_or(_FOREVER),
        "law_erasure",
        "say after how many days, as in `expiry: {days: 365}`",
    ),
    (
        ("classes", _ANY, "expiry", "days"),
        _is_outside(1, _DAYS_MAX, or_nothing=True),
        "law_erasure",
        f"say after how many days, 1 to {_DAYS_MAX}",
    ),
    (
        ("classes", _ANY, "expiry", "idle_days"),
        _is_outside(1, _DAYS_MAX),
        "law_erasure",
        f"1 to {_DAYS_MAX} days, or leave it out",
    ),
    (
        ("classes", _ANY, "expiry", "keep_ended_days"),
        _is_outside(0, _DAYS_MAX, or_nothing=True),
        "law_erasure",
        f"0 to {_DAYS_MAX} days",
    ),
    (
        ("classes", _ANY, "grace_days"),
        _is_outside(0, _GRACE_DAYS_MAX, or_nothing=True),
        "law_erasure",
        f"a deletion may be taken back for 0 to {_GRACE_DAYS_MAX} days",
    ),
    (
        ("retention", _ANY, "days"),
        _is_outside(0, _DAYS_MAX, or_nothing=True),
        "law_erasure",
        f"0 to {_DAYS_MAX} days",
    ),
    (
        ("commands", _ANY, "approver"),
        _is_one_of(_MACHINES),
        "law_agents",
        "name one of user, reviewer, operator",
    ),
    (
        ("classes", _ANY, "approval", "by"),
        _is_one_of(_MACHINES),
        "law_agents",
        "name one of subject, reviewer, both, or auto where policy alone may decide",
    ),
    (("classes", _ANY, "correctors", _ANY), _is_one_of(_MACHINES), "law_agents", "name people, as user"),
    (
        ("stopping", "contract_confirmation"),
        _is_one_of(_MACHINES),
        "law_agents",
        "name one of never, agent_written, always",
    ),
    (
        ("classes", _ANY, "allowed_detections", _ANY),
        _is_one_of(_SECRETS),
        "law_secrets",
        "leave it out",
    ),
    (("classes", _ANY, "advisory"), lambda value: value is not True, "law_advisory", "leave it out"),
    (
        ("classes", _ANY, "scope"),
        _is_one_of(frozenset({"tenant", "tenants", "global", "everyone", "all", "public", "*"})),
        "law_tenants",
        "name one of user, project",
    ),
)
"""What a bundle may try: where, which values, against which law, and what would be right."""

_UNKNOWN_KEYS: Final = (
    (re.compile(r"(with(out)?_|no_|un)?(provenance|sourced|citation).*"), "law_provenance"),
    (re.compile(r".*(eras|undelet|forever|tombston|immortal).*|restor.*|recover.*"), "law_erasure"),
    (re.compile(r"(second_person|four_eyes|self_approv).*"), "law_second_person"),
    (re.compile(r"(approv|grad|consent|activat|confirm|correct)[a-z]*(_by|_from|_roles)?"), "law_agents"),
    (re.compile(r"(scopes?|permissions?|calls|grants?|may_call)"), "law_roles"),
    (re.compile(r"(cross_)?tenants?(_.*)?"), "law_tenants"),
    (re.compile(r"(no_|disable_)?(audit|trail).*"), "law_audit"),
    (re.compile(r"(allow_|keep_)?(secrets?|credentials?|passwords?)"), "law_secrets"),
)
"""Keys that the format does not know, and the law that they are about."""


def find_breaches(document: Document) -> Iterator[Finding]:
    """Yield what a policy file says against the law, whether or not it fits the format."""
    for path, value in _everything(document.content):
        for pattern, is_tried, law, right in _TRIES:
            if _fits(path, pattern) and is_tried(value) and not _refuses(document.content, path):
                yield _breach(document, path, law, right)
        if len(path) > 1 and path[0] == "roles":
            yield from _powers_of_machines(document, path, value)
        if path and isinstance(path[-1], str):
            yield from _unknown_key(document, path, value)


def _powers_of_machines(document: Document, path: Path, value: Value) -> Iterator[Finding]:
    match path:
        case ("roles", str(role), "capabilities", int()) if role in _MACHINES and isinstance(value, str):
            if _POWERS.fullmatch(value):
                yield _breach(
                    document, path, "law_agents", "name a capability that is a tool's or an effect's"
                )


def _unknown_key(document: Document, path: Path, value: Value) -> Iterator[Finding]:
    key = str(path[-1]).casefold()
    law = next((law for pattern, law in _UNKNOWN_KEYS if pattern.fullmatch(key)), None)
    if law is None:
        return
    known = properties_at(file_schema(BundleFile), path[:-1])
    # Where nothing is known by name, names are the author's own.
    if not known or path[-1] in known:
        return
    if law == "law_agents" and not _names_a_machine(value):
        return
    yield _breach(document, path, law, "leave it out", of_key=True)


def _names_a_machine(value: Value) -> bool:
    return any(_is_one_of(_MACHINES)(one) for one in (value if isinstance(value, list) else [value]))


def _breach(document: Document, path: Path, law: str, right: str, *, of_key: bool = False) -> Finding:
    said = f"{LAWS[law]}, and no bundle can say otherwise: {right}"
    place = document.place_of(path, of_key=of_key)
    return Finding(document.file, place, law, said, path=path_text(document.path_of(path)))


def _refuses(content: Value, path: Path) -> bool:
    """Say whether this is of a class that takes nothing, where nothing needs an end or a source."""
    if path[0] != "classes" or len(path) < 2 or not isinstance(content, dict):  # noqa: PLR2004 - its name
        return False
    classes = content.get("classes")
    named = classes.get(str(path[1])) if isinstance(classes, dict) else None
    return isinstance(named, dict) and named.get("refuses") is not None and named.get(str(path[2])) is None


def _fits(path: Path, pattern: tuple[str, ...]) -> bool:
    return len(path) == len(pattern) and all(
        wanted in (_ANY, step) for step, wanted in zip(path, pattern, strict=True)
    )


def _everything(content: Value) -> Iterator[tuple[Path, Value]]:
    waiting: list[tuple[Path, Value]] = [((), content)]
    while waiting:
        path, value = waiting.pop()
        yield path, value
        if isinstance(value, dict):
            waiting.extend(((*path, key), inner) for key, inner in value.items())
        elif isinstance(value, list):
            waiting.extend(((*path, place), inner) for place, inner in enumerate(value))


def without_echoes(found: Sequence[Finding], breaches: Sequence[Finding]) -> Iterator[Finding]:
    """Yield what else was found: not what was found at the same place, in words about the format."""
    told = {breach.path for breach in breaches}
    for finding in found:
        if finding.path not in told:
            yield finding
