"""Many processes, one policy: each sees what counts at its next request; nothing leaves half of one."""

import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psycopg
import pytest
from policies_site import Desk, PolicySite, stricter
from recovery_site import database_at

from service.entry.demo.local_service import LocalServiceFailed
from service.policies.load import load_bundle

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def shared(
    postgresql_address: str, postgresql_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PolicySite]:
    """A tenant in a PostgreSQL database of its own."""
    name = f"p{uuid.uuid4().hex}"  # noqa: TID251 - a name for a throw-away database
    with psycopg.connect(postgresql_address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {postgresql_template}")
    site = PolicySite(tmp_path_factory.mktemp("shared"), database_at(postgresql_address, name))
    site.found()
    yield site
    with psycopg.connect(postgresql_address, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def two(shared: PolicySite) -> Iterator[Desk]:
    """The service that stays up."""
    with shared.serving("two") as desk:
        yield desk


@pytest.fixture(scope="module")
def quotas() -> Iterator[int]:
    """Smaller and smaller numbers: each makes a stricter version than any before."""
    return iter(range(199, 0, -1))


@pytest.fixture
def alone(tmp_path: Path) -> PolicySite:
    """A tenant on the embedded default."""
    site = PolicySite(tmp_path)
    site.found()
    return site


def _trail_holds(site: PolicySite) -> bool:
    return bool(site.run("audit", "verify", "--tenant", "acme")["intact"])


def test_a_broken_folder_replaces_nothing_and_founds_nobody(alone: PolicySite) -> None:
    classes = alone.policies / "classes.yaml"
    good = classes.read_text()
    with alone.serving("first") as desk:
        before = desk.active()
        judged = desk.judged_by()
        quiet = desk.log.read_text()
    classes.write_text(good.replace("quota: 200", "quota: NO", 1))

    with alone.serving("second") as desk:
        after, still = desk.active(), desk.judged_by()
        with pytest.raises(LocalServiceFailed, match=r"classes\.yaml:\d+:\d+: error ambiguous"):
            alone.run("tenants", "create", "other")
        said = desk.log.read_text()
        classes.unlink()
        unmoved = desk.active()

    assert before == after == unmoved
    assert judged == still == before[0]
    assert "policies_folder_broken" not in quiet
    assert "policies_folder_broken" in said
    line = good[: good.index("quota: 200")].count("\n") + 1
    assert f"classes.yaml:{line}:12 ambiguous" in said
    assert "Traceback" not in said
    classes.write_text(good)
    assert [one["name"] for one in alone.run("tenants", "list")["items"]] == ["acme"]
    assert alone.run("tenants", "create", "other")["policy_version"] == before[0]


def test_what_counts_reaches_the_other_process_at_its_next_request(
    shared: PolicySite, two: Desk, quotas: Iterator[int]
) -> None:
    with shared.serving("one") as one:
        version, revision = one.active()
        assert (version, revision) == two.active()
        assert one.judged_by() == two.judged_by() == version
        for here, there in [(one, two), (two, one), (one, two)]:
            candidate = stricter(next(quotas))
            done = here.activate(here.plan(candidate), revision)
            revision += 1

            assert done.status_code == 201, done.text
            version = load_bundle(candidate).version
            assert there.judged_by() == version
            assert there.active() == here.active() == (version, revision)
            assert here.judged_by() == version
        for _ in range(3):
            _race(one, two, quotas)

    history = two.send("GET", "/policies/activations").json()["items"]
    assert [item["status"] for item in history][:6] == ["active", *["superseded"] * 5]
    assert [item["revision"] for item in history] == list(range(revision + 3, 1, -1))
    assert _trail_holds(shared)


def _race(one: Desk, two: Desk, quotas: Iterator[int]) -> None:
    """Several ask at both services for another version in place of one revision: one of them wins."""
    desks = [one, two] * 2
    base = one.active()[1]
    plans = [desk.plan(stricter(next(quotas))) for desk in desks]
    together = threading.Barrier(len(desks))

    def ask(number: int) -> httpx.Response:
        together.wait()
        return desks[number].activate(plans[number], base)

    with ThreadPoolExecutor(len(desks)) as pool:
        answers = list(pool.map(ask, range(len(desks))))

    codes = [answer.status_code for answer in answers]
    assert codes.count(201) == 1, codes
    assert set(codes) <= {201, 409, 412}, codes
    winner = plans[codes.index(201)]["candidate_version"]
    assert one.active() == two.active() == (winner, base + 1)
    assert one.judged_by() == two.judged_by() == winner


@pytest.mark.parametrize(("point", "is_done"), [("before_commit", False), ("after_commit", True)])
def test_a_process_that_dies_while_activating_leaves_one_version_whole(
    shared: PolicySite, two: Desk, quotas: Iterator[int], point: str, is_done: bool
) -> None:
    with shared.serving(point, **{f"http__activate__{point}": "kill"}) as one:
        before = one.active()
        plan = one.plan(stricter(next(quotas)))
        with pytest.raises(httpx.TransportError):
            one.activate(plan, before[1])

    found = two.active()
    assert found == ((plan["candidate_version"], before[1] + 1) if is_done else before)
    _goes_on(shared, two, quotas)


@pytest.mark.parametrize("wait_seconds", [0.005, 0.03])
def test_a_process_killed_at_any_moment_leaves_the_old_or_the_new_version(
    shared: PolicySite, two: Desk, quotas: Iterator[int], wait_seconds: float
) -> None:
    with shared.serving(f"killed-{wait_seconds}") as one:
        before = one.active()
        plan = one.plan(stricter(next(quotas)))
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(one.activate, plan, before[1])
            time.sleep(wait_seconds)
            one.service.process.kill()
            one.service.process.wait()
            is_told = asked.exception() is None and asked.result().status_code == 201

    found = two.active()
    assert found in [before, (plan["candidate_version"], before[1] + 1)]
    assert found != before or not is_told
    _goes_on(shared, two, quotas)


def _goes_on(shared: PolicySite, two: Desk, quotas: Iterator[int]) -> None:
    """No lock and nothing half done is left: the other one decides, activates, and the trail holds."""
    version, revision = two.active()
    assert two.judged_by() == version
    assert two.activate(two.plan(stricter(next(quotas))), revision).status_code == 201
    history = two.send("GET", "/policies/activations").json()["items"]
    assert [item["status"] for item in history].count("active") == 1
    assert _trail_holds(shared)
