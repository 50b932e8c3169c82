"""Builds what reaches out: connectors, source readers, and the workers that deliver commands."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from service.executions.delivery.model import DELIVER_TOPIC
from service.executions.ports import (
    NO_CONNECTORS,
    NO_SOURCE_READERS,
    Compactor,
    Connectors,
    SourceReaders,
)
from service.identity.directory import TenantDirectory
from service.jobs.delivery_workers import DeliveryWorkers
from service.jobs.relay import Relay
from service.jobs.system_unit import SystemUnits
from service.settings import Settings


@dataclass(frozen=True, slots=True)
class Outside:
    """What a process reaches out with. `deliveries` is `None` where no connector is registered."""

    connectors: Connectors = NO_CONNECTORS
    readers: SourceReaders = NO_SOURCE_READERS
    deliveries: DeliveryWorkers | None = None


def build_outside(settings: Settings, units: SystemUnits) -> Outside:
    """Make what the settings register, reading the files of secrets. Raises `HeaderFileUnreadable`."""
    if not settings.connectors and not settings.source_readers:
        return Outside()
    # The HTTP client is loaded only where something is registered.
    from service.adapters.downstream_connectors import HttpConnectors  # noqa: PLC0415
    from service.adapters.downstream_sources import HttpSourceReaders  # noqa: PLC0415

    directory = TenantDirectory(units.database)
    connectors = HttpConnectors(settings.connectors, tenant_name=directory.name_of)
    readers = HttpSourceReaders(settings.source_readers, tenant_name=directory.name_of)
    if not settings.connectors:
        return Outside(connectors, readers)
    named = {name for connector in settings.connectors.values() for name in connector.tenants}
    return Outside(connectors, readers, _workers(connectors, units, directory, named))


def build_compactor(settings: Settings) -> Compactor | None:
    """Make the model that writes summaries, if the settings name one."""
    if settings.compactor_url is None or settings.compactor_model is None:
        return None
    from service.adapters.openai_compactor import OpenAICompactor  # noqa: PLC0415 - as above

    return OpenAICompactor(
        settings.compactor_url,
        settings.compactor_model,
        settings.compactor_key,
        timeout_seconds=settings.compactor_timeout_seconds,
        chance=partial(secrets.token_hex, 16),
    )


def _workers(
    connectors: Connectors, units: SystemUnits, directory: TenantDirectory, tenants: Iterable[str]
) -> DeliveryWorkers:
    # It reads policies, whose parser the commands of the registry never need.
    from service.jobs.deliver_effects import EffectDelivery  # noqa: PLC0415

    handlers = {DELIVER_TOPIC: EffectDelivery(units, connectors)}
    relay = Relay(units.database, handlers, units.clock, fails_apart=True)
    return DeliveryWorkers(relay, lambda: directory.ids_of(tenants))
