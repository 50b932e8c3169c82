"""Every door by which a person's words enter the service, each with a mark of its own."""

import json
from typing import Any, Final

from canary_world import PERSON, PROJECT, QUOTE, CanaryWorld, mark

from service.core.hashing import hash_text

_SEEN: Final = "2026-11-30T10:00:00Z"
_ARTIFACT: Final = hash_text("build 17")


def enter_by_every_door(world: CanaryWorld) -> None:
    """Let the person, their agent and those who decide about both say something wherever anything is read."""
    run, turn = _open(world)
    _work(world, run)
    _decide(world, run)
    _check(world, run)
    _evidence(world, turn)
    _remember(world, turn)
    _ask(world, run)
    _stop(world)
    _be_refused(world)


def _source(door: str) -> dict[str, Any]:
    return {
        "uri": f"doc://{mark(door + 'uri')}/{PERSON}",
        "kind": "document",
        "source_version": mark(f"{door}version"),
        "observed_at": _SEEN,
    }


def _open(world: CanaryWorld) -> tuple[str, str]:
    consent = {"subject": PERSON, "granted": True, "text_version": mark("consent")}
    for purpose in ("personalisation", "contact"):
        world.call("PUT", f"/consents/{purpose}", "user", consent, expect=200)
    opened = {
        "project": PROJECT,
        "external_ref": mark("externalref"),
        "objective": f"Answer {mark('objective')}",
        "requirements": [{"id": "login", "text": mark("requirement"), "depends_on": [mark("dependson")]}],
    }
    run = world.made("/executions", opened, headers={"X-Request-ID": mark("requestid")})
    world.call("POST", "/executions", "agent", opened, expect=409)
    path = f"/executions/{run}"
    turns = [
        {"role": "user", "text": f"Please {QUOTE}, {mark('turn')}", "pin": {"kind": "constraint"}},
        {
            "role": "assistant",
            "text": "",
            "tool_calls": [{"id": mark("toolcallid"), "name": "look", "input": {"of": mark("toolcall")}}],
        },
        {"role": "tool", "text": mark("toolturn"), "tool_call_id": mark("toolcallid")},
    ]
    first, *_ = [world.made(f"{path}/turns", turn) for turn in turns]
    pin = world.made(f"{path}/pins", {"kind": "question", "text": mark("pin")})
    resolved = {"resolved": True, "resolution": mark("resolution")}
    world.call("PATCH", f"{path}/pins/{pin}", "agent", resolved, expect=200)
    summary = {"from_sequence": 1, "to_sequence": 2, "text": mark("summary"), "model": mark("model")}
    world.made(f"{path}/summaries", summary)
    return run, first


def _work(world: CanaryWorld, run: str) -> None:
    path = f"/executions/{run}"
    for size, door in ((1, "observation"), (3_000, "largeobservation")):
        observed = {
            "source": {**_source(door), "kind": "tool"},
            "content": f"granted {mark(door)} " * size,
            "summary": mark(f"{door}summary"),
            "tool_call_id": mark(f"{door}callid"),
        }
        world.made(f"{path}/observations", observed)
    tasks = [{"id": mark("task"), "title": mark("tasktitle"), "inputs": [mark("taskinput")], "outputs": []}]
    version = {"If-Match": '"1"'}
    put = world.call("PUT", f"{path}/manifest", "agent", {"tasks": tasks}, expect=200, headers=version).json()
    step = {
        "task_id": mark("task"),
        "exit_status": "completed",
        "inputs": [{"ref": mark("stepinput"), "sha256": _ARTIFACT}],
        "outputs": [{"name": mark("outputname"), "ref": mark("outputref"), "sha256": _ARTIFACT}],
        "summary": mark("stepsummary"),
    }
    world.call("POST", f"{path}/steps", "agent", step)
    state = {"plan": [mark("state")], "next_action": mark("nextaction")}
    moved = {"transition": "start", "step": 1, "state": state}
    version = {"If-Match": f'"{put["version"]}"'}
    world.call("POST", f"{path}/checkpoints", "agent", moved, expect=201, headers=version)


