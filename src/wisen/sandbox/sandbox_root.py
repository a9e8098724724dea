"""What the root of a program under test holds: a Python interpreter with its standard library, and nothing else."""

import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).parents[2]
"""The folder that holds the package `wisen`."""
_SANDBOXED = Path(__file__).with_name("sandboxed")
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
PROGRAMS = "/wisen-sandboxed"
"""Where a room holds wisen's own programs, as `SOURCES` does outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxRoot:
    """An empty root with a few things of this machine in it, all read-only, besides `/tmp`, `/dev` and `/dev/shm`."""

    shown: tuple[tuple[str, str], ...]
    """Files and folders: their paths on this machine and in the room."""
    links: tuple[tuple[str, str], ...] = ()
    """Symbolic links: their paths in the room and their targets."""
    hidden: tuple[str, ...] = ()
    """Folders within what is shown that appear empty."""


def interpreter() -> str:
    """The Python that rooms hold: the one that runs this, without its virtual environment."""
    own = Path(sys.executable).resolve()
    if own.is_relative_to(Path(sys.base_prefix).resolve()):
        return str(own)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return str(Path(sysconfig.get_config_var("BINDIR") or f"{sys.base_prefix}/bin") / version)


def python_room() -> SandboxRoot:
    """The room of an interpreter that has its standard library and no installed packages."""
    links = [(path, str(Path(path).readlink())) for path in _LIBRARIES if Path(path).is_symlink()]
    wanted = [Path(path) for path in _LIBRARIES if Path(path).is_dir() and not Path(path).is_symlink()]
    standard = [Path(sysconfig.get_path(name, vars=_BASE)) for name in ("stdlib", "platstdlib")]
    directory = sysconfig.get_config_var("LIBDIR")
    library = sysconfig.get_config_var("INSTSONAME")
    if directory and library:
        wanted.append(Path(directory) / library)
    wanted += [Path(interpreter()), *standard]
    shown = [path for path in dict.fromkeys(wanted) if path.exists()]
    apart = [one for one in shown if not any(one != other and one.is_relative_to(other) for other in shown)]
    return SandboxRoot(
        shown=(
            *((str(path), str(path)) for path in apart),
            (str(_SANDBOXED), f"{PROGRAMS}/wisen/sandbox/sandboxed"),
        ),
        links=tuple(links),
        hidden=tuple(f"{path}/{name}" for path in _holders(standard) for name in ("site-packages", "dist-packages")),
    )


_BASE = {"base": sys.base_prefix, "platbase": sys.base_prefix, "installed_base": sys.base_prefix}


def _holders(standard: list[Path]) -> list[Path]:
    """Folders in which distributors put installed packages."""
    return list(dict.fromkeys([*standard, *(path.parent / "python3" for path in standard), Path("/usr/lib/python3")]))
