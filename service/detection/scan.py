"""Our own detector: rules with checksums and word lists over normalised copies, spans in the original."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from service.detection.addresses import find_addresses
from service.detection.categories import find_categories
from service.detection.credentials import find_credentials
from service.detection.disguise import find_hidden_text, find_markup
from service.detection.identifiers import find_identifiers
from service.detection.instructions import find_instructions
from service.detection.markers import find_markers
from service.detection.model import Found, Kind
from service.detection.national_ids import find_national_ids
from service.detection.reading import Reading, readings_of

Hit = tuple[Kind, int, int]

SCANNED_CHARACTERS_MAX: Final = 32_768
"""What is longer no class takes: `value_invalid` refuses it, whatever stands in the rest."""
FOUND_MAX: Final = 200
"""So many findings are named; one would do to decide."""


_RULES: Final[Sequence[Callable[[Reading], Iterator[Hit]]]] = (
    find_credentials,
    find_identifiers,
    find_national_ids,
    find_addresses,
    find_categories,
    find_instructions,
    find_markup,
    find_markers,
)


class OwnRules:
    """The built-in `Detector`: the same answer for the same text, nothing sent anywhere."""

    def scan(self, text: str) -> Sequence[Found]:
        """Answer what stands in `text`, in order of place; of what overlaps and is alike, the union."""
        shown = text[:SCANNED_CHARACTERS_MAX]
        found = {Found(start, end, kind) for kind, start, end in find_hidden_text(shown)}
        for reading in readings_of(shown):
            for rule in _RULES:
                for kind, start, end in rule(reading):
                    place = reading.span(start, end)
                    found.add(Found(*place, kind))
        return _united(found)[:FOUND_MAX]


def _united(found: set[Found]) -> Sequence[Found]:
    united: list[Found] = []
    last_of: dict[Kind, int] = {}
    for one in sorted(found):
        place = last_of.get(one.kind)
        if place is not None and one.start < united[place].end:
            united[place] = Found(united[place].start, max(united[place].end, one.end), one.kind)
        else:
            last_of[one.kind] = len(united)
            united.append(one)
    return united
