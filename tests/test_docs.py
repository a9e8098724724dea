"""What README and docs say is true: their code runs, their links lead somewhere, and their commands exist."""

import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.main
from pytest_examples import CodeExample, EvalExample, find_examples
from wrapping import framework_of

from wisen.cli.main import application

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
OPENING = re.compile(r"^ *```(\w*)")
LOCAL = 'test="local"'
OFFLINE: list[str] = []
"""Not empty while code of the docs runs: then nothing may connect to another machine."""


def refuse_network(event: str, _args: object) -> None:
    if OFFLINE and event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"):
        raise OSError(f"the code of {OFFLINE[-1]} goes to the network")


@pytest.fixture(scope="module", autouse=True)
def audited() -> None:
    sys.addaudithook(refuse_network)


@contextmanager
def offline(who: str) -> Generator[None]:
    OFFLINE.append(who)
    try:
        yield
    finally:
        OFFLINE.pop()


def place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def fences() -> Iterator[Any]:
    for example in find_examples(*map(str, PAGES)):
        if framework_of(example):
            continue  # run by tests/frameworks, against a provider
        marks = (pytest.mark.local_model,)
        at = place(Path(example.path), example.start_line)
        yield pytest.param(example, id=at, marks=marks if LOCAL in example.prefix else ())


def lines_of(error: Exception) -> Iterator[int]:
    """The lines of the page that the error came through."""
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename.endswith(".md"):
            yield step.tb_lineno
        step = step.tb_next


@pytest.mark.parametrize("example", list(fences()))
def test_code_runs_and_prints_what_it_says(example: CodeExample, eval_example: EvalExample, tmp_path: Path) -> None:
    printed = 0

    def count(path: Path, frame: Any, _args: Sequence[Any]) -> bool:
        nonlocal printed
        own = path.samefile(frame.filename) if Path(frame.filename).exists() else False
        printed += own
        return own

    eval_example.set_config(line_length=140)
    eval_example.include_print = count
    check = eval_example.run_print_update if eval_example.update_examples else eval_example.run_print_check
    problem = ""
    with chdir(tmp_path), offline(place(Path(example.path), example.start_line)):
        try:
            check(example)
        except Exception as error:  # noqa: BLE001 - its traceback, as pytest-examples shortens it, can't be shown
            problem = f"{type(error).__name__}: {error} (line {', '.join(map(str, lines_of(error)))})"
    if problem:
        pytest.fail(problem, pytrace=False)
    if not eval_example.update_examples:
        said = len(re.findall(r"^ *#> ?", example.source, re.MULTILINE))
        said += len(re.findall(r'^ *"""$', example.source, re.MULTILINE)) // 2
        assert printed == said, "a `#>` stands where nothing is printed"


def test_code_for_another_framework_has_a_test_that_runs_it() -> None:
    named = {framework_of(example) for example in find_examples(*map(str, PAGES))} - {""}
    assert named == {path.stem.removeprefix("test_") for path in (ROOT / "tests" / "frameworks").glob("test_*.py")}


def prose(page: Path) -> list[tuple[int, str]]:
    """The lines that aren't in a fence, numbered."""
    lines: list[tuple[int, str]] = []
    fenced = False
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if OPENING.match(line):
            fenced = not fenced
        elif not fenced:
            lines.append((number, line))
    return lines


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    found: Counter[str] = Counter()
    names: set[str] = set()
    for _, line in prose(page):
        if heading := re.match(r"#{1,6} (.+)", line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).replace("`", "")
            slug = re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")
            names.add(f"{slug}_{found[slug]}" if found[slug] else slug)
            found[slug] += 1
    return names


def links() -> Iterator[Any]:
    for page in PAGES:
        for number, line in prose(page):
            for target in re.findall(r"(?<!`)\[[^\]]*\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "``", line)):
                if not re.match(r"[a-z]+:", target):
                    yield pytest.param(page, target, id=f"{place(page, number)} {target}")


@pytest.mark.parametrize(("page", "target"), list(links()))
def test_links_lead_somewhere(page: Path, target: str) -> None:
    name, _, anchor = target.partition("#")
    file = (page.parent / name).resolve() if name else page
    assert file.exists(), f"no file {name}"
    assert file.is_relative_to(ROOT)
    assert not anchor or anchor in anchors(file), f"{file.name} has no heading with the anchor {anchor}"


def commands() -> Iterator[Any]:
    """Every line of a bash fence that calls `wisen`, also by way of `make demo ARGS=…`; or `make`."""
    for page in PAGES:
        inside = ""
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
            if fence := OPENING.match(line):
                inside = "" if inside else fence[1] or "text"
            elif inside == "bash" and line.strip():
                yield pytest.param(shlex.split(line, comments=True), id=f"{place(page, number)} {line.strip()}")


def parse(arguments: Sequence[str]) -> None:
    """Let the command line's own parser read these arguments, without running anything."""
    command: Any = typer.main.get_command(application())
    context: Any = None
    rest = list(arguments)
    while True:
        try:
            context = command.make_context(command.name, rest, parent=context)
        except typer.Exit:  # such as after --version
            return
        if not hasattr(command, "resolve_command"):
            return
        rest = [*context._protected_args, *context.args]
        _, command, rest = command.resolve_command(context, rest)


@pytest.mark.parametrize("words", list(commands()))
def test_commands_exist(words: list[str]) -> None:
    while words and re.match(r"\w+=", words[0]):
        words = words[1:]
    for stop in ("|", "<", ">", ">>", "&&"):
        words = words[: words.index(stop)] if stop in words else words
    if not words:
        return
    program, *arguments = words
    if program == "wisen":
        parse(arguments)
    if program == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        assert arguments[0] in targets
        given = [word.removeprefix("ARGS=") for word in arguments if word.startswith("ARGS=")]
        if arguments[0] == "demo":
            parse(["demo", *shlex.split(" ".join(given))])


def test_a_command_that_does_not_exist_is_noticed() -> None:
    for wrong in (["lesson", "list"], ["run", "tasks.toml", "--modle", "x"], ["lessons", "show"], ["doctor", "extra"]):
        with pytest.raises(Exception, match=r"(?i)no such|missing|unexpected"):
            parse(wrong)


def tracked() -> list[Path]:
    if not (ROOT / ".git").exists():
        return [path for folder in ("src", "docs", "tests", "examples") for path in (ROOT / folder).rglob("*.*")]
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - the developer's own git
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def test_no_file_names_a_registry_or_a_folder_of_one_machine() -> None:
    registries = ("py" + "pi.org", "python" + "hosted", "registry." + "npmjs", "crates" + ".io")
    foreign = re.compile("|".join(map(re.escape, registries)) + r"|--(?:extra-)?index-url|/simple/?(?=[\"'\s]|$)")
    examples = r"(?!(?:anna|user|ubuntu|page|public|x|c)\b)"
    folders = re.compile(rf"(?<![\w.~}}])/(?:home|Users|root|work|mnt|srv|tmp)/{examples}\w[\w.-]*")
    found: list[str] = []
    for path in tracked():
        data = path.read_bytes() if path.is_file() else b""
        if b"\0" in data or path == Path(__file__):
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            found += [f"{place(path, number)}: {match[0]}" for match in foreign.finditer(line)]
            found += [f"{place(path, number)}: {match[0]}" for match in folders.finditer(line)]
    assert found == []
