"""Who acts, for whom and with which capabilities: written from the credential, never from the request."""

import json
from collections.abc import Sequence

from service.context.model import Candidate, Part, Shape
from service.context.situation import Situation
from service.core.hashing import hash_text
from service.identity.model import Role


def collect(situation: Situation) -> Sequence[Candidate]:
    """Answer one candidate of a line for each fact."""
    caller = situation.unit.caller
    facts = [("project", _quoted(situation.project.name)), ("purpose", _quoted(situation.asked.purpose))]
    if caller.act is not None:
        facts += [("agent", _quoted(caller.act)), ("acts for user", _quoted(caller.sub))]
    elif caller.role is Role.AGENT:
        facts += [("agent", _quoted(caller.subject)), ("acts for", "nobody")]
    else:
        facts += [("user", _quoted(caller.subject))]
    facts.append(("capabilities", ", ".join(sorted(situation.capabilities)) or "none"))
    text = "\n".join(f"{label}: {value}" for label, value in facts)
    return [
        Candidate(
            kind="scope",
            id=caller.credential_id,
            version=1,
            parts=tuple(Part(label, value) for label, value in facts),
            sha256=hash_text(text),
            trusted=True,
            required=True,
            shape=Shape.WHOLE,
        )
    ]


def _quoted(name: str) -> str:
    # Names are chosen by people: as JSON strings they cannot break out of their line.
    return json.dumps(name)
