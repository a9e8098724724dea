"""The page as a person starts it: `wisen serve` in a process of its own, on this machine."""

import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

_URL = re.compile(r"https?://[^\s/]+")


@dataclass(frozen=True)
class Served:
    """A server of the page."""

    url: str
    token: str = ""

    def sign_in(self, page: Any) -> None:
        """Open the page in a browser's window, and log in where that is asked for."""
        page.goto(self.url)
        if self.token:
            page.get_by_label("Token").fill(self.token)
            page.get_by_role("button", name="Log in").click()


@contextmanager
def serving(store: str, *options: str, token: str = "") -> Generator[Served]:
    """Start the server of a store, and stop it in the end."""
    command = [sys.executable, "-m", "wisen", "serve", "--store", store, "--at", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            found = next((one for line in process.stdout if (one := _URL.search(line))), None)
            assert found is not None, f"wisen serve ended with {process.wait()}"
            yield Served(found[0], token)
        finally:
            process.terminate()
