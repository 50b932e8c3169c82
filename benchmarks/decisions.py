"""What a decision about a proposal takes over HTTP, detectors and all, beside a call that only reads.

What is kept is embedded and written to the index before the answer, so that the next search finds it.
"""

from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx

from benchmarks.figures import Spread, timed
from benchmarks.tenancy import open_client, open_tenant
from service.entry.demo.local_service import LocalService, local_service

_WARM: Final = 30
_DECISIONS: Final = 400
_AIM_MILLISECONDS: Final = 10
_TEXTS: Final = (
    "Prefers concise explanations",
    "Wants dates written as 30 November 2026, and amounts in euro with two decimals.",
    "Likes an example before the rule, then the rule in one sentence, and no summary at the end of a reply.",
    "Reads on a phone in the train: short paragraphs, no tables, links at the end.",
)


def measure_decisions(policies_dir: Path) -> None:
    """Print the time from a proposal to its decision, approved and denied; beside it a bare listing."""
    with TemporaryDirectory() as folder, local_service(Path(folder), policies_dir) as service:
        agent = open_tenant(service, "decisions")
        turns = _consent_and_speak(service, agent)
        approved: list[float] = []
        denied: list[float] = []
        listed: list[float] = []
        for number in range(_WARM + _DECISIONS):
            kept = _proposal(turns, number, confidence=0.9)
            unsure = _proposal(turns, number, confidence=0.1)
            for body, outcome, times in ((kept, "approved", approved), (unsure, "denied", denied)):
                taken, answer = timed(lambda body=body: _send(agent, body))
                assert answer["decision"] == outcome, answer
                times.append(taken)
            listed.append(timed(lambda: agent.get("/memories?limit=1").raise_for_status())[0])
    for name, times in (("approved and kept", approved), ("denied", denied), ("a listing of one", listed)):
        print(f"{name}: {Spread(tuple(times[_WARM:])).milliseconds()}")
    for name, times in (("a kept one", approved), ("a denied one", denied)):
        more = [one - other for one, other in zip(times[_WARM:], listed[_WARM:], strict=True)]
        print(f"{name} over the listing beside it: {Spread(tuple(more)).milliseconds()}")
    print(
        f"aim: p95 under {_AIM_MILLISECONDS} ms; {len(approved) - _WARM} decisions of each kind, one client"
    )


def _consent_and_speak(service: LocalService, agent: httpx.Client) -> list[str]:
    """Give the person's consent in person and answer turns that can be cited, each with every text."""
    key = service.key("decisions", "--project", "alpha", "--role", "user", "--subject", "user-1")
    consent = {"subject": "user-1", "granted": True, "text_version": "2026-11"}
    open_client(service.address, key).put("/consents/personalisation", json=consent).raise_for_status()
    run = {"project": "alpha", "objective": "answer", "requirements": []}
    execution = agent.post("/executions", json=run).raise_for_status().json()["id"]
    said = [{"role": "user", "text": f"Please remember: {text}"} for text in _TEXTS]
    path = f"/executions/{execution}/turns"
    return [str(agent.post(path, json=turn).raise_for_status().json()["id"]) for turn in said]


_keys: Final = count()


def _proposal(turns: list[str], number: int, *, confidence: float) -> dict[str, Any]:
    which = number % len(_TEXTS)
    return {
        "project": "alpha",
        "class": "preference",
        "subject": "user-1",
        # Always one of a few keys: a newer value supersedes, so that the class never fills up.
        "key": f"style_{next(_keys) % 50}",
        "text": f"{_TEXTS[which]} ({number})",
        "confidence": confidence,
        "provenance": [{"kind": "turn", "id": turns[which], "quote": _TEXTS[which][:20]}],
        "purpose": "personalisation",
    }


def _send(agent: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = agent.post("/memory-proposals", json=body).raise_for_status().json()
    return answer
