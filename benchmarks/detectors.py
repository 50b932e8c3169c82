"""What the detectors find on texts that others labelled, what they find where nothing is, and what it costs.

Every second text, by its position, is held out: rules were changed by looking at totals of the first half
only, so the second half says what they do on texts that nobody looked at.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Final

from benchmarks.figures import Spread, timed
from service.detection.model import Family, Found, Kind
from service.detection.scan import OwnRules

Scan = Callable[[str], Sequence[Found]]

_PII_FILE: Final = "pii_dev.json"
_INJECTION_FILE: Final = "injection_dev.jsonl"
_LABELS: Final = {
    Kind.EMAIL: ("EMAIL_ADDRESS",),
    Kind.PHONE: ("PHONE_NUMBER",),
    Kind.PAYMENT_CARD: ("CREDIT_CARD",),
    Kind.IBAN: ("IBAN_CODE",),
    Kind.NATIONAL_ID: ("US_SSN", "US_DRIVER_LICENSE"),
    Kind.POSTAL_ADDRESS: ("STREET_ADDRESS", "ZIP_CODE"),
}
"""Which labels of the data stand for which of our kinds; others (names, places, dates) are none of ours."""


@dataclass
class Score:
    """Counts of one kind. A stray is a finding where nothing is labelled."""

    labelled: int = 0
    found: int = 0
    answers: int = 0
    strays: int = 0

    def line(self) -> str:
        """Recall and precision, for people."""
        recall = f"{self.found / self.labelled:.3f}" if self.labelled else "    -"
        precision = f"{1 - self.strays / self.answers:.3f}" if self.answers else "    -"
        return f"{self.labelled:8} {recall:>7} {self.answers:9} {self.strays:7} {precision:>10}"


@dataclass
class Halves:
    """The scores of the half that was looked at, and of the one that was held out."""

    scores: tuple[dict[str, Score], dict[str, Score]] = field(
        default_factory=lambda: (defaultdict(Score), defaultdict(Score))
    )

    def show(self, title: str) -> None:
        """Print a table."""
        print(f"\n{title}")
        for name, scores in zip(("looked at", "held out"), self.scores, strict=True):
            print(f"  {name:30} labelled  recall   answers  strays  precision")
            for kind, score in scores.items():
                print(f"    {kind:28} {score.line()}")


def measure_detectors(data_dir: Path | None) -> None:
    """Print recall and false findings for each kind, and the time of a scan."""
    if data_dir is None:
        print("detectors: not measured, give --data FOLDER")
        return
    detector = OwnRules()
    times: list[float] = []
    computed: list[float] = []

    def scan(text: str) -> Sequence[Found]:
        begun = process_time()
        seconds, found = timed(lambda: detector.scan(text))
        computed.append(process_time() - begun)
        times.append(seconds)
        return found

    _personal_data(data_dir / _PII_FILE, scan).show("personal data, by span")
    _instructions(data_dir / _INJECTION_FILE, scan).show("text aimed at a model, by text")
    print(f"\nscan of one text: {Spread(tuple(times)).milliseconds()}")
    print(f"  of which this process computed: {Spread(tuple(computed)).milliseconds()}")


def _personal_data(path: Path, scan: Scan) -> Halves:
    halves = Halves()
    for position, row in enumerate(json.loads(path.read_text())):
        scores = halves.scores[position % 2]
        found = scan(row["full_text"])
        for kind, labels in _LABELS.items():
            spans = [
                (span["start_position"], span["end_position"])
                for span in row["spans"]
                if span["entity_type"] in labels
            ]
            _count(scores[kind.value], spans, [(one.start, one.end) for one in found if one.kind is kind])
        for family in (Family.CREDENTIAL, Family.HEALTH, Family.CATEGORY, Family.INSTRUCTION):
            _count(scores[f"{family.value} (none labelled)"], [], _spans(found, family))
    return halves


def _instructions(path: Path, scan: Scan) -> Halves:
    halves = Halves()
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for position, row in enumerate(rows):
        scores = halves.scores[position % 2]
        found = _spans(scan(row["text"]), Family.INSTRUCTION)
        source = row["source"].partition(":")[0]
        for name in ("all", source):
            score = scores[name]
            score.labelled += row["injection"]
            score.found += row["injection"] and bool(found)
            score.answers += bool(found)
            score.strays += bool(found) and not row["injection"]
    return halves


def _count(score: Score, labelled: Sequence[tuple[int, int]], answers: Sequence[tuple[int, int]]) -> None:
    score.labelled += len(labelled)
    score.found += sum(any(_touch(span, one) for one in answers) for span in labelled)
    score.answers += len(answers)
    score.strays += sum(not any(_touch(span, one) for span in labelled) for one in answers)


def _spans(found: Sequence[Found], family: Family) -> list[tuple[int, int]]:
    return [(one.start, one.end) for one in found if one.family is family]


def _touch(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]
