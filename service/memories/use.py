"""`use`: a package has shown memories. Where a class ends what lies idle, their end moves.

Listing, searching, exporting and looking at history are no use: a memory does not live longer because
somebody looked whether it is there.
"""

from collections.abc import Mapping

from service.identity.unit import Unit
from service.memories.store_use import UseStore
from service.policies.active import active_bundle


def note_use(versions: Mapping[str, int], *, unit: Unit) -> None:
    """Note that a package shows these memories now, each in the version given.

    Only what is live and still has that version: what has run out is not revived, and a look at the past is
    no use of the present.
    """
    if not versions:
        return
    bundle = active_bundle(unit)
    expiries = {
        name: rule.expiry
        for name, rule in bundle.classes.items()
        if rule.expiry is not None and rule.expiry.idle_days is not None
    }
    if expiries:
        UseStore.of(unit).note(versions, expiries, now=unit.now)
