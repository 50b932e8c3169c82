"""What changes while nobody works: people lose their rights, the policy moves, evidence and releases age."""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from recovery_case import Case
from recovery_line import Line, Told
from recovery_record import read_record
from recovery_site import CASE, CASE_TITLE, CASE_URI, PROJECT
from recovery_tasks import CAPTURE, payment_of
from sqlalchemy import text

from service.audit.record import record
from service.executions.sealed import stable_json
from service.identity.keys import revoke_key
from service.identity.model import NewKey, Role
from service.policies.load import load_bundle
from service.policies.read_folder import read_folder
from service.policies.store import PolicyStore


def replace_reviewer(case: Case) -> None:
    """End the reviewer's key, and give another person one: what the first approved no longer holds."""
    place = case.place
    with place.office() as office:
        office.join(place.tenant_id, PROJECT, "reviewer-2")
        issued = office.issue(place.tenant_id, NewKey(Role.REVIEWER, "reviewer-2"))
        with office.registry.write(place.tenant_id) as unit:
            revoke_key(place.key_ids["reviewer"], unit=unit, trail=record)
    case.tokens["reviewer"] = issued.token


def change_policy(case: Case) -> None:
    """Activate another version of the policy, that says the same and has one purpose more."""
    files = {
        **read_folder(case.place.policies),
        "more.yaml": 'purposes:\n  planning: {description: "Plans."}\n',
    }
    version = load_bundle(files).version
    with case.place.office() as office, office.registry.write(case.place.tenant_id) as unit:
        PolicyStore.of(unit).add_version(version, files, now=unit.now)
        unit.session.connection().execute(
            text("UPDATE policy_active SET version = :version WHERE tenant_id = :tenant"),
            {"version": version, "tenant": case.place.tenant_id},
        )


def leave_project(case: Case) -> None:
    """Take the acting user out of the project."""
    with case.place.office() as office:
        office.leave(case.place.tenant_id, PROJECT, "user-1")


def rejoin_project(case: Case) -> None:
    """Take the acting user in again, and let an operator look at the run and let it go on."""
    with case.place.office() as office:
        office.join(case.place.tenant_id, PROJECT, "user-1")
    line = _line(case, "operator")
    run = line.ask("GET", f"/executions?external_ref={case.external_ref}")["items"][0]
    retried = {"reason": "the user is back"}
    line.call("POST", f"/executions/{run['id']}/retry", retried, version=run["version"])


def let_case_expire(case: Case) -> None:
    """See the case file again with little time left, and wait until that is over."""
    see_case(case, timedelta(seconds=1))
    time.sleep(1.1)


def see_case(case: Case, fresh_for: timedelta) -> None:
    """See the same case file again; it is good for so long from now."""
    until = datetime.now(UTC) + fresh_for  # noqa: TID251 - the service's clock is the wall's
    body = {
        "project": PROJECT,
        "text": CASE,
        "title": CASE_TITLE,
        "source": {"uri": CASE_URI, "kind": "record", "observed_at": "2026-11-30T10:00:00Z"},
        "fresh_until": until.isoformat(),
    }
    _line(case, "agent").call("POST", "/evidence", body)


def age_by_a_release(case: Case) -> None:
    """Leave the run as the release before would have: its checkpoints are of schema version 1."""
    place, old = case.place, read_record(case.place, case.external_ref)
    with place.office() as office, office.registry.write(place.tenant_id) as unit:
        connection = unit.session.connection()
        for row in old.rows["checkpoints"]:
            where = f"checkpoints/{old.execution_id}/{row['version']}/state"
            state = json.loads(unit.cipher.open(row["state"], place=where))["state"]
            sealed = unit.cipher.seal(stable_json(state), subjects=("user-1",), place=where)
            connection.execute(
                text(
                    "UPDATE checkpoints SET schema_version = 1, state = :state"
                    " WHERE execution_id = :run AND version = :version"
                ),
                {"state": sealed, "run": old.execution_id, "version": row["version"]},
            )
        connection.execute(
            text("UPDATE executions SET schema_version = 1 WHERE id = :run"), {"run": old.execution_id}
        )


def act_anyway(case: Case, *, lease: int = -1) -> list[str]:
    """Be a worker that was not killed: try to pay on the old authority; answer what was let through.

    It acts under the last lease that was given out, or under another by its place in their list.
    """
    line = _line(case, "agent")
    answers = [json.loads(one["answer"]) for one in case.told.entries() if one.get("status") == 200]
    tokens = [one["lease"]["fencing_token"] for one in answers if one.get("lease") and "decision" in one]
    line.fencing_token = sorted(set(tokens))[lease]
    before = read_record(case.place, case.external_ref)
    path = f"/executions/{before.execution_id}/effects/{payment_of(case.external_ref)}"
    redeemed = {"command": dict(CAPTURE), "operation_id": payment_of(case.external_ref)}
    # A redemption that is repeated for its operation answers what stands, and leads to nothing.
    tried: list[tuple[str, str, Any]] = [
        ("POST", f"/approvals/{row['id']}/redeem", redeemed)
        for row in before.rows["approvals"]
        if row["status"] != "redeemed"
    ]
    tried.append(("PATCH", path, {"status": "dispatched"}))
    return [
        f"{method} {address} was let through"
        for method, address, body in tried
        if line.call(method, address, body, expect=(200, 403, 404, 409)).status_code == httpx.codes.OK
    ]


def _line(case: Case, who: str) -> Line:
    # What is tried here is no part of what the run's own callers were told.
    return Line(case.address, case.tokens[who], who, Told(case.place.folder / "aside.jsonl"))
