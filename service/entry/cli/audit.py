"""`muniment audit`: say whether a tenant's trail holds, write down where it ends, and show the public key."""

import os
import stat
from pathlib import Path
from typing import Annotated, Final

import typer

from service.audit.checkpoint import (
    CheckpointMalformed,
    left_behind,
    note_head,
    read_checkpoint,
    write_checkpoint,
)
from service.audit.model import Checkpoint, Fault, Verdict
from service.audit.verify import ChainBroken, verify_chain
from service.core.clock import format_time
from service.core.signing import key_id_of, pem_of
from service.entry.cli.opening import Registry, open_registry
from service.entry.cli.output import AsJson, TenantName, answer

app = typer.Typer(help="Check what was written down.", no_args_is_help=True, add_completion=False)

_FILE_BYTES_MAX: Final = 100_000


@app.callback()
def _audit() -> None:
    """Check what was written down."""


@app.command("verify")
def verify(
    *,
    tenant: TenantName,
    checkpoint: Annotated[
        Path | None, typer.Option("--checkpoint", help="A file that `audit checkpoint` wrote before.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Verify the tenant's whole chain, against what the key store remembers too. Exit code 1 when it fails.

    A checkpoint file that was kept elsewhere also shows a record *and* key store that were both put back.
    """
    with open_registry() as registry:
        tenant_id = registry.tenant(tenant).id
        verdict, compared = _verify(registry, tenant_id, checkpoint)
    answer(
        {
            "tenant": tenant,
            "intact": verdict.intact,
            "events": verdict.events,
            "head_hash": verdict.head_hash,
            "fault": None if verdict.fault is None else str(verdict.fault),
            "first_bad_sequence": verdict.first_bad_sequence,
            "checkpoints": [
                {"sequence": known.sequence, "hash": known.hash, "at": format_time(known.at)}
                for known in compared
            ],
            "restored": [
                f"restored from backup at sequence {rewind.sequence},"
                f" {rewind.former_sequence - rewind.sequence} events left behind, {format_time(rewind.at)}"
                for rewind in (compared[-1].rewinds if compared else ())
            ],
        },
        as_json=as_json,
    )
    if not verdict.intact:
        raise typer.Exit(1)


@app.command("checkpoint")
def checkpoint_now(
    *,
    tenant: TenantName,
    out: Annotated[Path, typer.Option("--out", help="The file to write; it must not be there yet.")],
    as_json: AsJson = False,
) -> None:
    """Verify the tenant's chain and write a signed note of where it ends. Keep the file elsewhere."""
    with open_registry() as registry:
        tenant_id = registry.tenant(tenant).id
        verdict, _ = _verify(registry, tenant_id, None)
        if not verdict.intact:
            raise ChainBroken(f"The chain does not hold from event {verdict.first_bad_sequence}.")
        made = Checkpoint(tenant_id, verdict.events, verdict.head_hash, registry.clock())
        document = write_checkpoint(made, registry.record.witness.signer)
    # Never over another one: an older checkpoint is worth more than a newer one.
    with out.open("x", encoding="utf-8") as file:
        file.write(document + "\n")
    out.chmod(stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH)
    fields = {"tenant": tenant, "events": made.sequence, "head_hash": made.hash, "file": os.fspath(out)}
    answer(fields, as_json=as_json)


@app.command("key")
def public_key(*, as_json: AsJson = False) -> None:
    """Print the public key that checkpoints and evidence bundles are signed with. It is no secret."""
    with open_registry() as registry:
        key = registry.record.witness.signer.public_key
    if as_json:
        answer({"key_id": key_id_of(key), "algorithm": "Ed25519", "pem": pem_of(key)}, as_json=True)
    else:
        typer.echo(pem_of(key), nl=False)


def _verify(registry: Registry, tenant_id: str, file: Path | None) -> tuple[Verdict, list[Checkpoint]]:
    """Read the chain, compare it with what is known of it elsewhere, and remember where it ends."""
    witness = registry.record.witness
    known: list[Checkpoint] = []
    if file is not None:
        given, is_ours = read_checkpoint(_read(file), trusted=witness.signer.public_key)
        if given.tenant_id != tenant_id:
            raise CheckpointMalformed("This checkpoint is of another tenant's chain.")
        if not is_ours:
            return Verdict(0, "", Fault.CHECKPOINT_INVALID, given.sequence), []
        known.append(given)
    try:
        remembered = witness.recall(tenant_id)
    except CheckpointMalformed:
        return Verdict(0, "", Fault.CHECKPOINT_INVALID, 1), []
    # What a checkpoint says of events that a restore left behind is true of them, and of no others.
    known = [given for given in known if left_behind(given, remembered) is None]
    known += [] if remembered is None else [remembered]
    cipher = registry.record.ciphers.for_tenant(tenant_id)
    with registry.record.database.read(tenant_id) as session:
        verdict = verify_chain(session, tenant_id, cipher=cipher, checkpoints=known)
        if verdict.intact:
            note_head(session, tenant_id, cipher=cipher, witness=witness, now=registry.clock())
    return verdict, known


def _read(file: Path) -> str:
    with file.open("rb") as stream:
        content = stream.read(_FILE_BYTES_MAX)
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise CheckpointMalformed from None
