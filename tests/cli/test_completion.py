"""What a shell offers after Tab: the names that there are, asked for through typer's own completion, and quickly."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("numpy", "pydantic_ai", "rich", "yaml")
ASK = "import sys, atexit; sys.argv = ['wisen']; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "


def offered(shell: str, line: str) -> set[str]:
    """What completion says after a line, typed up to its end; and it loads nothing heavy for it."""
    words = line.split() + ([""] if line.endswith(" ") else [])
    asked = {"_WISEN_COMPLETE": f"complete_{shell}"}
    if shell == "bash":
        asked |= {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    else:
        asked |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run(
        [sys.executable, "-c", f"{ASK}from wisen.cli.main import main; main()"],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stderr.split()).isdisjoint(HEAVY)
    return {part.strip("\"'() ") for part in done.stdout.replace("_arguments '*: :((", "").split("\n")} - {""}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("wisen ru", {"run", "runs", "rules"}),
        ("wisen run", {"run", "runs"}),
        ("wisen lessons a", {"add", "archive"}),
        ("wisen lessons add --t", {"--tenant", "--tool", "--type"}),
        ("wisen ci ", {"run", "status", "history", "demo"}),
        ("wisen reflect new --kind ", {"failed", "partial", "success", "decision"}),
        ("wisen --inst", {"--install-completion"}),
    ],
)
def test_names_options_and_values_are_offered_and_nothing_heavy_is_loaded(
    shell: str, line: str, some: set[str]
) -> None:
    assert offered(shell, line) == some


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_by_the_script_that_is_shown(tmp_path: Path) -> None:
    command = tmp_path / "wisen"
    command.write_text(f"#!{sys.executable}\nimport sys\nfrom wisen.cli.main import main\nmain()\n")
    command.chmod(0o755)
    typed = "COMP_WORDS=(wisen lessons ar) COMP_CWORD=2; _wisen_completion wisen; echo ${COMPREPLY[@]}"
    done = subprocess.run(
        ["bash", "--norc", "-c", f'eval "$(wisen --show-completion bash)"; {typed}'],  # noqa: S607 - the one on the path
        env={
            **os.environ,
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
            "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("archive\n", "")
