"""A real Chromium, and the page of a store that looks lived in. Every page that a test opens is watched."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from page_server import Served, serving

_PROGRAM = Path(__file__).parents[2] / "benchmarks" / "lived_store.py"
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_VIOLATIONS = """
document.addEventListener('securitypolicyviolation', (event) => {
  console.error(`policy violated: ${event.violatedDirective} by ${event.blockedURI}`);
});
"""
_FAILED = "Failed to load resource: the server responded"
"""What the console says of statuses, which are looked at apart."""
RUNS, CARDS = 10_000, 5_000
WIDE = {"width": 1280, "height": 800}


@dataclass
class Watch:
    """What a browser says and asks for while it shows pages of one server."""

    host: str
    said: list[str] = field(default_factory=list[str])
    """Errors and warnings in the console, exceptions, refused requests, dialogs."""
    away: list[str] = field(default_factory=list[str])
    """Requests to other hosts."""
    weight: int = 0
    """Bytes that came over the wire."""

    def over(self, page: Any) -> None:
        """Begin to watch."""
        page.add_init_script(_VIOLATIONS)
        page.on("console", self._console)
        page.on("pageerror", self._raised)
        page.on("dialog", self._dialog)
        page.on("request", self._request)
        page.on("response", self._answered)
        self._wire = page.context.new_cdp_session(page)
        self._wire.send("Network.enable")
        self._wire.on("Network.loadingFinished", self._loaded)

    def forget(self) -> None:
        """Let the browser come as for the first time."""
        self._wire.send("Network.clearBrowserCache")
        self.weight = 0

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning", "assert") and not message.text.startswith(_FAILED):
            self.said.append(f"{message.type}: {message.text}")

    def _raised(self, error: Any) -> None:
        self.said.append(f"raised: {error}")

    def _answered(self, answer: Any) -> None:
        most = 499 if answer.request.is_navigation_request() else 399
        if answer.status > most:
            self.said.append(f"{answer.status} {answer.url}")

    def _dialog(self, dialog: Any) -> None:
        self.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Any) -> None:
        if urlsplit(str(request.url)).netloc != self.host:
            self.away.append(request.url)

    def _loaded(self, finished: dict[str, Any]) -> None:
        self.weight += int(finished["encodedDataLength"])


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The system's Chromium."""
    driver: Any = pytest.importorskip(
        "playwright.sync_api", reason="not run here: Playwright isn't installed; make test-page"
    )
    program = os.environ.get("WISEN_CHROMIUM", "")
    if not program:
        pytest.skip("not run here: no Chromium is named in WISEN_CHROMIUM; make test-page")
    with driver.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=list(_FLAGS))
        yield started
        started.close()


@pytest.fixture(scope="session")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with 10,000 runs and 5,000 cards; nobody changes it."""
    path = tmp_path_factory.mktemp("lived") / "lessons.db"
    subprocess.run([sys.executable, str(_PROGRAM), str(path), "--runs", str(RUNS), "--cards", str(CARDS)], check=True)
    return path


@pytest.fixture(scope="session")
def served(lived: Path) -> Iterator[Served]:
    """The page of that store."""
    with serving(str(lived)) as server:
        yield server


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., tuple[Any, Watch]]]:
    """Opens a window of its own at a server's page, signed in; it has to be quiet until the test ends."""
    watched: list[Watch] = []
    contexts: list[Any] = []

    def begin(server: Served, *, scheme: str = "light", quiet: bool = True, **options: Any) -> tuple[Any, Watch]:
        context = browser.new_context(color_scheme=scheme, **{"viewport": WIDE, **options})
        contexts.append(context)
        page, watch = context.new_page(), Watch(urlsplit(server.url).netloc)
        watch.over(page)
        if quiet:
            watched.append(watch)
        server.sign_in(page)
        return page, watch

    yield begin
    for context in contexts:
        context.close()
    assert [one.said for one in watched if one.said] == []
    assert [one.away for one in watched if one.away] == []
