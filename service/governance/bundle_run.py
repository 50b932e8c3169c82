"""The evidence bundle of one run."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from service.context.explain import explain_package
from service.core.signing import Signer
from service.executions.acceptance.model import Check
from service.executions.approvals.model import Approval
from service.executions.facts import Facts, gather
from service.executions.handoff import compose_handoff
from service.executions.ledger.model import Effect
from service.executions.model import Execution
from service.executions.store import ExecutionStore
from service.governance.bundle import policies_of, write_bundle
from service.governance.bundle_proof import BundleTooLarge, prove
from service.governance.store_bundle import BundleStore
from service.identity.unit import Unit
from service.policies.model import Bundle

PACKAGES_MAX: Final = 500
"""Most packages of one bundle."""


def bundle_of_run(execution_id: str, *, unit: Unit, bundle: Bundle, signer: Signer) -> str:
    """Answer the signed bundle of a run that the caller may read. Raises `NotFound`, `BundleTooLarge`."""
    facts = gather(execution_id, unit=unit, bundle=bundle)
    store, rows = ExecutionStore.of(unit), BundleStore.of(unit)
    packages = _packages(rows.package_ids(execution_id, limit=PACKAGES_MAX + 1), unit)
    versions = [package["policy_version"] for package in packages]
    versions += [approval.policy_version for approval in facts.approvals]
    contents = {
        "execution": _execution(facts.execution),
        "handoff": _handoff(facts),
        "approvals": [_approval(approval) for approval in facts.approvals],
        "effects": [_effect(effect) for effect in facts.effects],
        "candidates": [
            {"id": one.id, "artifact_hash": one.artifact_hash, "by": one.by, "at": one.at}
            for one in facts.candidates
        ],
        "checks": [_check(check) for check in store.checks(execution_id)],
        "packages": packages,
        "policies": policies_of(versions, unit),
        "erasures": rows.erasures("execution", execution_id),
        "audit": prove(
            {
                "execution": [execution_id],
                "package": [package["id"] for package in packages],
                "erasure": [erasure["id"] for erasure in rows.erasures("execution", execution_id)],
            },
            unit=unit,
        ),
    }
    return write_bundle({"kind": "execution", "id": execution_id}, contents, unit=unit, signer=signer)


def _packages(package_ids: Sequence[str], unit: Unit) -> list[dict[str, Any]]:
    if len(package_ids) > PACKAGES_MAX:
        raise BundleTooLarge
    return [_package(package_id, unit) for package_id in package_ids]


def _package(package_id: str, unit: Unit) -> dict[str, Any]:
    explained = explain_package(package_id, unit=unit)
    package = explained.package
    return {
        "id": package.id,
        "created_at": package.created_at,
        "acting_user": package.acting_user,
        "built_by": package.built_by,
        "purpose": package.purpose,
        "digest": package.digest,
        "policy_version": explained.manifest["policy_version"],
        "manifest": explained.manifest,
    }


def _execution(execution: Execution) -> Mapping[str, Any]:
    return {
        "id": execution.id,
        "project_id": execution.project_id,
        "external_ref": execution.external_ref,
        "version": execution.version,
        "status": execution.status,
        "ended_reason": execution.ended_reason,
        "step": execution.step,
        "acting_user": execution.acting_user,
        "agent": execution.agent,
        "contract_hash": execution.contract_hash,
        "contract_origin": execution.contract_origin,
        "contract_confirmed": execution.contract_confirmed,
        "requirements": execution.requirement_ids,
        "created_at": execution.created_at,
        "updated_at": execution.updated_at,
    }


def _handoff(facts: Facts) -> Mapping[str, Any]:
    handoff = compose_handoff(facts)
    return {
        "revision": handoff.revision,
        "contract_hash": handoff.contract_hash,
        "artifact_hash": handoff.artifact_hash,
        "completed": handoff.completed,
        "outputs": [
            {"task_id": task, "name": output.name, "ref": output.ref, "sha256": output.sha256}
            for task, output in handoff.outputs
        ],
        "blockers": [{"kind": one.kind, "ref": one.ref} for one in handoff.blockers],
        "checks": [
            {"requirement": one.requirement, "status": one.status, "check_id": one.check_id}
            for one in handoff.checks
        ],
    }


def _approval(approval: Approval) -> Mapping[str, Any]:
    return {
        "id": approval.id,
        "kind": approval.kind,
        "command_hash": approval.command_hash,
        "status": approval.status,
        "approver_role": approval.approver_role,
        "requested_by": approval.requested_by,
        "acting_user": approval.acting_user,
        "evidence": [
            {"id": one.id, "version": one.version, "sha256": one.sha256} for one in approval.evidence
        ],
        "policy_version": approval.policy_version,
        "created_at": approval.created_at,
        "expires_at": approval.expires_at,
        "decided_by": approval.decided_by,
        "decider_role": approval.decider_role,
        "decided_at": approval.decided_at,
        "operation_id": approval.operation_id,
        "redeemed_at": approval.redeemed_at,
        "moved": approval.moved,
    }


def _effect(effect: Effect) -> Mapping[str, Any]:
    return {
        "operation_id": effect.operation_id,
        "kind": effect.kind,
        "status": effect.status,
        "request_hash": effect.request_hash,
        "command_hash": effect.command_hash,
        "approval_id": effect.approval_id,
        "connector": effect.connector,
        "attempts": effect.attempts,
        "downstream_ref": effect.downstream_ref,
        "by": effect.by,
        "created_at": effect.created_at,
        "dispatched_at": effect.dispatched_at,
        "updated_at": effect.updated_at,
        "failure": effect.failure,
        "settled_basis": effect.settled_basis,
        "settled_by": effect.settled_by,
        "evidence_id": effect.evidence_id,
    }


def _check(check: Check) -> Mapping[str, Any]:
    return {
        "id": check.id,
        "sequence": check.sequence,
        "requirement": check.requirement,
        "passed": check.passed,
        "artifact_hash": check.artifact_hash,
        "contract_hash": check.contract_hash,
        "grader_id": check.grader_id,
        "grader_version": check.grader_version,
        "output_ref": check.output_ref,
        "failure_kind": check.failure_kind,
        "by": check.by,
        "at": check.at,
    }
