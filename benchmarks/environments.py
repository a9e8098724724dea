"""One virtual environment per alternative, so that none can bring its dependencies into another's."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DRIVERS = Path(__file__).resolve().parent / "drivers"


@dataclass(frozen=True)
class Alternative:
    """What wisen is compared with."""

    name: str
    package: str
    """The module to import; "" for none."""
    version: str
    runs: str
    """The driver that runs agents."""
    recalls: str
    """The driver that fills and searches stores; "" where there is none."""


ALTERNATIVES = (
    Alternative(name="wisen", package="wisen", version="", runs="wisen_runs.py", recalls="wisen_recall.py"),
    Alternative(name="loomflow", package="loomflow", version="0.20.0", runs="loomlike.py", recalls="loomlike.py"),
    Alternative(name="jeevesagent", package="jeevesagent", version="0.9.7", runs="loomlike.py", recalls="loomlike.py"),
    Alternative(
        name="purpose-agent", package="purpose_agent", version="3.0.1", runs="purpose.py", recalls="purpose.py"
    ),
    Alternative(name="bare loop", package="", version="", runs="bare.py", recalls=""),
)


def python_of(alternative: Alternative) -> Path:
    """The interpreter of the alternative's environment, which is made when it isn't there."""
    if not alternative.version:
        return Path(sys.executable)
    folder = ROOT / ".venvs" / alternative.name
    python = folder / "bin" / "python"
    installed = folder / f".{alternative.version}"
    if not installed.exists():
        print(f"Installing {alternative.name} {alternative.version} into {folder} …", file=sys.stderr)
        requirement = f"{alternative.name}=={alternative.version}"
        uv = Path(sys.executable).parent / "uv"
        if uv.exists():
            _run([str(uv), "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
            _run([str(uv), "pip", "install", "--quiet", "--python", str(python), requirement])
        else:
            _run([sys.executable, "-m", "venv", "--clear", str(folder)])
            _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement])
        installed.touch()
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        sys.exit(f"{' '.join(command[:3])} … failed: {said[-1] if said else f'exit code {done.returncode}'}")
