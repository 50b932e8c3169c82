"""Who follows the authors' guide, and it alone, gets from an empty folder to a version that counts."""

import re
import shlex
from pathlib import Path
from typing import Final

import pytest
from cli_shell import Shell

from service.entry.cli.opening import open_registry
from service.policies.store import PolicyStore

ROOT: Final = Path(__file__).parents[1]
GUIDE: Final = (ROOT / "docs" / "policy-authors.md").read_text().partition("## Twelve worked examples")[0]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("MUNIMENT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("MUNIMENT_POLICIES_DIR", str(ROOT / "policies"))
    monkeypatch.setenv("COLUMNS", "200")
    shell = Shell(capsys, tmp_path)
    shell.run("tenants", "create", "acme")
    return shell


def commands_of(title: str) -> list[str]:
    """Answer the commands of a part of the guide, without `muniment`."""
    part = GUIDE.partition(f". {title}\n")[2].partition("\n## ")[0]
    assert part, f"the guide has no part called {title}"
    return re.findall(r"^(?:\$ )?muniment (.*)$", part, re.MULTILINE)


def write_folder(folder: Path) -> None:
    """Write what the guide shows: one sentence, and what must come out of it."""
    blocks = re.findall(r"^```yaml\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    sentence = next(block for block in blocks if block.startswith("purposes:"))
    cases = next(block for block in blocks if "\ncases:" in block)
    (folder / "tests").mkdir(parents=True)
    (folder / "preferences.yaml").write_text(sentence)
    (folder / "tests" / "preferences.yaml").write_text(cases)


def active_version(tenant: str = "acme") -> str:
    with open_registry() as registry, registry.read(registry.tenant(tenant).id) as unit:
        active = PolicyStore.of(unit).find_active()
    assert active is not None
    return active.version


def test_from_an_empty_folder_to_a_version_that_counts(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path / "my-policies")
    monkeypatch.chdir(tmp_path / "my-policies")
    admins = [
        shell.json("keys", "create", "--tenant", "acme", "--role", "policy_admin", "--subject", name)["token"]
        for name in ("pat", "kim")
    ]

    for title in ("Look for faults", "Test it"):
        shell.run(*shlex.split(commands_of(title)[0]))
    [simulate] = commands_of("See what it would do")
    simulated, _ = shell.run(*shlex.split(simulate))
    activate = shlex.split(simulated.splitlines()[-1])[1:]
    monkeypatch.setenv("MUNIMENT_TOKEN", admins[0])
    before = active_version()
    _, said = shell.run(*activate)
    waits = active_version() == before
    approve = re.search(r"muniment (policy approve .+)$", said)
    assert approve is not None, "the guide says that a second admin approves what may allow more"
    monkeypatch.setenv("MUNIMENT_TOKEN", admins[1])
    shell.run(*shlex.split(approve[1]))

    # The command that is printed is the one that the guide shows.
    [shown] = commands_of("Make it count")
    assert shlex.split(shown)[:2] == activate[:2]
    assert waits
    assert f"Candidate      {active_version()}" in simulated
    assert active_version() != before
