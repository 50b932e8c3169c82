"""The service is killed at a durable boundary of a run, and a fresh session goes on to the end of it.

`make torture` runs every boundary before and after its commit, each time that the run passes it, on both
databases; the ordinary tests run one of each kind.
"""

from typing import Final

import pytest
from recovery_case import kill_server, opened
from recovery_matrix import BOUNDARIES, DATABASES, Kill, kills, on, passed
from recovery_report import Note, note_case
from recovery_site import Place
from recovery_verdict import judge

ORDINARY: Final = {
    ("sqlite", "http.redeem_approval.after_commit-1"),
    ("postgresql", "http.patch_effect.before_commit-2"),
    ("sqlite", "deliver.after_send-1"),
    ("postgresql", "http.add_check.after_commit-2"),
}
"""A decision used, a result not told, a delivery of the service's own, the end: each takes two starts."""


def _cases() -> list[object]:
    return [
        pytest.param(
            database,
            kill,
            id=f"{kill}-{database}",
            marks=() if (database, str(kill)) in ORDINARY else pytest.mark.torture,
        )
        for kill in kills()
        for database in DATABASES
    ]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("place", "kill"), _cases(), indirect=["place"])
def test_a_fresh_session_goes_on_after_the_service_was_killed(
    place: Place, kill: Kill, record_property: Note
) -> None:
    with opened(place) as case:
        kill_server(case, kill.armed)
        verdict = judge(case)
        note_case(record_property, kill.boundary, verdict.as_json(), verdict.faults)

    assert verdict.faults == []


@pytest.mark.timeout(600)
@pytest.mark.parametrize("place", on("sqlite"), indirect=True)
def test_the_matrix_names_every_write_of_an_uninterrupted_run(place: Place) -> None:
    with opened(place) as case, place.serving(extra=case.extra) as service:
        case.address = service.address
        with case.people():
            case.go_on()
        verdict = judge(case)
        found, strays = passed(case.told)

    assert verdict.faults == []
    assert strays == []
    assert found == {one.point: one.hits for one in BOUNDARIES}
