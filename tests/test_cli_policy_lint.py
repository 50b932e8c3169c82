"""With `--tenant`, lint compares times with the legal holds that stand in that tenant, and in no other."""

from datetime import timedelta
from pathlib import Path

import pytest
from cli_shell import Shell
from policies_lint_files import bundle_with

from service.entry.cli.opening import open_registry
from service.governance.model import Hold, HoldScope
from service.governance.store_holds import HoldStore

POLICIES = Path(__file__).parents[1] / "policies"


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("MUNIMENT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("MUNIMENT_POLICIES_DIR", str(POLICIES))
    shell = Shell(capsys, tmp_path)
    for tenant in ("acme", "globex"):
        shell.run("tenants", "create", tenant)
    return shell


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in bundle_with().items():
        (tmp_path / "rules" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "rules" / name).write_text(text)
    return tmp_path / "rules"


def _hold(tenant: str, *days: int | None, released: bool = False) -> None:
    with open_registry() as registry, registry.write(registry.tenant(tenant).id) as unit:
        for lasts in days:
            until = None if lasts is None else unit.now + timedelta(days=lasts)
            hold_id = unit.ids()
            hold = Hold(hold_id, HoldScope.SUBJECT, "0" * 64, "a lawsuit", until, "ann", unit.now)
            HoldStore.of(unit).add(hold)
            if released:
                HoldStore.of(unit).release(hold_id, at=unit.now, by="ann")


def test_live_holds_of_the_tenant_alone_are_told(shell: Shell, folder: Path) -> None:
    _hold("acme", None, 400, 30, -1)
    _hold("acme", 500, released=True)
    lint = ("policy", "lint", str(folder))

    acme, globex = (shell.json(*lint, "--tenant", tenant)["findings"] for tenant in ("acme", "globex"))
    without = shell.json(*lint)["findings"]

    assert (globex, without) == ([], [])
    assert [(one["code"], one["path"]) for one in acme] == [
        ("expiry_before_hold", "classes.note.expiry.days")
    ]
    assert acme[0]["message"].startswith("2 live legal holds of the tenant last longer than these 120 days")
    shell.run(*lint, "--tenant", "acme", "--strict", code=1)
    shell.run(*lint, "--tenant", "nobody", code=1)
