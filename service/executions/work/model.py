"""Tasks, their standing, and the lines of the execution log."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class ExitStatus(StrEnum):
    """What one log line says of its task."""

    STARTED = "started"
    COMPLETED = "completed"
    FAILED = "failed"


class Standing(StrEnum):
    """What the whole log says of a task. Never stored."""

    PENDING = "pending"
    STARTED = "started"
    COMPLETED = "completed"
    FAILED = "failed"
    REOPENED = "reopened"
    """Completed once, and what it read has changed since."""


@dataclass(frozen=True, slots=True)
class DeclaredTask:
    """One task of the manifest: what it reads and what it must produce, by reference or output name."""

    id: str
    title: str | None = None
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Input:
    """What a step read, and the hash it had then."""

    ref: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Output:
    """What a step produced: its declared name, where it is, and its hash."""

    name: str
    ref: str
    sha256: str


@dataclass(frozen=True, slots=True)
class NewStep:
    """One line for the log, as it was sent."""

    task_id: str
    exit_status: ExitStatus
    inputs: tuple[Input, ...] = ()
    outputs: tuple[Output, ...] = ()
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the execution log. `sequence` starts at 1 in each run."""

    id: str
    execution_id: str
    sequence: int
    task_id: str
    exit_status: ExitStatus
    inputs: Sequence[Input]
    outputs: Sequence[Output]
    summary: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Task:
    """A declared task with its standing and what it has produced so far, newest of each name."""

    id: str
    title: str | None
    inputs: Sequence[str]
    outputs: Sequence[str]
    standing: Standing
    produced: Sequence[Output]


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """How many tasks are done, can be worked on, and wait for another task's output."""

    done: int
    open: int
    blocked: int
