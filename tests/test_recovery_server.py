"""The service is killed at a durable boundary of a run, and a fresh session goes on to the end of it.

`make torture` runs every boundary before and after its commit, each time that the run passes it, on both
databases; the ordinary tests run one of each kind.
"""

from collections.abc import Callable
from typing import Final

import pytest
from recovery_case import kill_server, opened
from recovery_matrix import BOUNDARIES, Kill, kills, passed
from recovery_report import PROPERTY
from recovery_site import Place
from recovery_verdict import judge

Note = Callable[[str, object], None]

ORDINARY: Final = {
    ("sqlite", "http.add_effect.before_commit-1"),
    ("postgresql", "http.patch_effect.after_commit-1"),
    ("sqlite", "http.patch_effect.after_commit-2"),
    ("postgresql", "http.decide_approval.after_commit-1"),
    ("sqlite", "http.redeem_approval.after_commit-1"),
    ("postgresql", "http.make_checkpoint.after_commit-3"),
    ("sqlite", "http.add_candidate.before_commit-1"),
    ("postgresql", "http.add_check.after_commit-2"),
    ("sqlite", "deliver.after_send-1"),
    ("postgresql", "deliver.before_send-1"),
}
"""One of each kind of boundary, on either side of it and on either database."""


def _cases() -> list[object]:
    cases = [(database, kill) for kill in kills() for database in ("sqlite", "postgresql")]
    return [
        pytest.param(
            database,
            kill,
            id=f"{kill}-{database}",
            marks=() if (database, str(kill)) in ORDINARY else pytest.mark.torture,
        )
        for database, kill in cases
    ]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("place", "kill"), _cases(), indirect=["place"])
def test_a_fresh_session_goes_on_after_the_service_was_killed(
    place: Place, kill: Kill, record_property: Note
) -> None:
    with opened(place) as case:
        kill_server(case, kill.armed)
        verdict = judge(case)
        record_property(
            PROPERTY,
            {"boundary": kill.boundary, "faults": verdict.faults, "verdict": verdict.as_json()},
        )

    assert verdict.faults == []


def test_the_matrix_names_every_write_of_an_uninterrupted_run(place: Place) -> None:
    with opened(place) as case, place.serving(extra=case.extra) as service:
        case.address = service.address
        with case.people():
            assert case.go_on() == 0
        verdict = judge(case)
        found, strays = passed(case.told)

    assert verdict.faults == []
    assert strays == []
    assert found == {one.point: one.hits for one in BOUNDARIES}
