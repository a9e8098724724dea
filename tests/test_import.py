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


def test_records_and_events_stay_light() -> None:
    code = "import sys, wisen.records, wisen.events, wisen.protocols, wisen.session; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
