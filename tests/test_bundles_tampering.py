"""Whatever is changed in a bundle is noticed, and named."""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from bundles_world import Evidence
from conftest import FixedClock, sqlite_record
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from memories_world import memory_world

from service.core.signing import SignatureFault, key_id_of, pem_of
from service.governance.bundle_check import BundleFault, Finding, check_bundle

PAGE = Path(__file__).parents[1] / "docs" / "audit.md"
BYTES_TRIED = 800


@dataclass(frozen=True)
class Taken:
    """A bundle of a memory, and the public key that it must be signed with."""

    content: bytes
    key: bytes

    def findings(self, content: bytes) -> list[tuple[Any, str]]:
        found: list[Finding] = list(check_bundle(content, trusted=self.key).findings)
        return [(each.code, each.where) for each in found]


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Taken]:
    folder = tmp_path_factory.mktemp("bundle")
    database = sqlite_record(folder / "record.db")
    with memory_world(database, folder / "data", FixedClock()) as world:
        evidence = Evidence(world)
        yield Taken(evidence.take("memories", evidence.memory), evidence.key)
    database.close()


def test_it_holds_as_it_was_taken(taken: Taken) -> None:
    assert taken.findings(taken.content) == []


def test_it_holds_for_openssl_as_the_documentation_says(taken: Taken, tmp_path: Path) -> None:
    [recipe] = re.findall(r"```sh\n(.+?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "bundle.json").write_bytes(taken.content)
    (tmp_path / "KEY.pem").write_text(pem_of(taken.key))

    done = subprocess.run(
        ["/bin/sh", "-c", recipe], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout.strip()) == (0, "Signature Verified Successfully"), done.stderr


def test_any_byte_that_is_changed_is_noticed(taken: Taken) -> None:
    unnoticed = []
    for position in range(0, len(taken.content), max(1, len(taken.content) // BYTES_TRIED)):
        changed = bytearray(taken.content)
        changed[position] ^= 1
        if not taken.findings(bytes(changed)):
            unnoticed.append(position)

    assert unnoticed == []


@pytest.mark.parametrize("content", [b"\n", b" ", b"\x00"])
def test_nothing_is_added_unnoticed(taken: Taken, content: bytes) -> None:
    assert taken.findings(taken.content + content)
    assert taken.findings(content + taken.content)
    assert taken.findings(taken.content[:-1])


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        (b'"proposer":"agent', b'"proposer":"Agent', (BundleFault.CONTENT_ALTERED, "proposals")),
        (b'"format":"', b'"format": "', (BundleFault.NOT_CANONICAL, "file")),
        (b"muniment-bundle/1", b"muniment-bundle/9", (BundleFault.FORMAT_UNKNOWN, "format")),
        (b'"made_at":"2026', b'"made_at":"2027', (SignatureFault.INVALID, "signature")),
        (b'"algorithm":"Ed25519"', b'"algorithm":"none"', (SignatureFault.MALFORMED, "signature")),
        (b'"about":{', b'"about":{"id":"x",', (BundleFault.UNREADABLE, "file")),
        (b'"name":"memory"', b'"name":"memories"', (BundleFault.MANIFEST_MISMATCH, "memories")),
        (b'"content_hashes":["sha256:', b'"content_hashes":["sha257:', (BundleFault.CHAIN_BROKEN, "head")),
    ],
)
def test_what_was_changed_is_named(taken: Taken, old: bytes, new: bytes, finding: tuple[Any, str]) -> None:
    assert old in taken.content

    assert finding in taken.findings(taken.content.replace(old, new, 1))


def test_an_event_that_was_changed_is_named_by_its_number(taken: Taken) -> None:
    document = json.loads(taken.content)
    event = document["contents"]["audit"]["events"][-1]
    event["content"]["principal"] = "user:mallory"

    found = taken.findings(json.dumps(document).encode())

    assert (BundleFault.EVENT_ALTERED, f"event {event['sequence']}") in found


def test_a_bundle_of_another_key_does_not_pass_for_ours(taken: Taken) -> None:
    other = Ed25519PrivateKey.generate().public_key().public_bytes_raw()

    found = check_bundle(taken.content, trusted=other).findings

    assert [one.code for one in found] == [SignatureFault.KEY_OTHER]
    assert check_bundle(taken.content, trusted=None).holds
    assert json.loads(taken.content)["signature"]["key_id"] == key_id_of(taken.key)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b"[" * 100_000, b'{"a":1,"a":2}', b"NaN"])
def test_what_is_no_bundle_is_no_bundle(content: bytes) -> None:
    assert not check_bundle(content, trusted=None).holds
