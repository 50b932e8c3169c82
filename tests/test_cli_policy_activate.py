"""At the command line another policy counts by the same rules as over HTTP: key, plan, two persons."""

from pathlib import Path
from typing import Any

import pytest
from cli_shell import Shell

from service.authoring.plan import draft_plan, keep_plan
from service.entry.cli.opening import open_registry
from service.policies.load import load_bundle
from service.policies.read_folder import read_folder

POLICIES = Path(__file__).parents[1] / "policies"
SHORTER = ("days: 365", "days: 364")
LONGER = ("days: 365", "days: 366")


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("MUNIMENT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("MUNIMENT_POLICIES_DIR", str(POLICIES))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("MUNIMENT_TOKEN", raising=False)
    shell = Shell(capsys, tmp_path)
    for tenant in ("acme", "globex"):
        shell.run("tenants", "create", tenant)
    return shell


def _key(shell: Shell, role: str, name: str, tenant: str = "acme") -> str:
    made = shell.json("keys", "create", "--tenant", tenant, "--role", role, "--subject", name)
    return str(made["token"])


def _plan(*changes: tuple[str, str], tenant: str = "acme") -> tuple[str, str]:
    files = {path: text for path, text in read_folder(POLICIES).items() if not path.startswith("tests/")}
    for change in changes:
        files["classes.yaml"] = files["classes.yaml"].replace(*change, 1)
    with open_registry() as registry, registry.write(registry.tenant(tenant).id) as unit:
        candidate = load_bundle(files)
        drafted = draft_plan(candidate, files, unit=unit, days=30, progress=lambda _done, _total: None)
        keep_plan(drafted, unit=unit)
    return drafted.plan.id, drafted.plan.hash


def _history(shell: Shell, tenant: str = "acme") -> list[Any]:
    return list(shell.json("policy", "history", "--tenant", tenant)["items"])


def test_a_plan_is_activated_looser_ones_by_two_and_taken_back(shell: Shell) -> None:
    ann, bob = _key(shell, "policy_admin", "ann"), _key(shell, "policy_admin", "bob")
    acme = ("--tenant", "acme", "--as")

    first, _ = _plan(SHORTER)
    done = shell.json("policy", "activate", first, *acme, ann)
    looser, plan_hash = _plan(LONGER)
    output, errors = shell.run("policy", "activate", looser, *acme, ann, "--hash", plan_hash)
    waiting = _history(shell)[0]
    _, own = shell.run("policy", "approve", waiting["id"], *acme, ann, code=1)
    approved = shell.json("policy", "approve", waiting["id"], *acme, bob)
    back = shell.json("policy", "rollback", *acme, ann)

    assert (done["status"], done["revision"], done["direction"]) == ("active", 2, "stricter")
    assert "pending_second_person" in output
    assert f"muniment policy approve {waiting['id']}" in errors
    assert "Who asked for it is not the second person" in own
    assert (approved["status"], approved["revision"]) == ("active", 3)
    # Back to the shorter time: stricter, so at once.
    assert (back["status"], back["kind"], back["to_version"]) == ("active", "rollback", done["to_version"])
    assert back["cannot_be_undone"] == {"memories_ended": 0, "proposals_denied": 0}
    assert [one["revision"] for one in _history(shell)] == [4, 3, 2]


def test_what_waits_is_called_off(shell: Shell) -> None:
    ann = _key(shell, "policy_admin", "ann")
    plan, _ = _plan(LONGER)
    waiting = shell.json("policy", "activate", plan, "--tenant", "acme", "--as", ann)

    cancelled = shell.json("policy", "cancel", waiting["id"], "--tenant", "acme", "--as", ann)

    assert cancelled["status"] == "cancelled"
    assert [one["revision"] for one in _history(shell)] == [None]


@pytest.mark.parametrize(
    "role", ["policy_author", "agent", "user", "reviewer", "auditor", "admin", "operator"]
)
def test_no_other_role_and_no_foreign_or_broken_key_changes_anything(shell: Shell, role: str) -> None:
    plan, _ = _plan(SHORTER)
    stranger = _key(shell, "policy_admin", "eve", tenant="globex")
    command = ("policy", "activate", plan, "--tenant", "acme", "--as")

    other_role = shell.run(*command, _key(shell, role, "eve"), code=1)
    foreign = shell.run(*command, stranger, code=1)
    unknown = shell.run(*command, stranger[:-3] + "aaa", code=1)
    unnamed = shell.run(*command[:-2], "nobody", "--as", stranger, code=1)

    assert "This key may not do that" in other_role[1]
    # The same sentence: whether a key is wrong or another tenant's is nobody's business.
    assert foreign == unknown
    assert stranger[:20] not in "".join((*foreign, *unknown, *unnamed))
    assert _history(shell) == []
    assert _history(shell, "globex") == []


def test_a_wrong_hash_an_unknown_plan_or_no_key_is_one_sentence(shell: Shell) -> None:
    ann = _key(shell, "policy_admin", "ann")
    plan, plan_hash = _plan(SHORTER)
    wrong = plan_hash[:-4] + "0000"
    acme = ("--tenant", "acme")

    assert "hash" in shell.run("policy", "activate", plan, *acme, "--as", ann, "--hash", wrong, code=1)[1]
    shell.run("policy", "activate", "no-such-plan", *acme, "--as", ann, code=1)
    shell.run("policy", "activate", plan, *acme, code=2)
    shell.run("policy", "rollback", *acme, "--as", ann, "--to", "sha256:" + "1" * 64, code=1)
    assert _history(shell) == []


def test_the_key_comes_from_the_environment_too(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_TOKEN", _key(shell, "policy_admin", "ann"))
    plan, _ = _plan(SHORTER)

    assert shell.json("policy", "activate", plan, "--tenant", "acme")["revision"] == 2
