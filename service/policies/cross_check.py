"""Whether the parts of a bundle fit together: what one names, another declares, in one place only."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from service.identity.matrix import APPROVALS_DECIDE, SCOPES_BY_ROLE
from service.policies.file_model import BundleFile
from service.policies.findings import Finding, Place, Severity, nearest
from service.policies.read_yaml import Document, path_text

MAPPED_SECTIONS: Final = (
    "classes", "purposes", "profiles", "sources", "commands", "retention", "roles", "tools",
)  # fmt: skip


_ANY_KIND: Final = ""
"""Not the name of a kind: under it stands the first rule of a prefix, whatever its kinds."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One valid YAML file: where everything stands, and what it says."""

    document: Document
    content: BundleFile

    def finding(self, code: str, message: str, *path: str | int, of_key: bool = False) -> Finding:
        """Make a finding at `path`."""
        place = self.document.place_of(path, of_key=of_key)
        return Finding(self.document.file, place, code, message, path=path_text(self.document.path_of(path)))


def check_parts(files: Sequence[SourceFile], instructions: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what does not fit together."""
    yield from _defined_twice(files)
    yield from _alike_sources(files)
    purposes = {name for file in files for name in file.content.purposes}
    sources = {name for file in files for name in file.content.sources}
    capabilities = {
        name for file in files for rule in file.content.roles.values() for name in rule.capabilities
    }
    for file in files:
        yield from _undeclared_in_classes(file, purposes, sources)
        yield from _undeclared_instructions(file, instructions)
        yield from _capabilities_of_nobody(file, capabilities)
        yield from _approvers_who_never_decide(file)
    used = {
        path for file in files for profile in file.content.profiles.values() for path in profile.instructions
    }
    for path in sorted(set(instructions) - used):
        yield Finding(path, Place(), "unused", "no profile names this instruction file", Severity.WARNING)


def _defined_twice(files: Sequence[SourceFile]) -> Iterator[Finding]:
    for section in MAPPED_SECTIONS:
        first: dict[str, str] = {}
        for file in files:
            for name in getattr(file.content, section):
                if (other := first.setdefault(name, file.document.file)) != file.document.file:
                    message = f"`{name}` stands in {other} already: keep one"
                    yield file.finding("defined_twice", message, section, name, of_key=True)
    for section in ("stopping", "guards"):
        holders = [file for file in files if getattr(file.content, section) is not None]
        for file in holders[1:]:
            message = f"`{section}` stands in {holders[0].document.file} already: keep one"
            yield file.finding("defined_twice", message, section, of_key=True)


def _alike_sources(files: Sequence[SourceFile]) -> Iterator[Finding]:
    """Two rules of one prefix must not both fit: which one counts would be chance."""
    first_of_kind: dict[tuple[str, str | None], str] = {}
    for file in files:
        for name, rule in file.content.sources.items():
            prefix = rule.uri_prefix.casefold()
            # `None` stands for every kind, and a rule of no kind for any that came before.
            asked = (None, *rule.kinds) if rule.kinds else (None, _ANY_KIND)
            others = (first_of_kind.get((prefix, kind)) for kind in asked)
            if (other := next((one for one in others if one is not None), None)) is not None:
                message = f"source `{other}` covers the same addresses and kinds: keep one"
                yield file.finding("ambiguous_source", message, "sources", name, "uri_prefix")
            for kind in (*(rule.kinds or (None,)), _ANY_KIND):
                first_of_kind.setdefault((prefix, kind), name)


def _undeclared_in_classes(file: SourceFile, purposes: set[str], sources: set[str]) -> Iterator[Finding]:
    for name, memory_class in file.content.classes.items():
        for position, purpose in enumerate(memory_class.purposes):
            if purpose not in purposes:
                message = f"purpose `{purpose}` is not declared: {nearest(purpose, purposes)}"
                yield file.finding("undeclared", message, "classes", name, "purposes", position)
        if memory_class.sources is None:
            continue
        for position, source in enumerate(memory_class.sources.from_sources):
            if source not in sources:
                message = f"source `{source}` is not declared: {nearest(source, sources)}"
                yield file.finding(
                    "undeclared", message, "classes", name, "sources", "from_sources", position
                )


def _undeclared_instructions(file: SourceFile, instructions: Mapping[str, str]) -> Iterator[Finding]:
    for name, profile in file.content.profiles.items():
        for position, path in enumerate(profile.instructions):
            if path not in instructions:
                message = f"there is no file `{path}`: {nearest(path, instructions)}"
                yield file.finding("undeclared", message, "profiles", name, "instructions", position)


def _capabilities_of_nobody(file: SourceFile, capabilities: set[str]) -> Iterator[Finding]:
    named = [
        *(
            (("commands", name, "capability"), rule.capability)
            for name, rule in file.content.commands.items()
        ),
        *((("tools", name, "read"), rule.read) for name, rule in file.content.tools.items()),
        *((("tools", name, "write"), rule.write) for name, rule in file.content.tools.items()),
    ]
    for path, capability in named:
        if capability not in capabilities:
            message = f"no role has the capability `{capability}`: nobody may use this"
            yield replace(file.finding("nobody", message, *path), severity=Severity.WARNING)


def _approvers_who_never_decide(file: SourceFile) -> Iterator[Finding]:
    may = [role.value for role, scopes in SCOPES_BY_ROLE.items() if APPROVALS_DECIDE in scopes]
    for name, rule in file.content.commands.items():
        if rule.approver.value not in may:
            message = f"`{rule.approver}` never decides an approval: name one of {', '.join(may)}"
            found = file.finding("nobody", message, "commands", name, "approver")
            yield replace(found, severity=Severity.WARNING)
