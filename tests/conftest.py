"""What all tests share: the event loop, and that nothing blocks it unnoticed."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on asyncio, the loop that wisen is written for."""
    return "asyncio"
