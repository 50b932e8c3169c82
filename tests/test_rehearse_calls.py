"""Proxy and downstream see every call, number it, and cut it where the evaluator chose."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

from service.entry.rehearse.downstream import Downstream
from service.entry.rehearse.loopback import Asked, Told, listening
from service.entry.rehearse.manifest import DownstreamRule
from service.entry.rehearse.model import ActKind, Fate, KillPoint, Moment
from service.entry.rehearse.proxy import Proxy
from service.entry.rehearse.routes import Routes
from service.entry.rehearse.switch import Switch

ROUTES = Routes(["/v1/executions", "/v1/executions/{execution_id}", "/v1/executions/{execution_id}/steps"])
STEP = "POST /executions/*/steps"


@dataclass
class Scene:
    """A switch between a caller and something that answers."""

    switch: Switch
    proxy: str
    downstream: str
    orders: Downstream
    reached: list[Asked] = field(default_factory=list)
    kills: int = 0

    def kill(self) -> None:
        self.kills += 1

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes] | None:
        """Answer status and body; `None` where the connection was cut."""
        base = self.downstream if path.startswith("/orders") or path == "/stock" else self.proxy
        connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=10)
        try:
            content = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
            connection.request(method, path, content, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (http.client.RemoteDisconnected, ConnectionError):
            return None
        finally:
            connection.close()

    def step(self) -> tuple[int, bytes] | None:
        return self.call("POST", "/v1/executions/e1/steps", {"task_id": "a", "exit_status": "started"})


@contextmanager
def scene(*kills: KillPoint, rule: DownstreamRule | None = None, status: int = 201) -> Iterator[Scene]:
    switch = Switch(ROUTES, kills)
    reached: list[Asked] = []

    def upstream(asked: Asked) -> Told:
        reached.append(asked)
        return Told(status, asked.body, (("X-Version", "3"), ("Set-Cookie", "a"), ("Set-Cookie", "b")))

    orders = Downstream(rule or DownstreamRule(), switch)
    with ExitStack() as stack:
        address = stack.enter_context(listening(upstream))
        proxy = stack.enter_context(listening(Proxy(address, switch).answer))
        downstream = stack.enter_context(listening(orders.answer))
        found = Scene(switch, proxy, downstream, orders, reached)
        switch.begin(found.kill)
        yield found


def test_a_call_is_passed_on_as_it_is_and_written_down() -> None:
    with scene() as here:
        answer = here.call("POST", "/v1/executions/e1/steps?x=1", {"task_id": "a"}, Authorization="Bearer t")

        [call] = here.switch.calls
        assert answer == (201, b'{"task_id": "a"}')
        assert (call.number, call.pattern, call.status, call.fate) == (1, STEP, 201, Fate.ANSWERED)
        assert here.reached[0].path == "/v1/executions/e1/steps?x=1"
        assert here.reached[0].header("authorization") == "Bearer t"


def test_a_body_in_chunks_arrives_whole() -> None:
    with scene() as here:
        connection = http.client.HTTPConnection(urlsplit(here.proxy).netloc, timeout=10)
        connection.request("POST", "/v1/executions", iter([b"ab", b"cde"]), encode_chunked=True)
        assert connection.getresponse().read() == b"abcde"
        connection.close()


def test_a_kill_before_a_call_lets_nothing_through() -> None:
    with scene(KillPoint(Moment.BEFORE, STEP, 2)) as here:
        assert here.step() == (201, here.reached[0].body)
        assert here.step() is None

        assert (here.kills, len(here.reached)) == (1, 1)
        assert here.switch.calls[1].fate is Fate.CUT_BEFORE
        assert here.switch.unreached == ()


def test_a_kill_after_a_call_lets_it_happen_and_never_answers() -> None:
    with scene(KillPoint(Moment.AFTER, STEP)) as here:
        assert here.step() is None

        [call] = here.switch.calls
        assert (here.kills, len(here.reached)) == (1, 1)
        assert (call.fate, call.status) == (Fate.CUT_AFTER, 201)


def test_what_a_dead_process_still_sends_is_refused() -> None:
    with scene(KillPoint(Moment.AFTER, STEP)) as here:
        here.step()

        assert here.step() is None
        assert len(here.switch.calls) == 1


def test_occurrences_count_from_the_last_start() -> None:
    with scene(KillPoint(Moment.AFTER, STEP), KillPoint(Moment.BEFORE, STEP, 2)) as here:
        here.step()
        here.switch.begin(here.kill)
        answers = [here.step(), here.step()]

        assert [answer is None for answer in answers] == [False, True]
        assert [call.session for call in here.switch.calls] == [1, 2, 2]
        assert here.kills == 2


def test_a_kill_while_thinking_waits_for_its_time() -> None:
    with scene(KillPoint(Moment.THINKING, STEP, delay_seconds=0.1)) as here:
        assert here.step() is not None
        assert here.kills == 0

        deadline = time.monotonic() + 5
        while here.kills == 0 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert here.kills == 1
        assert here.step() is None


def test_a_process_that_ends_by_itself_is_not_killed_while_thinking() -> None:
    with scene(KillPoint(Moment.THINKING, STEP, delay_seconds=0.1)) as here:
        here.step()
        here.switch.end()
        time.sleep(0.3)

        assert here.kills == 0
        assert len(here.switch.unreached) == 1


def test_calls_at_once_get_a_number_each_and_one_of_them_is_cut() -> None:
    with scene(KillPoint(Moment.BEFORE, STEP, 20)) as here:
        threads = [threading.Thread(target=here.step) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert sorted(call.number for call in here.switch.calls) == list(range(1, 21))
        assert here.kills == 1


def test_a_failure_of_the_service_is_not_the_agents() -> None:
    with scene(status=500) as here:
        here.step()

        assert [fault.code for fault in here.switch.faults] == ["service_failed"]
    with scene(status=503) as here:
        here.step()
        assert here.switch.faults == ()


def test_the_downstream_carries_a_repeated_order_out_again() -> None:
    with scene() as here:
        for _ in range(2):
            here.call("POST", "/orders", {"sku": "A1"}, **{"Idempotency-Key": "op-1"})

        assert [order.operation_id for order in here.orders.orders] == ["op-1", "op-1"]
        assert len({order.content for order in here.orders.orders}) == 1
        assert here.switch.calls[0].act is not None
        assert here.switch.calls[0].act.kind is ActKind.ORDER


def test_a_downstream_that_keeps_repeats_answers_the_first() -> None:
    with scene(rule=DownstreamRule(repeats="kept")) as here:
        first = here.call("POST", "/orders", {"operation_id": "op-1", "sku": "A1"})
        second = here.call("POST", "/orders", {"operation_id": "op-1", "sku": "A1"})

        assert first is not None
        assert second is not None
        assert (first[0], second[0], first[1]) == (201, 200, second[1])
        assert len(here.orders.orders) == 1


def test_an_order_can_be_looked_up_also_when_its_answer_was_lost() -> None:
    with scene(KillPoint(Moment.AFTER, "downstream POST /orders")) as here:
        assert here.call("POST", "/orders", {"sku": "A1"}, **{"Idempotency-Key": "op-1"}) is None
        here.switch.begin(here.kill)

        found = here.call("GET", "/orders/op-1")
        assert found is not None
        assert json.loads(found[1])["reference"] == "orders-0001"
        assert here.call("GET", "/orders/op-2") == (404, b"")
        assert [call.act for call in here.switch.calls[1:]] == [None, None], "a look-up is no work"


def test_documents_are_read_and_orders_that_mean_nothing_refused() -> None:
    with scene(rule=DownstreamRule(documents={"/stock": "paper: 2"})) as here:
        assert here.call("GET", "/stock") == (200, b"paper: 2")
        assert here.call("POST", "/orders", b"[1]") == (400, b"")
        assert here.call("POST", "/orders", b"{") == (400, b"")
        assert here.orders.orders == ()


@pytest.mark.parametrize(
    ("method", "path", "pattern"),
    [
        ("GET", "/v1/executions", "GET /executions"),
        ("GET", "/v1/executions/0192-a?limit=1", "GET /executions/*"),
        ("POST", "/v1/executions/0192-a/steps", STEP),
        ("POST", "/v1/new-things/0192a/parts", "POST /new-things/*/parts"),
    ],
)
def test_calls_are_named_by_their_route(method: str, path: str, pattern: str) -> None:
    with scene() as here:
        here.call(method, path, {})

        assert here.switch.calls[0].pattern == pattern