def _decide(world: CanaryWorld, run: str) -> None:
    path = f"/executions/{run}"
    for name, settled in (("order-8", "committed"), ("order-9", "unknown")):
        effect = {"operation_id": name, "kind": "orders.create", "request": {"sku": mark("effectrequest")}}
        world.call("POST", f"{path}/effects", "agent", effect, expect=201)
        for status in ("dispatched", settled):
            told = {"status": status, "downstream_ref": mark("downstreamref")}
            world.call("PATCH", f"{path}/effects/{name}", "agent", told, expect=200)
    reconciled = {"outcome": "absent", "reason": mark("reconcilereason")}
    world.call("POST", f"{path}/effects/order-9/reconcile", "operator", reconciled, expect=200)
    for decision in ("approve", "reject"):
        command = {"kind": "orders.create", "sku": mark(f"command{decision}")}
        asked = world.made(f"{path}/approvals", {"command": command, "evidence_ids": []})
        decided = {"decision": decision, "reason": mark(f"approvalreason{decision}")}
        world.call("POST", f"/approvals/{asked}/decision", "reviewer", decided, expect=200)
    waiting = {"kind": "orders.create", "sku": mark("commandwaiting")}
    world.made(f"{path}/approvals", {"command": waiting, "evidence_ids": []})


def _check(world: CanaryWorld, run: str) -> None:
    path = f"/executions/{run}"
    made = {"artifact_hash": _ARTIFACT, "inputs": [{"ref": mark("madeof"), "sha256": _ARTIFACT}]}
    world.call("POST", f"{path}/candidates", "agent", made, expect=201)
    world.call("POST", f"{path}/check-requests", "agent", {"requirements": ["login"]}, expect=201)
    check = {
        "requirement": "login",
        "passed": False,
        "artifact_hash": _ARTIFACT,
        "contract_hash": world.call("GET", path, "agent", expect=200).json()["contract_hash"],
        "grader": {"id": "grader-1", "version": "3"},
        "environment": {"commit": mark("environment")},
        "output_ref": mark("checkoutputref"),
        "expected": mark("expected"),
        "observed": mark("observed"),
        "reproduce": mark("reproduce"),
        "failure_kind": "permission",
    }
    world.call("POST", f"{path}/checks", "grader", check, expect=201)


def _evidence(world: CanaryWorld, turn: str) -> None:
    def about(door: str, **more: Any) -> dict[str, Any]:
        return {
            "project": PROJECT,
            "source": _source(door),
            "title": mark(f"{door}title"),
            "subjects": [PERSON],
            "group": {"id": mark(f"{door}group"), "title": mark(f"{door}grouptitle"), "sequence": 1},
            "metadata": {mark(f"{door}metakey"): mark(f"{door}metadata")},
            **more,
        }

    text = f"About {mark('evidence')}. " * 50
    sent = about("evidence", text=text, readers=[f"user:{PERSON}", "role:reviewer"])
    world.ids["evidence"] = world.made("/evidence", sent, "user")
    derived = about("derived", text=mark("derived"), subjects=[], derived_from=[f"turn:{turn}"])
    world.made("/evidence", derived)
    file = {"file": (f"{mark('filename')}.txt", f"Read {mark('file')}".encode(), "text/plain")}
    meta = {"meta": json.dumps(about("file", title=None))}
    world.call("POST", "/evidence", "user", expect=201, files=file, data=meta)
    lines = [about("batch", text=mark("batch")), {**about("badline", text="x"), mark("badfield"): 1}]
    world.call(
        "POST",
        "/evidence/batch",
        "user",
        expect=200,
        headers={"Content-Type": "application/x-ndjson"},
        content="\n".join([*(json.dumps(line) for line in lines), mark("brokenline")]),
    )
    aside = world.made("/evidence", about("aside", text=mark("aside")), "user")
    reason = {"source": f"evidence:{aside}", "reason": mark("quarantinereason")}
    world.made("/quarantines", reason, "reviewer")
    hold = {"scope": "subject", "ref": PERSON, "basis": mark("holdbasis"), "until": None}
    world.call("DELETE", f"/holds/{world.made('/holds', hold, 'admin')}", "admin", expect=200)
    grep = {"pattern": mark("grep")}
    world.call("POST", f"/evidence/{world.ids['evidence']}/grep", "user", grep, expect=200)


