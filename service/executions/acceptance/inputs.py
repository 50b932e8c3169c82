"""What a candidate was made of, as far as the contract's requirements depend on it. Pure."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Final

from service.core.hashing import hash_json, hash_text
from service.executions.model import Requirement
from service.executions.work.model import Step

_ENTRIES_MAX: Final = 2_000
"""A declared folder that covers more entries counts as unknown: hashing them all would hold up the run."""


def newest_outputs(log: Sequence[Step]) -> Mapping[str, str]:
    """Answer the newest hash of each output in the log, by its name and by its reference.

    A step that failed counts too: what it wrote is there.
    """
    return {
        name: output.sha256 for step in log for output in step.outputs for name in (output.name, output.ref)
    }


def hash_inputs(requirements: Sequence[Requirement], known: Mapping[str, str]) -> Mapping[str, str]:
    """Answer for each requirement one hash over all inputs that it declares.

    One that declares none, or an input of which nothing is known, is left out. A declared `src/login` stands
    for the entry of that name and for all below it, such as `src/login/form.py`. One hash for each, so that
    the snapshots of a run stay small however much its requirements declare.
    """
    names = sorted(known)
    # Each is hashed once, however many requirements declare it: a folder may hold thousands of entries.
    every = {declared for requirement in requirements for declared in requirement.depends_on}
    found = {declared: _hash_covered(declared, names, known) for declared in every}
    hashes = {}
    for requirement in requirements:
        parts = {declared: found[declared] for declared in requirement.depends_on}
        if parts and None not in parts.values():
            hashes[requirement.id] = hash_json(parts)
    return hashes


def _hash_covered(declared: str, names: Sequence[str], known: Mapping[str, str]) -> str | None:
    folder = declared.rstrip("/")
    # "0" follows "/" in the order of characters: between the two stands exactly what is below the folder.
    below = names[bisect_left(names, f"{folder}/") : bisect_left(names, f"{folder}0")]
    entries = dict.fromkeys([*(name for name in (folder, declared) if name in known), *below])
    if not 0 < len(entries) <= _ENTRIES_MAX:
        return None
    # Neither names nor hashes hold white space, so that different entries never make the same lines.
    return hash_text("".join(f"{name} {known[name]}\n" for name in entries))
