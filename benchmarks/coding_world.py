"""The repository that the sessions of coding_sessions.py work in, and the failures that come back in it."""

import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
_BUSY = ".busy"
_GENERATED = ("schema.json", "db.txt", _BUSY)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of failure; `coding_kinds.toml` says what the commands are."""

    name: str
    prompt: str
    looks: str
    fails: str
    passes: str
    first: str = ""
    edits: str = ""
    noise: str = ""
    harmful: str = ""

    @property
    def cure(self) -> str:
        """What a lesson has to say to be the right one; "" where none is."""
        return "" if self.edits else f"`{self.first or self.passes}`"

    @property
    def harm(self) -> str:
        """What the harmful lesson says; "" where there is none."""
        return f"instead: `{self.harmful}`" if self.harmful else ""


@dataclass(frozen=True, kw_only=True)
class Told:
    """A lesson that a person adds, and that does nothing."""

    text: str
    task: str
    tool: str


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A command that was run, or a file that was edited."""

    command: str
    code: int
    output: str
    edited: bool = False


class Repository:
    """A git repository, in which commands are really run."""

    def __init__(self, folder: Path) -> None:
        shutil.copytree(_HERE / "coding_repository", folder)
        self.folder = folder
        for command in (
            ["init", "-q"],
            ["add", "."],
            ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
        ):
            subprocess.run(["git", *command], cwd=folder, check=True)
        self._environ = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "PYTHONDONTWRITEBYTECODE": "1"}

    def begin(self) -> None:
        """As a colleague leaves it: nothing is generated, and the fixture is stale."""
        for name in _GENERATED:
            (self.folder / name).unlink(missing_ok=True)
        self.edit("fixture.txt", "stale")

    def lock(self, *, on: bool) -> None:
        """Let another process hold the cache, or let it go."""
        if on:
            (self.folder / _BUSY).touch()
        else:
            (self.folder / _BUSY).unlink()

    def edit(self, name: str, text: str = "fresh") -> Ran:
        """Write a file, as an agent's tool for edits does."""
        (self.folder / name).write_text(f"{text}\n", encoding="utf-8")
        patch = f"*** Begin Patch\n*** Update File: {name}\n-stale\n+{text}\n*** End Patch"
        return Ran(command=patch, code=0, output="Success. Updated the following files:\nM " + name, edited=True)

    def run(self, command: str) -> Ran:
        """Run a command line as the agent's shell does."""
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.folder,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Ran(command=command, code=done.returncode, output=done.stdout)


def kinds() -> list[Kind]:
    """All kinds of failures."""
    return [Kind(**one) for one in _table("kind")]


def told() -> list[Told]:
    """What a person adds."""
    return [Told(text=one["text"], task=one["for"], tool=one["tool"]) for one in _table("told")]


def wrong_exits(folder: Path) -> Iterable[str]:
    """What doesn't come out as `coding_kinds.toml` says; nothing, if all is well."""
    repository = Repository(folder)
    for kind in kinds():
        repository.begin()
        ways = [(kind.looks, True), (kind.fails, False), (kind.harmful, False)]
        for command, passes in ways:
            if command and (repository.run(command).code == 0) is not passes:
                yield command
        repository.lock(on=True)
        if repository.run(kind.looks).code == 0:
            yield f"{kind.looks}, locked out"
        repository.lock(on=False)
        if kind.first and repository.run(kind.first).code:
            yield kind.first
        if kind.edits:
            repository.edit(kind.edits)
        for command in (kind.passes, kind.noise, kind.harmful):
            if command and repository.run(command).code:
                yield f"{command}, at last"


def _table(name: str) -> list[dict[str, Any]]:
    return tomllib.loads((_HERE / "coding_kinds.toml").read_text(encoding="utf-8"))[name]
