"""Times the tutorials: each is followed word by word, from the wheel, in an empty home.

Fences of `docs/start` are run in their order: the installation's first, then the tutorial's. `pip install .` takes the
wheel that this builds. The real Codex talks to a provider on the loopback. A tutorial fails if a command does, if its
code prints something else, or if the lesson reaches nobody. Run it as `make tutorials`.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from first_minutes import Desk
from release_dry_run import built
from responses_server import responses_server

_START = Path(__file__).parents[1] / "docs" / "start"
_FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_NAMED = re.compile(r"Save this as `([\w.]+)`")
_FAILS, _PASSES = "sh report.sh 2026", "sh report.sh --closed 2026"
_LAST_RUN = "import json, sys; print(json.load(sys.stdin)[0]['run_id'])"


@dataclass(frozen=True, kw_only=True)
class Step:
    """A fence, and the file that its code is saved as."""

    language: str
    text: str
    saved_as: str


def steps_of(page: str) -> list[Step]:
    """The fences of a page of `docs/start` that a user types, in order."""
    text = (_START / f"{page}.md").read_text("utf-8")
    steps, place = list[Step](), 0
    for found in _FENCE.finditer(text):
        named = _NAMED.findall(text[place : found.start()])
        place = found.end()
        if found[1] in {"bash", "python"}:
            steps.append(Step(language=found[1], text=found[2], saved_as=named[-1] if named else ""))
    return steps


class Follower:
    """Does what the steps say at a user's desk."""

    def __init__(self, desk: Desk, folder: Path, wheel: Path) -> None:
        self._desk, self._folder, self._wheel = desk, folder, wheel
        self._printing: dict[str, list[str]] = {}
        self.installing = 0.0

    def follow(self, steps: Sequence[Step], codex: Callable[[], None]) -> None:
        """All steps; `codex` is what a line that calls it does."""
        for step in steps:
            if step.language == "python":
                self._code(step)
                continue
            for line in step.text.splitlines():
                if line.startswith("codex "):
                    codex()
                elif line.startswith("wisen serve "):
                    self._served(line)
                else:
                    self._line(line)

    def _code(self, step: Step) -> None:
        said = re.findall(r"^ *#> ?(.*)$", step.text, re.MULTILINE)
        if step.saved_as:
            (self._desk.repository / step.saved_as).write_text(step.text, encoding="utf-8")
            self._printing[f"python {step.saved_as}"] = said
        else:
            self._compare(self._desk.python(step.text), said)

    def _line(self, line: str) -> None:
        began, installs = time.perf_counter(), line.startswith(("pip ", "python3 -m venv"))
        line = re.sub(r"pip install '?\.(\[\w+\])?'?(?= |$)", rf"pip install '{self._wheel}\1'", line)
        line = line.replace("cd your-repository", "cd .")
        if "RUN_ID" in line:
            store = re.findall(r"--store (\S+)", line)[0]
            listed = f'wisen runs list --json --store {store} | python -c "{_LAST_RUN}"'
            line = line.replace("RUN_ID", self._desk.shell(listed).strip(), 1)
        printed = self._desk.shell(line, self._folder if installs else None)
        if line in self._printing:
            self._compare(printed, self._printing[line])
        self.installing += time.perf_counter() - began if installs else 0.0

    def _served(self, line: str) -> None:
        """Start the page, look at it, and end it."""
        words = line.partition("#")[0].split()
        with subprocess.Popen(  # noqa: S603 - a line of the project's own pages
            words,
            cwd=self._desk.repository,
            env=self._desk.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as page:
            try:
                url = next(re.finditer(r"http://\S+", page.stdout.readline() if page.stdout else ""))[0]
                with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 - this machine's
                    self._compare(str(answer.status), ["200"])
            finally:
                page.terminate()

    @staticmethod
    def _compare(printed: str, said: Sequence[str]) -> None:
        if printed.split() != " ".join(said).split():
            sys.exit(f"the page says {said!r}, and this was printed: {printed!r}")


def coding_agent(follower: Follower, desk: Desk) -> None:
    """With a session on the disk that failed and passed; the next one has to be told."""
    with responses_server() as provider:

        def work() -> None:
            desk.codex(provider, "ls")  # this session starts the resident process, and doesn't wait for it
            desk.until(desk.socket.exists)
            desk.codex(provider, "sh report.sh 2025")
            if not provider.holding(_PASSES):
                sys.exit("the lesson of the transcript reached no request")

        try:
            follower.follow([*steps_of("index"), *steps_of("coding-agent")], work)
        finally:
            desk.shell("wisen hooks stop || true")


def plain(page: str) -> Callable[[Follower, Desk], None]:
    """A tutorial whose steps check themselves."""

    def followed(follower: Follower, desk: Desk) -> None:
        del desk
        follower.follow([*steps_of("index"), *steps_of(page)], lambda: None)

    return followed


TUTORIALS: Mapping[str, Callable[[Follower, Desk], None]] = {
    "coding-agent": coding_agent,
    "own-loop": plain("own-loop"),
    "researcher": plain("researcher"),
}


def main() -> None:
    """Follow the tutorials, and say how long each took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tutorials", nargs="*", metavar="TUTORIAL", help=f"{', '.join(TUTORIALS)}; by default all")
    given = parser.parse_args()
    if unknown := set(given.tutorials) - set(TUTORIALS):
        parser.error(f"no tutorial {', '.join(unknown)}; there are {', '.join(TUTORIALS)}")
    wheel, _ = built()
    for name in given.tutorials or TUTORIALS:
        with tempfile.TemporaryDirectory() as folder:
            desk = Desk(Path(folder), Path(folder))
            if name == "coding-agent":  # what is on the disk before wisen comes
                with responses_server() as provider:
                    desk.codex(provider, _FAILS, _PASSES)
            follower, began = Follower(desk, Path(folder), wheel), time.perf_counter()
            TUTORIALS[name](follower, desk)
            minutes, seconds = divmod(round(time.perf_counter() - began), 60)
            said = f"{name:12} {minutes} min {seconds:02} s, {follower.installing:.0f} s of it installing"
            sys.stdout.write(f"{said}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
