"""One process of the agent with all that it started: begun afresh, killed as a whole."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

_INHERITED_NOT: Final = "MUNIMENT_"
_SAID_CHARACTERS_MAX: Final = 2_000


class CommandNotStarted(RuntimeError):
    """The command does not exist or may not be run; the message says which."""


class Session:
    """A running process in a group of its own. Always `kill` it in the end: it takes what is left with it."""

    def __init__(
        self, command: Sequence[str], *, folder: Path, environment: Mapping[str, str], said: BinaryIO
    ) -> None:
        """Start `command` in `folder` with exactly `environment`; what it says goes to `said`.

        Raises `CommandNotStarted`.
        """
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command, run as the user
                list(command),
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as failure:
            raise CommandNotStarted(f"{command[0]}: {failure.strerror or type(failure).__name__}") from None

    def kill(self) -> None:
        """Kill every process of the group, at once and without a word. Safe to repeat."""
        with suppress(ProcessLookupError, PermissionError):
            # The group keeps its number as long as a process is in it. Once all are gone the number could be
            # given to others, so nobody calls this long after the end.
            os.killpg(self._process.pid, signal.SIGKILL)

    def exit_code(self) -> int | None:
        """Answer how the process ended, negative for a signal; `None` while it runs."""
        return self._process.poll()

    def wait(self) -> None:
        """Wait for a process that was killed."""
        self._process.wait()


def kill_strays(name: str, value: str) -> None:
    """Kill what an agent started outside its group: every process whose environment says `name=value`.

    `value` must be one that only this trial gives out. Where there is no /proc, groups have to do.
    """
    wanted = f"{name}={value}".encode()
    for environment in Path("/proc").glob("[0-9]*/environ"):
        # Somebody else's process, or one that has just ended.
        with suppress(OSError):
            if wanted in environment.read_bytes().split(b"\0"):
                os.kill(int(environment.parent.name), signal.SIGKILL)


def absolute_command(command: Sequence[str], *, folder: Path, only_paths: bool = False) -> tuple[str, ...]:
    """Answer the command as it works from elsewhere: what names a file below `folder` is made absolute.

    With `only_paths` words without a slash are left alone: they may name files of the place where it runs.
    """
    program, *arguments = command
    found = program if "/" in program else shutil.which(program) or program
    return tuple(
        word if only_paths and "/" not in word else _absolute(word, folder) for word in (found, *arguments)
    )


def fresh_environment(homes: Path, given: Mapping[str, str]) -> dict[str, str]:
    """Answer what every process of a trial starts with: this process's own, nothing of Muniment, and `given`.

    Home and temporary folders are the trial's: what an agent keeps there survives its kill, as on a machine
    that stays up, and never reaches another trial.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()  # noqa: TID251 - what a child process needs to start
        if not name.startswith(_INHERITED_NOT) and not name.startswith("XDG_")
    }
    places = {"HOME": homes / "home", "TMPDIR": homes / "tmp"}
    for place in places.values():
        place.mkdir(parents=True, exist_ok=True)
    # Everything that an agent is told to speak to is on this machine, whatever proxy leads out of it.
    direct = {name: f"{inherited.get(name, '')},127.0.0.1".lstrip(",") for name in ("NO_PROXY", "no_proxy")}
    return {**inherited, **direct, **{name: str(place) for name, place in places.items()}, **given}


def last_words(said: Path, secrets: Sequence[str]) -> str:
    """Answer the end of what a process said, without the secrets that it was given."""
    with said.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 4 * _SAID_CHARACTERS_MAX))
        text = file.read().decode(errors="replace")
    for secret in secrets:
        text = text.replace(secret, "(token)")
    return text[-_SAID_CHARACTERS_MAX:].strip()


def _absolute(word: str, folder: Path) -> str:
    if not word or word.startswith(("-", "/")):
        return word
    try:
        path = folder / word
        return str(path.absolute()) if path.is_file() else word
    except (OSError, ValueError):  # too long or odd for a path
        return word
