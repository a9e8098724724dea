"""Says where README, docs, help and docstrings are hard to read: long sentences, and words that we don't use.

    python tools/readability.py                    # README.md, docs/, the help of every command, and src/wisen
    python tools/readability.py docs/index.md      # these pages
    python tools/readability.py src/wisen/run.py   # the docstrings of these modules
    python tools/readability.py --help-texts       # the help alone

A line is `file:line: what is wrong: sentence`, and the exit code is 1 when there is one. Fences, generated tables and
code in backticks are left out. A page or a help text also has an average, over the sentences of its paragraphs and
lists; docstrings have none.
"""

import argparse
import ast
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer.main
from markdown_it import MarkdownIt
from markdown_it.token import Token

from wisen.cli.main import application

ROOT = Path(__file__).parents[1]
MOST_WORDS = 35
PAGE_AVERAGE, HELP_AVERAGE = 20, 25
NOT_USED = ROOT / "tools/words_not_used.txt"
_SPLITTER: Any = import_module("sentencex")
"""Its compiled module says nothing of its types."""
_MARKDOWN = MarkdownIt("commonmark").enable("table")
_MASKED = re.compile(r"codespan(\d+)")
_WORD = re.compile(r"\S*\w\S*")
_SAID = re.compile(r"[.!?:…][)\"”*_]*$")
_GENERATED = re.compile(r"<!-- (end of )?([^:,]+?)(?:: [^>]*|, [^>]*)? -->")
_BRACKETED = re.compile(r"(?<=[.!?][)\"”])\s+(?=[A-Z])")
"""Between a sentence in brackets and the next, which the splitter takes for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A paragraph, list item, heading or cell: `text` has `codespan0` where `code[0]` stands in backticks."""

    line: int
    text: str
    code: tuple[str, ...] = ()
    prose: bool = True
    """Whether its sentences count for the page's average; a heading's and a cell's don't."""

    def sentences(self) -> Iterator["Sentence"]:
        """What it says, one sentence at a time, each with the line on which it begins."""
        for found in _SPLITTER.get_sentence_boundaries("en", self.text):
            start, text = found["start_index"], found["text"]
            cuts = [0, *(gap.end() for gap in _BRACKETED.finditer(text)), len(text)]
            for first, last in pairwise(cuts):
                if said := " ".join(text[first:last].split()):
                    shift = start + first + len(text[first:last]) - len(text[first:last].lstrip())
                    yield Sentence(line=self.line + self.text.count("\n", 0, shift), text=said, block=self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a block."""

    line: int
    text: str
    block: Block

    @property
    def words(self) -> int:
        """How many words it has; code in backticks is one."""
        return len(_WORD.findall(self.text))

    @property
    def counts(self) -> bool:
        """Whether the page's average is taken over it, too."""
        return self.block.prose and _SAID.search(self.text) is not None

    def __str__(self) -> str:
        """As its page has it, with the code in its place."""
        return _MASKED.sub(lambda found: f"`{self.block.code[int(found[1])]}`", self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A text that is read as a whole: a file, its docstrings, or what `--help` prints for one command."""

    place: str
    blocks: Sequence[Block]
    average: int | None = PAGE_AVERAGE
    """The most words that its sentences may have on average; `None` for any number."""
    command: str = ""

    def at(self, line: int) -> str:
        """What stands before a line about it."""
        return f"{self.place}:{line}: " + (f"{self.command}: " if self.command else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotUsed:
    """A pattern of words that we don't use, and what we say instead."""

    pattern: re.Pattern[str]
    instead: str


def blocks(markdown: str) -> Iterator[Block]:
    """What a person reads of a text in Markdown, without fences and generated tables."""
    line, kind, generated, table = 0, "", "", False
    ends = {found[2] for found in _GENERATED.finditer(markdown) if found[1]}
    for token in _MARKDOWN.parse(markdown):
        line = token.map[0] + 1 if token.map else line
        if token.type == "html_block" and (found := _GENERATED.match(token.content)):
            generated = "" if found[1] else found[2] if _ended(found[0], ends) else generated
        if token.type in ("table_open", "table_close"):
            table = token.type == "table_open"
        if token.nesting == 1:
            kind = token.type
        if token.type == "inline" and not (generated and table) and not token.content.startswith(":::"):
            text, code = _shown(token.children or ())
            yield Block(line=line, text=text, code=code, prose=kind == "paragraph_open")


def _ended(comment: str, ends: Iterable[str]) -> bool:
    """Whether a comment opens what a later one ends: `<!-- figures: how -->` and `<!-- end of figures -->`."""
    return any(comment.removeprefix("<!-- ").startswith(end) for end in ends)


def _shown(tokens: Iterable[Token]) -> tuple[str, tuple[str, ...]]:
    """The text that a reader sees of inline Markdown, with its code apart."""
    text, code = "", list[str]()
    for token in tokens:
        if token.type == "code_inline":
            text += f"codespan{len(code)}"
            code.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            text += "\n"
        elif token.type == "text":
            text += token.content
    return text, tuple(code)


def problems(page: Page, not_used: Sequence[NotUsed]) -> Iterator[str]:
    """What is hard to read on a page, each in a line."""
    sentences = [sentence for block in page.blocks for sentence in block.sentences()]
    for sentence in sentences:
        if sentence.words > MOST_WORDS:
            yield f"{page.at(sentence.line)}{sentence.words} words: {sentence}"
        for one in not_used:
            if found := one.pattern.search(sentence.text):
                yield f"{page.at(sentence.line)}“{found[0]}”; say {one.instead}: {sentence}"
    counted = [sentence.words for sentence in sentences if sentence.counts]
    if counted and page.average is not None and sum(counted) / len(counted) > page.average:
        mean = sum(counted) / len(counted)
        line = page.blocks[0].line
        yield f"{page.at(line)}{mean:.1f} words a sentence, on average; {page.average} at most"


def words_not_used(path: Path = NOT_USED) -> list[NotUsed]:
    """The patterns of a file: in each line a pattern, what to say instead, and why, with ` | ` between."""
    made: list[NotUsed] = []
    for line in path.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            pattern, instead, _why = line.split(" | ")
            made.append(NotUsed(pattern=re.compile(rf"\b(?:{pattern.strip()})\b", re.IGNORECASE), instead=instead))
    return made


def pages(files: Iterable[Path]) -> Iterator[Page]:
    """One page per file: its Markdown, or the docstrings of a module."""
    for path in files:
        place = str(path.resolve().relative_to(ROOT)) if path.resolve().is_relative_to(ROOT) else str(path)
        text = path.read_text("utf-8")
        if path.suffix == ".py":
            yield Page(place=place, blocks=list(docstrings(text)), average=None)
        else:
            yield Page(place=place, blocks=list(blocks(text)))


def docstrings(source: str) -> Iterator[Block]:
    """The docstrings of a module, its classes, functions and attributes, each block with its line in the module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for block in blocks(inspect.cleandoc(node.value.value)):
                yield replace(block, line=node.lineno + block.line - 1)


def help_pages() -> Iterator[Page]:
    """What `--help` prints for each command, read from the parser's tree."""
    yield from _help_of(typer.main.get_command(application()), "wisen")


def _help_of(command: Any, name: str) -> Iterator[Page]:  # noqa: ANN401 - the types of typer's parser are private
    source = inspect.unwrap(command.callback) if command.callback else application
    place = str(Path(inspect.getfile(source)).relative_to(ROOT))
    line = inspect.getsourcelines(source)[1]
    told = [inspect.cleandoc(command.help or ""), *(one.help or "" for one in command.params if hasattr(one, "help"))]
    said = [Block(line=line, text=one.text, code=one.code) for text in told for one in blocks(text)]
    folded = [Block(line=line, text=" ".join(one.text.split()), code=one.code) for one in said]
    if folded:
        yield Page(place=place, blocks=folded, average=HELP_AVERAGE, command=f"{name} --help")
    for verb, below in getattr(command, "commands", {}).items():
        yield from _help_of(below, f"{name} {verb}")


def everything_in_files() -> list[Path]:
    """The files that are read when none is named."""
    written, modules = sorted((ROOT / "docs").rglob("*.md")), sorted((ROOT / "src/wisen").rglob("*.py"))
    return [ROOT / "README.md", *written, *modules]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what is hard to read, and exit with 1 if anything is."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("pages", type=Path, nargs="*", help="Markdown or Python files, in place of everything")
    asked.add_argument("--help-texts", action="store_true", help="look at the help of every command")
    given = asked.parse_args(arguments)
    everything = not given.pages and not given.help_texts
    files: list[Path] = everything_in_files() if everything else given.pages
    read = [*pages(files), *(help_pages() if everything or given.help_texts else ())]
    not_used = words_not_used()
    found = [problem for page in read for problem in problems(page, not_used)]
    for problem in found:
        print(problem)  # noqa: T201 - a program's output
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
