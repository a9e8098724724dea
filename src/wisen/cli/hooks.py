"""`wisen install`, `uninstall`, `status` and `hooks`: wisen in a coding agent that the person uses already."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from wisen.cli.option_sets import OptionSet
from wisen.cli.output import print_json
from wisen.cli.shared_options import OutputOptions
from wisen.errors import ConfigError
from wisen.integrations.hook_client import ALIVE, FOLDER, LOG, OFF, PERSON, STOP, VARIABLE, ask, locked, state_folder
from wisen.integrations.hook_files import (
    HookChange,
    hook_file,
    installing,
    is_installed,
    uninstalling,
)
from wisen.integrations.hook_settings import SETTINGS, HookSettings, read_settings, write_settings
from wisen.trace_import.coding_agents import CODING_AGENTS, CodingAgent, repository_of

_PATIENCE = 2.0
_LAST_WORK = 30.0
_LOOK = 0.05
_IDLE = 3600.0
_NO_MODEL = "none"

Agent = Annotated[CodingAgent, typer.Argument(metavar="AGENT", help="codex or claude.", show_default=False)]


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFileOptions(OptionSet):
    """Which file of hooks is meant, and whether it is changed."""

    PANEL: ClassVar[str] = ""

    here: Annotated[bool, typer.Option("--here", help="This repository's settings, and not those in your home.")] = (
        False
    )
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the change, and make none.")] = False

    def path(self, agent: CodingAgent) -> Path:
        """The agent's file. Raises `ConfigError` outside of a repository."""
        root = repository_of(Path.cwd()) if self.here else None
        if self.here and root is None:
            raise ConfigError("--here: this folder is in no git repository")
        return hook_file(agent, os.environ, root)

    def apply(self, change: HookChange) -> bool:
        """Show the change, and make it; whether there was anything to change."""
        if not change.changes:
            return False
        typer.echo(change.diff, nl=False)
        if self.dry_run:
            typer.echo("nothing was changed (--dry-run)", err=True)
            return True
        change.write()
        if change.backup.exists():
            typer.echo(f"as it was: {change.backup}", err=True)
        return True


