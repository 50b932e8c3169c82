"""What happens around an evaluation: a busy service, a policy that changes, hostile names, notes."""

import io
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from conftest import FixedClock, sqlite_record
from evaluate_world import RATES, answer, asked, evaluation, tried
from evidence_site import POLICIES, body, open_evidence_site
from http_support import Site
from rich.console import Console
from sqlalchemy import update
from sqlmodel import col

from service.client import Muniment, Problem
from service.entry.evaluate.ask import Asker
from service.entry.evaluate.evaluate import EvaluationStopped, evaluate
from service.entry.evaluate.model import Budget, Refused
from service.entry.evaluate.report_table import notes, print_report
from service.policies.load import load_bundle
from service.policies.read_folder import read_folder
from service.policies.store import PolicyStore
from service.policies.tables import PolicyActiveRow

BUDGET = Budget(2_000, 0, None, None)


class Gate(httpx.BaseTransport):
    """Passes calls on to a site, after it has refused the first few."""

    def __init__(self, site: Site, *refusals: httpx.Response) -> None:
        self._site = site
        self._refusals = list(refusals)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer as the gate or as the service does."""
        if self._refusals:
            return self._refusals.pop(0)
        passed = self._site.client.request(
            request.method,
            str(request.url.raw_path, "ascii"),
            content=request.read(),
            headers=request.headers,
        )
        return httpx.Response(passed.status_code, content=passed.content)


@pytest.fixture
def site(tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    database = sqlite_record(tmp_path / "record.db")
    with open_evidence_site(database, tmp_path / "data", clock) as site:
        headers = site.headers(subject="evaluation")
        for number in range(3):
            made = body(f"Plot {number} is dry.", f"doc://{number}")
            assert site.client.post("/v1/evidence", headers=headers, json=made).status_code == 201
        yield site
    database.close()


def busy(status: int, **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"code": "busy", "detail": "later"}, headers=headers)


def client(site: Site, *refusals: httpx.Response) -> Muniment:
    return Muniment("http://service", site.token(subject="evaluation"), transport=Gate(site, *refusals))


def test_a_busy_service_is_waited_for_as_long_as_it_says_and_the_wait_is_not_measured(site: Site) -> None:
    slept: list[float] = []
    ticks = iter(range(100))
    gates = (busy(429, **{"Retry-After": "7"}), busy(503), busy(429, **{"Retry-After": "9000"}))

    with client(site, *gates) as busy_client:
        asker = Asker(busy_client, BUDGET, seconds=lambda: float(next(ticks)), sleep=slept.append)
        package, seconds = asker.build(asked(1, "doc://1", question="plot 1"), "default")

    assert slept == [7, 2, 60]
    # The clock was read once before each try and once after the last: one tick apart.
    assert seconds == 1.0
    assert {one.uri for one in package.shown if one.uri} == {"doc://0", "doc://1", "doc://2"}


def test_a_service_that_stays_busy_is_given_up_on(site: Site) -> None:
    slept: list[float] = []

    with client(site, *[busy(503) for _ in range(6)]) as busy_client:
        asker = Asker(busy_client, BUDGET, sleep=slept.append)
        with pytest.raises(Problem):
            asker.build(asked(1, "doc://1", question="plot 1"), "default")

    assert slept == [1, 2, 3, 4, 5]


def test_nothing_is_compared_over_two_policies(site: Site) -> None:
    def activate() -> None:
        files = dict(read_folder(POLICIES))
        files["profiles.yaml"] = files["profiles.yaml"].replace("evidence_depth: 50", "evidence_depth: 49", 1)
        tenant_id = site.tenants["acme"]
        with site.runtime.database.write(tenant_id) as session:
            version = load_bundle(files).version
            PolicyStore(session, tenant_id).add_version(version, files, now=site.clock())
            session.connection().execute(
                update(PolicyActiveRow)
                .where(col(PolicyActiveRow.tenant_id) == tenant_id)
                .values(version=version)
            )

    questions = [asked(number, "doc://1", question="plot 1") for number in (1, 2, 3)]
    with client(site) as real, pytest.raises(EvaluationStopped, match="Another policy") as stopped:
        evaluate(questions, ["default"], Asker(real, BUDGET), rates=None, answered=activate)

    assert not stopped.value.is_usage


def test_a_package_of_the_same_key_costs_less_once_its_beginning_is_cached(site: Site) -> None:
    questions = [asked(number, "doc://1", question=f"plot {number}") for number in (0, 1)]

    with client(site) as real:
        (one,) = evaluate(questions, ["default"], Asker(real, BUDGET), rates=RATES, answered=lambda: None)

    first, second = one.answers
    assert not isinstance(first, Refused)
    assert not isinstance(second, Refused)
    assert first.reused_tokens is None
    assert second.reused_tokens is not None
    assert first.cost == first.tokens * RATES.per_million / 1_000_000
    fresh = second.tokens - second.reused_tokens
    expected = fresh * RATES.per_million + second.reused_tokens * RATES.cached_per_million
    assert second.cost == expected / 1_000_000


def test_what_a_reader_must_know_is_said_in_notes() -> None:
    questions = [asked(1, "doc://a"), asked(2, "doc://a"), asked(3, "doc://a")]
    answers = (
        answer(1.0, holds_memories=True),
        answer(1.0, degraded=("evidence",)),
        Refused("budget_too_small", ""),
    )

    said = notes(evaluation(questions, tried("default", *answers)))

    assert [note.partition(":")[2][:20] for note in said] == [
        " 1 questions were re",
        " search was down for",
        " 1 packages hold mem",
    ]
    assert "budget_too_small" in said[0]


def test_names_are_text_to_the_terminal() -> None:
    hostile = "[bold red]x[/] \x1b[2J\u202e [link=https://example.invalid]y[/link]"
    questions = [asked(1, f"doc://{'_'.join(hostile.split())}", name=hostile)]
    profiles = (
        tried("[blink]a[/]", answer(0.0, 0)),
        tried("b", answer(1.0)),
        tried("c", Refused(hostile, "")),
    )
    output = io.StringIO()

    print_report(Console(file=output, width=200, force_terminal=False), evaluation(questions, *profiles))

    shown = output.getvalue()
    assert "[bold red]x[/]" in shown
    assert "[blink]a[/]" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