def _proposal(turn: str | None, **changes: Any) -> dict[str, Any]:
    return {
        "project": PROJECT,
        "class": "preference",
        "subject": PERSON,
        "key": mark("key"),
        "text": f"Likes {mark('memory')}",
        "confidence": 0.9,
        "provenance": [] if turn is None else [{"kind": "turn", "id": turn, "quote": QUOTE}],
        "purpose": "personalisation",
        **changes,
    }


def _remember(world: CanaryWorld, turn: str) -> None:
    def propose(body: dict[str, Any], outcome: str) -> dict[str, Any]:
        answer: dict[str, Any] = world.call("POST", "/memory-proposals", "agent", body, expect=201).json()
        assert answer["decision"] == outcome, answer
        return answer

    kept = propose(_proposal(turn), "approved")["memory"]["id"]
    propose(_proposal(None, text=mark("deniedproposal")), "denied")
    propose(_proposal(turn, **{"class": mark("unknownclass")}), "denied")
    pending = [
        propose(_proposal(turn, key=mark(door), text=mark(door), confidence=0.6), "pending_review")["id"]
        for door in ("waiting", "letin", "turneddown")
    ]
    for proposal, decision in zip(pending[1:], ("approve", "reject"), strict=True):
        decided = {"decision": decision, "reason": mark(f"memoryreason{decision}")}
        world.call("POST", f"/memory-proposals/{proposal}/decision", "user", decided, expect=200)
    corrected = {"text": f"Prefers {mark('correction')}", "reason": mark("correctionreason")}
    version = {"If-Match": '"1"'}
    path = f"/memories/{kept}"
    world.call("POST", f"{path}/corrections", "user", corrected, expect=201, headers=version)
    for act in ("pause", "resume"):
        world.call("POST", f"{path}/{act}", "user")
    world.call("GET", f"/subjects/{PERSON}/export", "user")
    world.ids["memory"] = kept


def _ask(world: CanaryWorld, run: str) -> None:
    tool = {
        "name": "look",
        "description": mark("tool"),
        "schema": {"title": mark("schema")},
        "effect": "read",
    }
    asked = {
        "project": PROJECT,
        "execution_id": run,
        "purpose": "personalisation",
        "query": f"What of {mark('memory')} and {mark('packagequery')}?",
        "max_tokens": 6_000,
        "tools": [tool],
    }
    keyed = {"Idempotency-Key": mark("idempotencykey")}
    package = world.made("/context-packages", asked, headers=keyed)
    assert world.made("/context-packages", asked, headers=keyed) == package
    world.call("POST", f"/context-packages/{package}/replay", "agent")
    found = {"query": mark("memorysearch"), "purpose": "personalisation"}
    world.call("POST", "/memories/search", "agent", found, expect=200)
    world.call("POST", "/evidence/search", "agent", {"project": PROJECT, "query": mark("search")}, expect=200)


def _stop(world: CanaryWorld) -> None:
    opened = {"project": PROJECT, "objective": mark("secondobjective"), "requirements": []}
    run = world.made("/executions", opened)
    version = {"If-Match": '"1"'}
    path = f"/executions/{run}/cancel"
    world.call("POST", path, "user", {"reason": mark("cancelreason")}, expect=200, headers=version)


def _be_refused(world: CanaryWorld) -> None:
    named = mark("refused")
    for path, body, status in (
        ("/executions", {"project": named}, 422),
        ("/executions", {named: named}, 422),
        ("/evidence", {"project": PROJECT, "text": named, "source": {"uri": named}}, 422),
        ("/memory-proposals", _proposal(None, purpose=named), 422),
        ("/context-packages", {"project": PROJECT, "purpose": named, "max_tokens": 9}, 422),
    ):
        world.call("POST", path, "agent", body, expect=status, headers={"X-Request-ID": mark("refusedid")})
    as_json = {"Content-Type": "application/json"}
    world.call("POST", "/evidence", "agent", expect=422, content=f'{{"text": "{named}', headers=as_json)
    for path in (f"/memories/{named}", f"/{named}", f"/executions/{named}/content", f"/erasures/{named}"):
        world.call("GET", path, "agent")
    world.call("GET", f"/executions?external_ref={named}&status={named}", "agent")
    world.call("GET", f"/memories?key={named}", f"mun_{named}", expect=401)
    world.call("POST", "/evidence", "agent", {}, headers={"Idempotency-Key": f"{named} {named}"})
    world.call("POST", "/memories/nothing/corrections", "user", {}, headers={"If-Match": named})