def install(
    agent: Agent,
    *,
    file: HookFileOptions,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Who looks back at what failed in a session, with every agent: provider:name, "
            f"openai-compatible:URL#name, local; {_NO_MODEL} for no one, as without this option at first.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Let a coding agent learn from its sessions: puts wisen's hooks into its settings, and shows the change first."""
    path = file.path(agent)
    change = installing(path)
    if model is not None:
        _set_model(model, dry_run=file.dry_run)
    if not file.apply(change):
        typer.echo(f"{path} has wisen's hooks already")
    elif not file.dry_run:
        trust = "; Codex runs new hooks once you have trusted them: /hooks" if agent == "codex" else ""
        typer.echo(f"from the next session on{trust}", err=True)


def _set_model(name: str, *, dry_run: bool) -> None:
    """Name the model that looks back, once it is seen that it could be asked. Raises as `find_model` does."""
    from wisen.models import resolve_model  # noqa: PLC0415 - imports pydantic-ai

    folder = Path(state_folder(os.environ))
    if name != _NO_MODEL:
        resolve_model(name)
    if not dry_run:
        write_settings(folder, HookSettings(model="" if name == _NO_MODEL else name))
    typer.echo(f"{folder / SETTINGS}: model {name}", err=True)


def uninstall(agent: Agent, *, file: HookFileOptions) -> None:
    """Take wisen's hooks out of a coding agent's settings, and nothing else; lessons stay."""
    path = file.path(agent)
    if not file.apply(uninstalling(path)):
        typer.echo(f"{path} has no hooks of wisen's")


def status(*, output: OutputOptions) -> None:
    """Say which coding agents have wisen's hooks, whether they are on, where lessons are, and where the log is."""
    folder, root = Path(state_folder(os.environ)), repository_of(Path.cwd())
    files = {agent: [hook_file(agent, os.environ)] for agent in CODING_AGENTS}
    for agent in CODING_AGENTS if root else ():
        files[agent].append(hook_file(agent, os.environ, root))
    installed = {agent: [str(path) for path in paths if is_installed(path)] for agent, paths in files.items()}
    stores = [path for path in ([root / FOLDER] if root else []) + [folder / PERSON] if path.exists()]
    answer = asked(folder, ALIVE)
    said = {
        "installed": installed,
        "off": _why_off(folder, root),
        "process": int(answer) if answer else None,
        "model": _model_of(folder),
        "stores": [str(path) for path in stores],
        "log": str(folder / LOG),
    }
    if output.as_json:
        print_json(said)
        return
    for agent, paths in installed.items():
        typer.echo(f"{agent}: {', '.join(paths) if paths else f'not installed; wisen install {agent}'}")
    typer.echo(f"hooks: {said['off'] or 'on'}")
    typer.echo(f"process: {said['process'] or 'none; the next session starts one'}")
    typer.echo(f"model: {said['model'] or 'none; lessons are written by template alone'}")
    typer.echo(f"lessons: {', '.join(map(str, stores)) or 'none yet'}")
    typer.echo(f"log: {said['log']}")


def off() -> None:
    """Turn the hooks off for all of your sessions: nothing is shown, and nothing is learned."""
    folder = _made(Path(state_folder(os.environ)))
    (folder / OFF).touch()
    typer.echo(f"off; `wisen hooks on` turns them on, and a file {FOLDER}/{OFF} turns off one repository", err=True)


def on() -> None:
    """Turn the hooks on again."""
    (Path(state_folder(os.environ)) / OFF).unlink(missing_ok=True)


def stop() -> None:
    """Stop the resident process once its work is done; the next session starts it again."""
    folder = Path(state_folder(os.environ))
    if not _is_served(folder):
        typer.echo("no process was running", err=True)
        return
    ends = time.monotonic() + _LAST_WORK
    while _is_served(folder):
        if time.monotonic() > ends:
            raise ConfigError(f"the resident process is still at work; {folder / LOG} says at what")
        asked(folder, STOP)  # one that is only starting doesn't hear it yet
        time.sleep(_LOOK)


def serve(
    *,
    idle: Annotated[
        float, typer.Option("--idle", metavar="SECONDS", min=1.0, help="Stop after so many seconds without a request.")
    ] = _IDLE,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Makes draws repeat, for tests.", show_default=False)
    ] = None,
    lock: Annotated[int | None, typer.Option("--lock", hidden=True)] = None,
) -> None:
    """Answer hooks, and stop after a while without any; sessions start this by themselves."""
    from wisen.integrations.resident import Resident  # noqa: PLC0415 - the memory behind it is slow to import

    folder = _made(Path(state_folder(os.environ)))
    if not Resident(folder, idle=idle, seed=seed).serve(lock):
        typer.echo("another process answers hooks already", err=True)


def asked(folder: Path, what: str) -> bytes | None:
    """What the resident process says; `None` where there is none."""
    here = Path.cwd()
    try:
        return ask(str(folder), what, b"", _PATIENCE)[1]
    finally:
        os.chdir(here)


def _is_served(folder: Path) -> bool:
    """Whether a resident process is there, also one that is starting or does its last work."""
    if not folder.is_dir():
        return False
    lock = locked(str(folder))
    if lock is not None:
        os.close(lock)
    return lock is None


def _why_off(folder: Path, root: Path | None) -> str:
    if os.environ.get(VARIABLE) == "off":
        return f"off, by ${VARIABLE}"
    files = [folder / OFF, *([root / FOLDER / OFF] if root else [])]
    return next((f"off, by {path}" for path in files if path.exists()), "")


def _model_of(folder: Path) -> str | None:
    """Who looks back, or what is wrong with the settings."""
    try:
        return read_settings(folder).model or None
    except ConfigError as error:
        return str(error)


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
