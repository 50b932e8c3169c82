"""What others need of a detector, ours or a vendor's."""

from collections.abc import Sequence
from typing import Protocol

from service.detection.model import Found


class Detector(Protocol):
    """Looks for what policy must know of. It answers signals: nothing is allowed because it found nothing."""

    def scan(self, text: str) -> Sequence[Found]:
        """Answer what stands in `text`, in order of place; the same for the same text, in linear time."""
        ...
