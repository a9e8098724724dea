"""Finds sinks: what a text could make an agent reach, send to, run or install.

Only form counts, never what the words mean. What lies inside a workspace (a relative path, a plain file name) is no
sink. A lesson whose run had read others' text is held where it names a sink that its circle never used: see
`wisen.memory_ci.circles`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

SinkKind = Literal["host", "address", "recipient", "account", "credential", "package", "path", "command", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sink:
    """One place of a text that names a sink."""

    kind: SinkKind
    value: str
    """What counts of it, in one form: a URL's host, an account's characters without spaces, a command's program."""
    start: int
    end: int


_QUOTE = r"[`'\"\u201c\u2018]?"
_NAME = r"[A-Za-z][\w.-]{0,60}"
_IDENTIFIER = r"(?:[A-Za-z][a-z\d]{0,30}(?:_[A-Za-z\d]{1,30}){1,6}|[a-z]{1,20}(?:[A-Z][a-z\d]{1,20}){1,5})"
_FORMS: tuple[tuple[SinkKind, re.Pattern[str]], ...] = (
    (
        "host",
        re.compile(
            r"\b[a-z][a-z\d+.-]{1,20}://(?:[^\s/@]{1,80}@)?(?P<value>[^\s/:?#`'\"<>()\[\]{},;]{1,253})", re.IGNORECASE
        ),
    ),
    ("recipient", re.compile(r"(?P<value>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})")),
    (
        "recipient",
        re.compile(
            rf"\b(?:to|cc|bcc|tag|notify|ping|mention|via|in|on)\s{{1,2}}{_QUOTE}(?P<value>[@#][A-Za-z][\w.-]{{1,60}})"
        ),
    ),
    ("address", re.compile(r"(?<![\w.])(?P<value>\d{1,3}(?:\.\d{1,3}){3})(?![\w.]|\.\d)")),
    ("account", re.compile(r"(?<![\w.,+/-])(?P<value>\+?\d[\d /-]{6,30}\d)(?![\w.,]?\d)")),
    (
        "account",
        re.compile(r"(?<![\w/.-])(?P<value>(?=[A-Za-z]{0,40}\d)(?=\d{0,40}[A-Za-z])[A-Za-z\d]{16,90})(?![\w/-])"),
    ),
    ("account", re.compile(r"\b(?P<value>[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){3,7}(?: ?[A-Z\d]{1,3})?)\b")),
    (
        "credential",
        re.compile(
            r"\b(?P<value>(?:[A-Z\d]{1,30}_){0,5}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:_[A-Z\d]{1,30}){0,3})\b"
        ),
    ),
    ("credential", re.compile(r"(?P<value>«the [^»\n]{1,60}»)")),
    (
        "path",
        re.compile(
            r"(?<![\w./~:<-])(?P<value>(?:~|\.\.|/(?!/)[\w.-]{1,60}|(?<!\w)[A-Za-z]:|\\\\[\w.-]{1,60})(?:[/\\][\w.@*{}$-]{1,80}){1,12}/?)"
        ),
    ),
    (
        "package",
        re.compile(
            rf"\b(?:install|add|i|get|require)\s{{1,2}}(?:-{{1,2}}[\w-]{{1,20}}\s{{1,2}}){{0,4}}{_QUOTE}(?P<value>@?[a-z][\w.]{{0,40}}[-_/@\d=][\w./@=<>~^-]{{0,60}})",
            re.IGNORECASE,
        ),
    ),
    (
        "package",
        re.compile(
            r"\b(?:(?:pip3?|pipx|uv|npm|pnpm|yarn|bun|cargo|gem|go|brew|apt|apt-get|conda|poetry)\s{1,2}(?:install|add|i|get|run)"
            r"|npx|uvx)\s{1,2}(?:-{1,2}[\w-]{1,20}\s{1,2}){0,4}(?P<value>@?[a-z][\w./@=<>~^-]{1,60})"
        ),
    ),
    ("command", re.compile(rf"(?<![\w./-])(?P<value>{_NAME})\s{{1,2}}(?=-{{1,2}}[A-Za-z])")),
    (
        "command",
        re.compile(rf"`(?:sudo\s{{1,2}})?(?P<value>{_NAME})\s{{1,2}}[^`\n]{{1,200}}[-/.:=$|>@][^`\n]{{0,200}}`"),
    ),
    ("command", re.compile(rf"\|\s{{0,3}}(?:sudo\s{{1,2}})?(?P<value>{_NAME})(?=\s|`|$)", re.MULTILINE)),
    ("tool", re.compile(r"(?<![\w.])(?P<value>[A-Za-z]\w{2,60})\((?=[^\s)])")),
    (
        "tool",
        re.compile(
            rf"\b(?:call|calls|calling|invoke|invoking|use|using|run|running|with|via|through|tool|function)\s{{1,2}}(?:the\s{{1,2}}|tool\s{{1,2}}|function\s{{1,2}}){{0,2}}{_QUOTE}(?P<value>{_IDENTIFIER})\b"
        ),
    ),
    ("tool", re.compile(rf"{_QUOTE}\b(?P<value>{_IDENTIFIER}){_QUOTE}\s{{1,2}}(?:tool|function|endpoint|command)\b")),
)
_DOMAIN = re.compile(
    r"(?<![\w@./\\-])(?P<value>(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.){1,5}(?P<top>[a-z]{2,24}))(?![\w(=\[]|\.\w)",
    re.IGNORECASE,
)
_FILES = frozenset(("cc", "md", "ml", "pl", "ps", "py", "rs", "sh", "so"))
"""Top-level domains that are endings of file names far more often."""
_CHUNK = re.compile(r"[^\s`'\"<>()\[\]{},;|]{1,400}")
_READ = 20_000
_EDGES = ".,:;!?-/\\"
_SPACES = re.compile(r"[\s/-]+")


def find_sinks(text: str) -> list[Sink]:
    """What a text names that an agent could reach, in the text's order; overlapping forms are all given."""
    return sorted(_found(text), key=lambda sink: (sink.start, sink.end, sink.kind))


def words_of(text: str) -> frozenset[str]:
    """What a text names, in the form in which `Sink.value` stands: words, and hosts, accounts and programs whole.

    Of a long text, its beginning and its end are read.
    """
    if len(text) > 2 * _READ:
        text = f"{text[:_READ]}\n{text[-_READ:]}"
    words = {word for chunk in _CHUNK.findall(text.lower()) if (word := chunk.strip(_EDGES))}
    return frozenset(words | {sink.value for sink in _found(text)})


def _found(text: str) -> Iterator[Sink]:
    for kind, form in _FORMS:
        for match in form.finditer(text):
            yield _sink(kind, match)
    if "." in text:
        for match in _DOMAIN.finditer(text):
            top = match["top"].lower()
            if top in _top_level_domains() and top not in _FILES:
                yield _sink("host", match)


def _sink(kind: SinkKind, match: re.Match[str]) -> Sink:
    start, end = match.span("value")
    value = match["value"].lower()
    value = _SPACES.sub("", value) if kind == "account" else value.strip(_EDGES)
    return Sink(kind=kind, value=value, start=start, end=end)


@cache
def _top_level_domains() -> frozenset[str]:
    text = files("wisen.screening").joinpath("data/top_level_domains.txt").read_text(encoding="ascii")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())
