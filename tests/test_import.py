"""`import wisen` is light and does nothing."""

import subprocess
import sys

import pytest

HEAVY = (
    "pydantic",
    "pydantic_ai",
    "numpy",
    "openai",
    "anthropic",
    "onnxruntime",
    "xllamacpp",
    "typer",
    "rich",
    "asyncio",
)


def test_import_loads_nothing_heavy() -> None:
    code = f"import sys, wisen; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert done.stderr == ""


def test_every_public_name_resolves() -> None:
    import wisen

    for name in dir(wisen):
        assert getattr(wisen, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = wisen.Nonsense


ALL = "import wisen; names = {}; exec('from wisen import *', names); print(*sorted({*dir(wisen)} - {*names}))"


def test_everything_can_be_imported_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", ALL], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_everything_at_once_leaves_out_what_an_extra_would_bring() -> None:
    code = f"import sys; sys.modules['asyncpg'] = None; {ALL}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["PostgresVectorStore"]


def test_records_and_events_stay_light() -> None:
    code = "import sys, wisen.records, wisen.events, wisen.protocols, wisen.session; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
