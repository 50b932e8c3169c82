"""What detectors find in something that is to be remembered: in its key, text, value and quotes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from service.detection.model import FAMILY_OF, Family, Found, Kind
from service.detection.ports import Detector

_KEY_SEPARATORS = str.maketrans("_.-", "   ")


@dataclass(frozen=True, slots=True, order=True)
class Detected:
    """One finding: characters `start` to `end` (exclusive) of `place`. It holds no words.

    `place` is `key`, `text`, `value` (as `say_value` writes it) or `quote.N`, the quote of citation N from 0.
    """

    place: str
    start: int
    end: int
    kind: Kind

    @property
    def family(self) -> Family:
        """What the finding means to whoever decides."""
        return FAMILY_OF[self.kind]


def detect(
    detector: Detector, *, key: str, text: str | None, value: object, quotes: Iterable[str | None] = ()
) -> tuple[Detected, ...]:
    """Answer all that is found, in order of place.

    Text and value are read behind their key, as people read them: `password` and `swordfish` are harmless
    apart. Quotes count too: they are kept with what they support.
    """
    found: set[Detected] = set()
    for place, words in (("text", text), ("value", None if value is None else say_value(value))):
        if words:
            found.update(_behind_key(detector, key, place, words))
    for number, quote in enumerate(quotes):
        if quote:
            found.update(Detected(f"quote.{number}", *_span(one)) for one in detector.scan(quote))
    return tuple(sorted(found))


def say_value(value: object) -> str:
    """Answer a structured value in words: a scalar as it is, an object as a line for each of its fields."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {say_value(value[name])}" for name in sorted(value))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(say_value(one) for one in value)
    return str(value)


def _behind_key(detector: Detector, key: str, place: str, words: str) -> Iterable[Detected]:
    head = f"{key.translate(_KEY_SEPARATORS)}: "
    for one in detector.scan(head + words):
        if one.end <= len(head):
            yield Detected("key", one.start, min(one.end, len(key)), one.kind)
        else:
            yield Detected(place, max(one.start - len(head), 0), one.end - len(head), one.kind)


def _span(one: Found) -> tuple[int, int, Kind]:
    return one.start, one.end, one.kind
