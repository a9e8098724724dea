"""Times what the how-to pages promise first: from install to the first recalled lesson, in a clean environment.

Each way is followed word for word: the fences behind `<!-- first minutes: WAY -->` in `docs/`, in an environment and a
home that are empty before, with the real Codex and a provider on the loopback. `pip` is called in a copy of the tree,
all else in the user's repository. It fails where the lesson isn't in what the provider, or the agent, received.
"""

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chat_server import chat_server
from responses_server import ResponsesServer, responses_server

_ROOT = Path(__file__).parents[1]
_DOCS = _ROOT / "docs"
_CODEX = Path(os.environ.get("WISEN_CODEX") or _ROOT / ".venvs/codex/node_modules/.bin/codex")
_FENCE = re.compile(r"<!-- first minutes: ([a-z -]+) -->\n+```(\w+)[^\n]*\n(.*?)\n```", re.DOTALL)
_SECONDS, _LINES = 300.0, 3
_PATIENCE = 60.0
_PROMPT = "print the report of the year"
_FAILS, _PASSES = "sh report.sh 2026", "sh report.sh --closed 2026"
_SCRIPT = '[ "$1" = --closed ] && echo printed && exit 0\necho "the year is closed" >&2\nexit 3\n'
_FEEDBACK = "Name articles in the singular: the stock has no plurals."


@dataclass(frozen=True, kw_only=True)
class Fence:
    """Code of a page."""

    language: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Took:
    """How a way went."""

    way: str
    seconds: float
    installing: float
    lines: int
    recalled: bool

    @property
    def good(self) -> bool:
        """Whether it is as promised."""
        return self.recalled and self.seconds <= _SECONDS and self.lines <= _LINES


