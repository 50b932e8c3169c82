"""Operators and auditors check a trail from the command line, against what was kept elsewhere too."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.entry.cli import main

ROOT = Path(__file__).parents[1]

Run = Callable[..., Any]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in a data folder of its own, with `--json`; answer what it printed."""
    monkeypatch.setenv("MUNIMENT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("MUNIMENT_POLICIES_DIR", str(ROOT / "policies"))

    def run_command(*words: str, code: int = 0) -> Any:
        found = main([*words, "--json"])
        output, errors = capsys.readouterr()
        assert found == code, (output, errors)
        return json.loads(output) if output else errors

    run_command("tenants", "create", "acme")
    return run_command


def grow(run: Run, *names: str) -> None:
    for name in names:
        run("projects", "create", "--tenant", "acme", "--name", name)


def verify(run: Run, *words: str, code: int = 0) -> Any:
    return run("audit", "verify", "--tenant", "acme", *words, code=code)


def test_a_checkpoint_is_written_and_compared(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "acme.checkpoint"

    made = run("audit", "checkpoint", "--tenant", "acme", "--out", str(file))
    grow(run, "alpha")

    told = verify(run, "--checkpoint", str(file))
    assert told["intact"]
    assert told["events"] == made["events"] + 1
    assert told["checkpoints"][0]["hash"] == made["head_hash"]
    assert json.loads(file.read_text())["format"] == "muniment-checkpoint/1"


def test_a_checkpoint_is_never_written_over_another(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "acme.checkpoint"
    run("audit", "checkpoint", "--tenant", "acme", "--out", str(file))
    before = file.read_bytes()

    run("audit", "checkpoint", "--tenant", "acme", "--out", str(file), code=1)

    assert file.read_bytes() == before


def test_a_record_that_was_put_back_is_found_out_by_the_key_store(run: Run, tmp_path: Path) -> None:
    copy = put_aside(tmp_path, "muniment.db")
    grow(run, "alpha")
    verify(run)

    bring_back(copy, tmp_path)

    told = verify(run, code=1)
    assert (told["fault"], told["first_bad_sequence"]) == ("behind_checkpoint", told["events"] + 1)
    run("audit", "checkpoint", "--tenant", "acme", "--out", str(tmp_path / "none"), code=1)
    assert not (tmp_path / "none").exists()


def test_record_and_key_store_put_back_together_are_found_out_by_the_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "acme.checkpoint"
    run("audit", "key")
    copy = put_aside(tmp_path, ".")
    grow(run, "alpha")
    run("audit", "checkpoint", "--tenant", "acme", "--out", str(file))

    bring_back(copy, tmp_path)
    assert verify(run)["intact"], "nothing on the machine remembers"
    grow(run, "beta", "gamma")

    told = verify(run, "--checkpoint", str(file), code=1)
    assert told["fault"] == "checkpoint_mismatch"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda document: document | {"sequence": 1}, 1),
        (lambda document: document | {"tenant_id": "another"}, 2),
        (lambda document: {"format": document["format"]}, 2),
        (lambda document: {**document, "signature": {**document["signature"], "value": "AA=="}}, 1),
    ],
)
def test_a_checkpoint_that_was_changed_is_no_checkpoint(
    run: Run, tmp_path: Path, change: Callable[[dict[str, Any]], dict[str, Any]], code: int
) -> None:
    file = tmp_path / "acme.checkpoint"
    grow(run, "alpha")
    run("audit", "checkpoint", "--tenant", "acme", "--out", str(file))
    file.write_text(json.dumps(change(json.loads(file.read_text()))))

    told = verify(run, "--checkpoint", str(file), code=code)

    assert code == 2 or (told["fault"], told["intact"]) == ("checkpoint_invalid", False)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{", b"x" * 200_000])
def test_a_file_that_is_something_else_means_nothing(run: Run, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "other"
    file.write_bytes(content)

    verify(run, "--checkpoint", str(file), code=2)
    verify(run, "--checkpoint", str(tmp_path / "nowhere"), code=1)


def test_the_public_key_stays_the_same_and_openssl_reads_it(run: Run, tmp_path: Path) -> None:
    shown = run("audit", "key")
    (tmp_path / "key.pem").write_text(shown["pem"])

    assert run("audit", "key") == shown
    assert shown["key_id"].startswith("ed25519:")
    openssl = shutil.which("openssl")
    assert openssl is not None
    read = [openssl, "pkey", "-pubin", "-in", str(tmp_path / "key.pem"), "-noout"]
    assert subprocess.run(read, check=False).returncode == 0


def test_a_bundle_with_a_key_that_is_none_means_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bundle.json").write_text("{}")

    for key in ("A" * 44, "AAAA", str(tmp_path / "bundle.json")):
        run("bundle", "verify", str(tmp_path / "bundle.json"), "--key", key, code=1 if key == "AAAA" else 2)
    assert run("bundle", "verify", str(tmp_path / "bundle.json"), code=1)["findings"]


def put_aside(folder: Path, name: str) -> Path:
    """Copy the record, or all of the data folder, as a backup would."""
    copy = folder / "copy"
    source = folder / "data" / name
    if source.is_dir():
        shutil.copytree(source, copy)
    else:
        copy.mkdir()
        for file in source.parent.glob(f"{name}*"):
            shutil.copy(file, copy)
    return copy


def bring_back(copy: Path, folder: Path) -> None:
    """Put the copy where it came from; what is beside it stays."""
    for file in (folder / "data").rglob("*.db-*"):
        if (copy / file.relative_to(folder / "data")).parent.exists():
            file.unlink()
    shutil.copytree(copy, folder / "data", dirs_exist_ok=True)
