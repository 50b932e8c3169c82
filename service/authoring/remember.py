"""The policy that counts, remembered beside the keys: a backup that is put back brings no former one back."""

from datetime import timedelta

from service.audit.model import Action
from service.audit.record import record
from service.authoring.activation import Activation, ActivationKind, ActivationStatus
from service.authoring.realign import ACTIVATED_TOPIC
from service.authoring.shadow_model import ShadowStatus
from service.authoring.store_activations import ActivationStore
from service.authoring.store_shadows import ShadowStore
from service.core.tombstones import RememberedPolicy
from service.identity.unit import Unit
from service.policies.active import active_bundle, kept_bundle
from service.policies.differences import direction_of, rule_changes
from service.policies.store import PolicyStore


def remember_policy(unit: Unit) -> None:
    """Have the ledger know what counts now. It keeps the newest, in whatever order they are told."""
    store = PolicyStore.of(unit)
    active = store.find_active()
    files = None if active is None else store.find_files(active.version)
    if active is not None and files is not None:
        unit.ledger.remember_policy(unit.tenant_id, RememberedPolicy(active.version, active.revision, files))


def bring_policy_forward(unit: Unit) -> bool:
    """Make what counted last count again in a record that was put back; say whether another one stood there.

    It is what persons decided, the second one where one was needed, so it waits for nobody. What waited in
    the copy is called off. The revision goes on from the newest that anybody has seen.
    """
    remembered = unit.ledger.find_policy(unit.tenant_id)
    activations, policies = ActivationStore.of(unit), PolicyStore.of(unit)
    activations.lock()
    active = policies.find_active()
    if remembered is None or active is None or remembered.revision <= active.revision:
        return False
    activations.cancel_waiting()
    former = active_bundle(unit)
    policies.add_version(remembered.version, remembered.files, now=unit.now)
    revision = policies.activate(
        remembered.version, after=active.revision, now=unit.now, beyond=remembered.revision
    )
    if remembered.version == active.version:
        return False
    activations.supersede()
    ShadowStore.of(unit).end_running(ShadowStatus.SUPERSEDED, at=unit.now)
    activations.add(
        Activation(
            id=unit.ids(),
            kind=ActivationKind.RESTORE,
            status=ActivationStatus.ACTIVE,
            direction=direction_of(rule_changes(former, kept_bundle(remembered.version, unit))).value,
            from_version=active.version,
            to_version=remembered.version,
            base_revision=active.revision,
            revision=revision,
            plan_id=None,
            requester=unit.cipher.keyed_hash(f"policy-admin/{unit.caller.subject}"),
            second_person=None,
            created_at=unit.now,
            activated_at=unit.now,
            effective_at=unit.now + timedelta(days=former.guards.shortening_grace_days),
        )
    )
    unit.stage(ACTIVATED_TOPIC)
    record(
        unit,
        Action.POLICY_ACTIVATED,
        kind="policy",
        ref=remembered.version,
        policy_version=active.version,
        mode=ActivationKind.RESTORE.value,
    )
    return True