class Desk:
    """Where a user begins: an empty environment, an empty home, and a repository of the user's own."""

    def __init__(self, folder: Path, tree: Path) -> None:
        self.home, self.repository, self._tree = folder / "home", folder / "project", tree
        self.home.mkdir()
        self.repository.mkdir()
        kept = {name: text for name, text in os.environ.items() if re.fullmatch(r"PIP_\w+|\w+_CERTS?|\w+_proxy", name)}
        path = f"{folder / 'venv' / 'bin'}:{os.environ['PATH']}"
        self.environ = kept | {"HOME": str(self.home), "PATH": path, "WISEN_HOOKS_SECONDS": "20"}
        self.socket = self.home / ".local/share/wisen/hooks/hooks.sock"
        self.installing = 0.0
        self._python = folder / "venv" / "bin" / "python"
        made = ["git", "init", "-q", str(self.repository)]
        subprocess.run(made, check=True)  # noqa: S603 - whichever git there is
        (self.repository / "report.sh").write_text(_SCRIPT, encoding="utf-8")

    def follow(self, fences: Sequence[Fence]) -> None:
        """Do what the page's shell fences say, line by line."""
        began = time.perf_counter()
        made = [sys.executable, "-m", "venv", str(self._python.parents[1])]
        subprocess.run(made, check=True)  # noqa: S603 - this Python
        self.installing += time.perf_counter() - began
        for fence in fences:
            for line in fence.text.splitlines() if fence.language == "bash" else ():
                self._line(line)

    def _line(self, line: str) -> None:
        began, installs = time.perf_counter(), line.startswith("pip ")
        self.shell(line, self._tree if installs else self.repository)
        self.installing += time.perf_counter() - began if installs else 0.0

    def shell(self, line: str, folder: Path | None = None) -> str:
        """Run a line; what it prints."""
        return self._run(["bash", "-c", line], folder or self.repository, {})

    def python(self, source: str, **environ: str) -> str:
        """Run a file of the user's; what it prints."""
        (self.repository / "mine.py").write_text(source, encoding="utf-8")
        return self._run([str(self._python), "mine.py"], self.repository, environ)

    def codex(self, provider: ResponsesServer, *commands: str) -> None:
        """A session of the real Codex in which the model has it run these commands; its hooks are trusted."""
        (self.home / ".codex").mkdir(exist_ok=True)
        (self.home / ".codex" / "config.toml").write_text(
            'model = "probe"\nmodel_provider = "loop"\napproval_policy = "never"\n[model_providers.loop]\n'
            f'name = "loop"\nbase_url = "http://127.0.0.1:{provider.port}/v1"\nwire_api = "responses"\n',
            encoding="utf-8",
        )
        provider.begin(commands)
        asked = [str(_CODEX), "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", _PROMPT]
        self._run(asked, self.repository, {})

    def until(self, there: Callable[[], object]) -> None:
        """Wait for what the resident process does."""
        ends = time.monotonic() + _PATIENCE
        while not there() and time.monotonic() < ends:
            time.sleep(0.05)

    def _run(self, command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> str:
        done = subprocess.run(  # noqa: S603 - what the project's own pages say
            command,
            cwd=folder,
            env={**self.environ, **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"{' '.join(command)!r} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout


def codex(desk: Desk, fences: Sequence[Fence]) -> bool:
    """In Codex: one session fails and passes, the next one is told."""
    desk.follow(fences)
    with responses_server() as provider:
        desk.codex(provider, _FAILS, _PASSES)
        desk.until(lambda: [*(desk.repository / ".wisen/cards").rglob("*.md")])
        desk.until(desk.socket.exists)
        desk.codex(provider, "sh report.sh 2025")
        return bool(provider.holding(f"What passed instead: `{_PASSES}`"))


def transcripts(desk: Desk, fences: Sequence[Fence]) -> bool:
    """A folder of transcripts, and then a session with hooks."""
    desk.follow(fences)
    with responses_server() as provider:
        # The first session starts the resident process, without waiting for it.
        desk.codex(provider, "ls")
        desk.until(desk.socket.exists)
        desk.codex(provider, "sh report.sh 2025")
        return bool(provider.holding(_PASSES))


def pydantic_ai(desk: Desk, fences: Sequence[Fence]) -> bool:
    """An agent of pydantic-ai's: a run is told what it came to, and the next one carries the lesson."""
    desk.follow(fences)
    bodies = list[dict[str, Any]]()

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        bodies.append(body)
        return {"content": "3 lamps"}

    mine = f'prompt = "How many lamps are there?"\nresult = agent.run_sync(prompt)\ntold(result, 0.0, {_FEEDBACK!r})\n'
    with chat_server(answer) as url:
        source = f"{_python(fences)}\n{mine}agent.run_sync(prompt)\n"
        desk.python(source, OPENAI_BASE_URL=url, OPENAI_API_KEY="none")
    return [_FEEDBACK in str(body) for body in bodies] == [False, True]


def own_loop(desk: Desk, fences: Sequence[Fence]) -> bool:
    """A function of one's own, which prints what it made of the advice."""
    desk.follow(fences)
    source = _python(fences)
    said = re.findall(r"^#> ?(.*)$", source, re.MULTILINE)
    return bool(said) and desk.python(source).splitlines() == said


WAYS: Mapping[str, Callable[[Desk, Sequence[Fence]], bool]] = {
    "codex": codex,
    "pydantic-ai": pydantic_ai,
    "own loop": own_loop,
    "transcripts": transcripts,
}


def fences_of(way: str) -> list[Fence]:
    """The fences that the pages mark for a way, in their order."""
    pages = [path.read_text("utf-8") for path in sorted(_DOCS.rglob("*.md"))]
    return [
        Fence(language=language, text=text)
        for page in pages
        for name, language, text in _FENCE.findall(page)
        if name == way
    ]


def lines_added(source: str) -> int:
    """Lines of a source that are there for wisen alone; an argument in a line that is there anyway is none."""
    known, lines = {"wisen"}, set[int]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "wisen":
            known |= {one.asname or one.name for one in node.names}
            lines.add(node.lineno)
        if isinstance(node, ast.Import) and any(one.name.partition(".")[0] == "wisen" for one in node.names):
            lines.add(node.lineno)
        if isinstance(node, ast.Assign) and _root(node.value) in known:
            known |= {one.id for one in node.targets if isinstance(one, ast.Name)}
            lines.add(node.lineno)
        if isinstance(node, ast.withitem) and _root(node.context_expr) in known:
            lines.add(node.context_expr.lineno)
        if isinstance(node, ast.Expr) and _root(node.value) in known:
            lines.add(node.lineno)
        if isinstance(node, ast.FunctionDef):
            lines |= {one.lineno for one in node.decorator_list if _root(one) in known}
    return len(lines)


def _root(node: ast.expr) -> str:
    """The name that an expression begins with."""
    while isinstance(node, ast.Call | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _python(fences: Sequence[Fence]) -> str:
    return "\n".join(fence.text for fence in fences if fence.language == "python")


def follow(way: str, folder: Path, tree: Path) -> Took:
    """One way, from nothing."""
    fences = fences_of(way)
    if not fences:
        sys.exit(f"no page of docs/ has a fence behind `<!-- first minutes: {way} -->`")
    desk = Desk(folder, tree)
    if way == "transcripts":  # what is on the disk before wisen comes
        with responses_server() as provider:
            desk.codex(provider, _FAILS, _PASSES)
    began = time.perf_counter()
    recalled = WAYS[way](desk, fences)
    seconds = time.perf_counter() - began
    desk.shell("wisen hooks stop")
    return Took(
        way=way,
        seconds=seconds,
        installing=desk.installing,
        lines=lines_added(_python(fences)),
        recalled=recalled,
    )


def copy_of_tree(to: Path) -> Path:
    """What a clone of the repository holds, with what isn't committed yet."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - the developer's own git
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (_ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(_ROOT / name, to / name)
    return to


def main() -> None:
    """Follow the ways, and say how long each took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ways", nargs="*", metavar="WAY", help=f"{', '.join(WAYS)}; by default all")
    given = parser.parse_args()
    took = list[Took]()
    for way in given.ways or WAYS:
        if way not in WAYS:
            parser.error(f"no way {way!r}; there are {', '.join(WAYS)}")
        with tempfile.TemporaryDirectory() as folder:
            tree = copy_of_tree(Path(folder) / "tree")
            took.append(follow(way, Path(folder), tree))
        sys.stdout.write(f"{said_of(took[-1])}\n")
        sys.stdout.flush()
    if not all(one.good for one in took):
        sys.exit(f"more than {_SECONDS:.0f} seconds or {_LINES} lines, or no lesson was recalled")


def said_of(took: Took) -> str:
    """A line of the report."""
    minutes, seconds = divmod(round(took.seconds), 60)
    recalled = "the lesson was recalled" if took.recalled else "NO LESSON WAS RECALLED"
    return (
        f"{took.way:12} {minutes} min {seconds:02} s, {took.installing:.0f} s of it installing; "
        f"{took.lines} lines of code; {recalled}"
    )


if __name__ == "__main__":
    main()
