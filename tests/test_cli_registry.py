"""The command line makes tenants, projects and keys, says what is wrong in a line, and tells no secret."""

import json
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from cli_shell import Shell
from sqlalchemy import text

from service.core.clock import system_clock
from service.core.errors import Unauthenticated
from service.identity.authenticate import authenticate

ROOT = Path(__file__).parents[1]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("MUNIMENT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("MUNIMENT_POLICIES_DIR", str(ROOT / "policies"))
    monkeypatch.setenv("COLUMNS", "200")
    return Shell(capsys, tmp_path)


@pytest.fixture
def acme(shell: Shell) -> Shell:
    shell.run("tenants", "create", "acme")
    shell.run("projects", "create", "--tenant", "acme", "--name", "alpha", "--member", "user-1")
    return shell


def test_a_tenant_is_founded_with_its_policies(shell: Shell) -> None:
    made = shell.json("tenants", "create", "acme")

    assert made["name"] == "acme"
    assert made["policy_version"].startswith("sha256:")
    assert [each["name"] for each in shell.json("tenants", "list")["items"]] == ["acme"]
    assert shell.json("audit", "verify", "--tenant", "acme")["intact"]


def test_a_tenant_without_policies_is_not_founded(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_POLICIES_DIR", str(shell.folder / "nowhere"))

    output, errors = shell.run("tenants", "create", "acme", code=2)

    assert output == ""
    assert "there is no such folder" in errors
    assert shell.json("tenants", "list") == {"items": []}


def test_a_delegated_key_is_made_as_promised(acme: Shell) -> None:
    words = "keys create --tenant acme --role agent --subject agent-1 --on-behalf-of user-1 --project alpha"

    made = acme.json(*words.split(), "--expires-in", "30d", "--source", "register", "--source", "bank")

    assert (made["role"], made["subject"], made["on_behalf_of"]) == ("agent", "agent-1", "user-1")
    assert (made["project"], made["sources"], made["tenant"]) == ("alpha", ["bank", "register"], "acme")
    assert (made["member_added"], made["warnings"]) == (True, [])
    lifetime = datetime.fromisoformat(made["expires_at"]) - datetime.fromisoformat(made["created_at"])
    assert lifetime == timedelta(days=30)
    database = acme.database
    caller = authenticate(database, made["token"], system_clock())
    database.close()
    assert (caller.credential_id, caller.sub, caller.act) == (made["id"], "user-1", "agent-1")
    assert {project.name for project in caller.projects} == {"alpha"}


def test_a_key_that_reaches_nothing_is_made_and_warned_about(acme: Shell) -> None:
    words = "keys create --tenant acme --role agent --subject a --on-behalf-of user-9 --project alpha --json"

    output, errors = acme.run(*words.split())

    assert json.loads(output)["warnings"] == ["user_not_a_member"]
    assert errors.startswith("Warning: ")


def test_no_command_tells_a_secret_again(acme: Shell) -> None:
    made = acme.json("keys", "create", "--tenant", "acme", "--role", "user", "--subject", "user-1")
    secret = made["token"].rsplit("_", 1)[1]
    database = acme.database
    with database.read(None) as session:
        secret_hash = session.connection().execute(text("SELECT secret_hash FROM api_keys")).scalar_one()
    database.close()

    shown = [
        acme.run("keys", "list", "--tenant", "acme"),
        acme.run("keys", "list", "--tenant", "acme", "--json"),
    ]
    shown += [acme.run("keys", "revoke", made["id"], "--json"), acme.run("settings", "--json")]

    assert all(secret not in part and secret_hash not in part for pair in shown for part in pair)
    assert all(made["id"] in output for output, _ in shown[:3])


def test_a_revoked_key_ends_and_is_listed_so(acme: Shell) -> None:
    made = acme.json("keys", "create", "--tenant", "acme", "--role", "user", "--subject", "user-1")

    acme.run("keys", "revoke", made["id"])
    acme.run("keys", "revoke", made["id"], "--tenant", "acme")

    [listed] = acme.json("keys", "list", "--tenant", "acme")["items"]
    assert listed["state"] == "revoked"
    database = acme.database
    with pytest.raises(Unauthenticated):
        authenticate(database, made["token"], system_clock())
    database.close()


def test_members_come_and_go(acme: Shell) -> None:
    place = ("--tenant", "acme", "--name", "alpha")

    assert acme.json("projects", "add-member", *place, "--subject", "user-2")["added"]
    assert not acme.json("projects", "add-member", *place, "--subject", "user-2")["added"]
    members = acme.json("projects", "members", *place)["items"]
    assert [each["subject"] for each in members] == ["user-1", "user-2"]
    assert acme.json("projects", "remove-member", *place, "--subject", "user-2")["removed"]
    acme.run("projects", "remove-member", *place, "--subject", "user-2", code=1)
    assert [each["name"] for each in acme.json("projects", "list", "--tenant", "acme")["items"]] == ["alpha"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("tenants create acme", 1),
        ("projects create --tenant acme --name alpha", 1),
        ("projects create --tenant nobody --name beta", 1),
        ("projects add-member --tenant acme --name beta --subject user-1", 1),
        ("keys create --tenant nobody --role agent --subject a", 1),
        ("keys create --tenant acme --role agent --subject a --project beta", 1),
        ("keys revoke mzo6mcbol2gh2mgd", 1),
        ("audit verify --tenant nobody", 1),
        ("tenants create .acme", 2),
        ("keys create --tenant acme --role system --subject a", 2),
        ("keys create --tenant acme --role user --subject a --on-behalf-of b", 2),
        ("keys create --tenant acme --role agent --subject a --expires-in soon", 2),
        ("keys create --tenant acme --role sultan --subject a", 2),
        ("keys create --tenant acme", 2),
        ("keys", 2),
        ("no-such-command", 2),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_a_code(acme: Shell, words: str, code: int) -> None:
    output, errors = acme.run(*words.split(), code=code)

    if words != "keys":
        assert output == ""
        assert errors.strip()
    assert "Traceback" not in errors


def test_a_setting_that_is_wrong_is_named_without_its_value(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUNIMENT_MASTER_KEY", "hunter2")
    assert "base64" in shell.run("tenants", "list", code=2)[1]
    monkeypatch.setenv("MUNIMENT_PORT", "hunter3")

    output, errors = shell.run("tenants", "list", code=2)

    assert output == ""
    assert errors.startswith("MUNIMENT_PORT: ")
    assert "hunter" not in errors
    monkeypatch.setenv("MUNIMENT_PORT", "1")
    monkeypatch.setenv("MUNIMENT_FAILPOINTS", "hunter4")
    assert "hunter" not in shell.run("tenants", "list", code=2)[1]


def test_a_key_store_in_the_record_is_refused(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE", "KEYSTORE"):
        monkeypatch.setenv(f"MUNIMENT_{name}_URL", "postgresql://muniment:hunter2@db/muniment")
    monkeypatch.setenv("MUNIMENT_MASTER_KEY", "hunter2")

    _, errors = shell.run("settings", code=2)

    assert "must stand apart" in errors
    assert "hunter2" not in errors


def test_settings_hide_secrets_and_passwords_in_addresses(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUNIMENT_DATABASE_URL", "postgresql://muniment:hunter2@db/muniment")
    monkeypatch.setenv("MUNIMENT_QDRANT_URL", "https://name:hunter2@index.example:6333")
    monkeypatch.setenv("MUNIMENT_QDRANT_API_KEY", "hunter2")

    for words in (["settings"], ["settings", "--json"]):
        output, errors = shell.run(*words)
        assert "hunter2" not in output + errors
        assert "MUNIMENT_DATABASE_URL" in output
        assert "index.example" in output


def test_a_broken_trail_is_a_no(acme: Shell) -> None:
    database = acme.database
    with database.write(None) as session:
        session.connection().execute(text("UPDATE audit_events SET ref = 'other' WHERE sequence = 2"))
    database.close()

    verdict = acme.json("audit", "verify", "--tenant", "acme", code=1)

    assert (verdict["fault"], verdict["first_bad_sequence"]) == ("content_altered", 2)


def test_commands_of_the_registry_load_neither_index_nor_model() -> None:
    heavy = ["qdrant_client", "qdrant_edge", "wordllama", "tiktoken", "fastapi", "numpy", "ruamel.yaml"]
    script = (
        "import sys; import service.entry.cli.keys, service.entry.cli.projects, service.entry.cli.audit;"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    begun = time.monotonic()

    finished = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert finished.stdout.strip() == "[]"
    assert time.monotonic() - begun < 20
