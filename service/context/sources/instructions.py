"""The profile's instruction files, in its order. A request cannot add any."""

from collections.abc import Sequence

from service.context.model import Candidate, Part, Shape
from service.context.situation import Situation
from service.core.hashing import hash_text


def collect(situation: Situation) -> Sequence[Candidate]:
    """Answer one required candidate for each file."""
    texts = situation.bundle.instructions_of(situation.profile)
    return [
        Candidate(
            kind="instruction",
            id=path,
            version=1,
            parts=(Part(path, text.strip("\n")),),
            sha256=hash_text(text),
            place=(number,),
            trusted=True,
            required=True,
            shape=Shape.WHOLE,
        )
        for number, (path, text) in enumerate(texts.items())
    ]
