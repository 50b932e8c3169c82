"""Conversations, what is asked about them and which turns answer it: read from a LoCoMo file."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

_DIALOG_ID: Final = re.compile(r"D(\d+):(\d+)")
_SESSION: Final = re.compile(r"session_(\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `category`: 1 multi-hop, 2 temporal, 3 open, 4 single-hop, 5 adversarial."""

    text: str
    category: int
    needed: frozenset[str]
    """The dialog ids of the turns that answer it."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One long conversation: each turn as a line of evidence, by dialog id in order, and what is asked."""

    name: str
    turns: dict[str, dict[str, Any]]
    questions: Sequence[Question]


def read_conversations(path: Path) -> Sequence[Conversation]:
    """Read all conversations; evidence that names no turn is skipped, and questions left without any too."""
    return [
        _conversation(f"conversation-{number}", row)
        for number, row in enumerate(json.loads(path.read_text(encoding="utf-8")))
    ]


def _conversation(name: str, row: dict[str, Any]) -> Conversation:
    said = row["conversation"]
    numbers = sorted(int(found[1]) for key in said if (found := _SESSION.fullmatch(key)))
    turns = {
        turn["dia_id"]: _line(name, f"session_{number}", said[f"session_{number}_date_time"], place, turn)
        for number in numbers
        for place, turn in enumerate(said[f"session_{number}"])
    }
    questions = [Question(one["question"], one["category"], _needed(one, turns)) for one in row["qa"]]
    return Conversation(name, turns, [one for one in questions if one.needed])


def _needed(question: dict[str, Any], turns: dict[str, dict[str, Any]]) -> frozenset[str]:
    named = {
        f"D{int(session)}:{int(turn)}"
        for written in question.get("evidence", [])
        for session, turn in _DIALOG_ID.findall(written)
    }
    return frozenset(named & turns.keys())


def _line(project: str, session: str, said_at: str, place: int, turn: dict[str, Any]) -> dict[str, Any]:
    seen = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
    moment = datetime.strptime(said_at.upper(), "%I:%M %p ON %d %B, %Y").replace(tzinfo=UTC)
    return {
        "project": project,
        "text": f"{turn['speaker']}: {turn['text']}{seen}",
        "source": {
            "uri": f"chat://{project}/{turn['dia_id']}",
            "kind": "conversation",
            "observed_at": moment.isoformat(),
        },
        "authority": "conversation",
        "group": {"id": session, "title": said_at, "sequence": place},
    }
