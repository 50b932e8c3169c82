"""Whatever is done to the default bundle, lint answers, and each finding has a place inside its file."""

import random
import time
from collections.abc import Mapping
from typing import Final

import pytest
from policies_bundle import default_files

from service.policies.finding_codes import CODES
from service.policies.lint.lint import lint_files

MUTATIONS: Final = 100
"""For each of five beginnings."""
_CORE: Final = ("classes.yaml", "purposes.yaml", "sources.yaml")
_SNIPPETS: Final = (
    "NO", "1.10", "22:30", "-1", "0", "null", "[]", "{}", "agent", "*", "&a", "!!map", "\t", "\x00", "\u202e",
    "#", "- ", ": ", "'", '"', "confidence > 0.9 && confidence < 0.1", "never", "{{", "]]", "\n", "\r\n", "é",
)  # fmt: skip
_RULES: Final = (
    "agent in []", "confidence < 0.2", "sources.exists(s, s.own)", "true", "role == 'agnet'", "1 / 0 == 1",
    "quota_used > 3 || relayed", "sources.all(s, s.trust == 'third_party')", "size(detections) > 0",
    "class_name.matches('a.*')", "sources.map(s, s.uri).size() == 0", "detections.exists(d, d.contains('a'))",
)  # fmt: skip


def _mutated(chance: random.Random) -> Mapping[str, str]:
    whole = {path: text for path, text in default_files().items() if path.endswith(".yaml")}
    names = [*_CORE, *chance.sample(sorted(whole.keys() - set(_CORE)), 1)]
    # Of the files that the core does not need, one at a time: reading them all takes most of the time.
    files = {name: whole[name] for name in names}
    for _ in range(chance.randrange(1, 4)):
        name = chance.choice(names)
        files[name] = _change(files[name], chance)
    if chance.random() < 0.4:
        rules = "".join(
            f"      r{number}:\n        effect: {chance.choice(['deny', 'review', 'permit'])}\n"
            f"        when: {chance.choice(_RULES)}\n        because: so it is.\n"
            for number in range(chance.randrange(1, 5))
        )
        place = f"    quota: {chance.choice([20, 200, 500])}\n"
        files["classes.yaml"] = files["classes.yaml"].replace(place, f"{place}    rules:\n{rules}", 1)
    return files


def _change(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    match chance.randrange(6):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[chance.randrange(len(lines))])
        case 2:
            lines[at] = lines[at].partition(":")[0] + ": " + chance.choice(_SNIPPETS)
        case 3:
            other = chance.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        case 4:
            lines[at] = " " * chance.randrange(9) + lines[at].strip()
        case _:
            cut = chance.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:cut] + chance.choice(_SNIPPETS) + lines[at][cut:]
    return "\n".join(lines)


@pytest.mark.parametrize("beginning", range(5))
def test_lint_answers_whatever_was_done_to_the_default_bundle(beginning: int) -> None:
    chance = random.Random(beginning)  # noqa: S311 - a test is to come out alike each time
    seen: set[str] = set()
    slowest = 0.0
    for _ in range(MUTATIONS):
        files = _mutated(chance)
        started = time.process_time()
        found = lint_files(files)
        slowest = max(slowest, time.process_time() - started)

        assert (found.bundle is None) == any(one.severity.value == "error" for one in found.findings)
        for finding in found.findings:
            seen.add(finding.code)
            text = files[finding.file].split("\n")
            assert finding.code in CODES
            assert 1 <= finding.place.line <= len(text), finding
            assert 1 <= finding.place.column <= len(text[finding.place.line - 1]) + 1, finding

    assert len(seen) > 8, seen
    assert slowest < 5
