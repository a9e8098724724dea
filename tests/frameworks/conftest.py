"""What the tests of other frameworks share: a provider that their clients find by the environment, and no other."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, cast

import pytest
from wrapping import Provider, serving

_WATCHED: list[bool] = []
"""Not empty while a test runs that may go no further than this machine."""
_AWAY: list[str] = []
"""Where something wanted to connect to."""


def _refuse_network(event: str, args: tuple[Any, ...]) -> None:
    if not _WATCHED or event not in ("socket.connect", "socket.getaddrinfo"):
        return
    address: Any = args[1] if event == "socket.connect" else args
    if not isinstance(address, tuple) or cast("tuple[Any, ...]", address)[0] in ("127.0.0.1", "localhost"):
        return
    _AWAY.append(str(cast("tuple[Any, ...]", address)[0]))
    raise OSError(f"a test goes to the network: {_AWAY[-1]}")


@pytest.fixture(scope="session")
def audited() -> None:
    """Let every connection of this process be looked at."""
    sys.addaudithook(_refuse_network)


@pytest.fixture
def provide(monkeypatch: pytest.MonkeyPatch, audited: None) -> Iterator[Callable[..., Provider]]:
    """Begin to serve these replies, at the address that OpenAI's clients take by default."""
    del audited
    with ExitStack() as stack:

        def begin(*replies: str | dict[str, Any]) -> Provider:
            messages = [{"content": one} if isinstance(one, str) else one for one in replies]
            provider = stack.enter_context(serving(*messages))
            monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
            return provider

        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
        monkeypatch.setenv("LANGSMITH_TRACING", "false")
        _WATCHED.append(True)
        yield begin
        _WATCHED.pop()
    away, _AWAY[:] = _AWAY[:], []
    assert away == []
