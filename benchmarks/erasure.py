"""Erasing a person with 10,000 memories beside three full listings of them over HTTP, in turn, as a ratio."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from time import sleep
from typing import Any, Final

import httpx
import structlog
import uvicorn
from sqlalchemy import insert

from benchmarks.figures import Spread, paired_ratio, timed
from benchmarks.tenancy import open_client
from service.core.clock import system_clock
from service.core.ids import new_id
from service.core.outbox import Outbox
from service.entry.demo.local_service import LocalService, environment_of, run_command
from service.entry.http.app import create_app
from service.identity.directory import TenantDirectory
from service.identity.store import IdentityStore
from service.memories.model import Content
from service.memories.sealing import hash_content, memory_place, seal_content
from service.memories.tables import MemoryRow, MemoryVersionRow
from service.settings import Settings
from service.wiring import Runtime, build

MEMORIES: Final = 10_000
_ROUNDS: Final = 3
_LISTINGS: Final = 3
_PAGE: Final = 100
_POLL_SECONDS: Final = 0.02
_PERSON: Final = "user-1"


@dataclass(frozen=True, slots=True)
class _Place:
    runtime: Runtime
    client: httpx.Client


def measure_erasure(policies_dir: Path) -> None:
    """Print what three listings and an erasure take, the erasure from the call to its verified receipt."""
    listed: list[float] = []
    erased: list[float] = []
    with _served(policies_dir) as place:
        for _ in range(_ROUNDS):
            _remember(place.runtime)
            listed.append(timed(lambda: [_list_all(place.client) for _ in range(_LISTINGS)])[0])
            erased.append(timed(lambda: _erase(place.client))[0])
            sleep(2)
    print(f"{_LISTINGS} listings of {MEMORIES} memories at {_PAGE} a page: {_seconds(listed)}")
    print(f"erasing the person, from the call to the verified receipt: {_seconds(erased)}")
    print(f"ratio erasure / listings: {paired_ratio(erased, listed).ratio()} (aim: at most 1)")


def _remember(runtime: Runtime) -> None:
    """Write memories straight into the record, as thousands of approved proposals would, and index them."""
    (tenant_id,) = TenantDirectory(runtime.database).list_ids()
    now, cipher = system_clock(), runtime.ciphers.for_tenant(tenant_id)
    with runtime.database.write(tenant_id) as session:
        project = IdentityStore(session, tenant_id).find_project("alpha")
        assert project is not None
        ids = [new_id() for _ in range(MEMORIES)]
        contents = [
            Content(_PERSON, f"key-{number}", f"Prefers answers of kind {number}", None, ())
            for number in range(MEMORIES)
        ]
        whose = cipher.keyed_hash(_PERSON)
        shared: dict[str, Any] = {"tenant_id": tenant_id, "version": 1}
        memory = shared | {
            "project_id": project.id,
            "class_name": "workflow_setting",
            "scope_key": whose,
            "subject_hash": whose,
            "status": "active",
            "purpose": "service",
            "trust": "first_party",
            "policy_version": "sha256:0",
            "lawful_basis": "contract",
            "created_at": now,
            "confirmed_at": now,
            "expires_at": now + timedelta(days=100),
        }
        version = shared | {"provenance": [], "confidence": 0.9, "trust": "first_party", "tokens": 6}
        version |= {"act": "proposed", "by": f"user:{_PERSON}", "at": now}
        pairs = list(zip(ids, contents, strict=True))
        connection = session.connection()
        connection.execute(
            insert(MemoryRow),
            [memory | {"id": name, "key_hash": cipher.keyed_hash(content.key)} for name, content in pairs],
        )
        connection.execute(
            insert(MemoryVersionRow),
            [
                version
                | {
                    "memory_id": name,
                    "content": seal_content(content, cipher=cipher, place=memory_place(name, 1)),
                    "content_hash": hash_content(content, cipher=cipher),
                }
                for name, content in pairs
            ],
        )
        payloads = [{"item_id": name, "version": 1} for name in ids]
        Outbox(session, tenant_id).stage_all("memory.changed", payloads, ids=new_id, now=now)
    while runtime.index.count(tenant_id) < MEMORIES:
        runtime.relay.drain(tenant_id)


def _list_all(client: httpx.Client) -> None:
    seen, cursor = 0, None
    while True:
        query: dict[str, Any] = {"limit": _PAGE} | ({"cursor": cursor} if cursor else {})
        page = client.get("/memories", params=query).raise_for_status().json()
        seen, cursor = seen + len(page["items"]), page["next_cursor"]
        if cursor is None:
            assert seen == MEMORIES, f"{seen} memories were listed"
            return


def _erase(client: httpx.Client) -> None:
    begun = client.delete(f"/subjects/{_PERSON}").raise_for_status().json()
    while True:
        erasure = client.get(f"/erasures/{begun['id']}").raise_for_status().json()
        if erasure["status"] == "completed":
            return
        sleep(_POLL_SECONDS)


@contextmanager
def _served(policies_dir: Path) -> Iterator[_Place]:
    """A runtime in this process behind a real HTTP server on a thread, so that the record can be filled."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with TemporaryDirectory() as name:
        folder = Path(name)
        environment = environment_of(folder, policies_dir)
        run_command(environment, "tenants", "create", "erasure")
        run_command(
            environment, "projects", "create", "--tenant", "erasure", "--name", "alpha", "--member", _PERSON
        )
        runtime = build(
            Settings(data_dir=folder / "data", policies_dir=policies_dir, requests_per_minute=1_000_000)
        )
        config = uvicorn.Config(create_app(runtime), port=0, log_config=None, access_log=False)
        server = uvicorn.Server(config)
        thread = Thread(target=server.run)
        thread.start()
        try:
            while not server.started:
                sleep(0.01)
            port = server.servers[0].sockets[0].getsockname()[1]
            token = LocalService("", None, environment).key(
                "erasure", "--project", "alpha", "--role", "user", "--subject", _PERSON
            )
            with open_client(f"http://127.0.0.1:{port}", token) as client:
                yield _Place(runtime, client)
        finally:
            server.should_exit = True
            thread.join()
            runtime.close()


def _seconds(values: list[float]) -> str:
    spread = Spread(tuple(values))
    return f"median {spread.median:.2f} s (min {min(values):.2f}, max {max(values):.2f}, n = {len(values)})"
