"""What a command line runs, as far as its form tells."""

import os
import re

_LISTED = re.compile(r"&&|\|\||;|\n")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_WORD = re.compile(r"[^\s'\"`();|&<>]+")
_VERSION = re.compile(r"(?<=[A-Za-z])[\d.]+$")
_MARKS = "{}[],:"
_FILE = re.compile(r"[^=:]*[\w-](\.[A-Za-z]{1,5})(?:::\S*)?")
"""Its ending stands for a file's name; a test in it is named after two colons."""


def words_of_command(command: str) -> list[str]:
    """The words of a command line, without what quotes and joins them."""
    return _WORD.findall(command)


def program_of(command: str) -> str:
    """The program that a command line is about: of its last part, the one that begins the pipe; "" for none."""
    for part in reversed(_LISTED.split(command)):
        words = [word for word in words_of_command(part.split("|")[0]) if not _ASSIGNED.match(word)]
        if words:
            return _base(words[0])
    return ""


def alike(failed: str, passed: str, program: str = "") -> bool:
    """Whether the second call does what the first was to do, a call of `program`, by default the command line's.

    It names the program, in whatever version (`python`, `python3`), and more than half of the first one's words.
    """
    first, second = _words(failed), _words(passed)
    name = _name(program or program_of(failed))
    if name not in {_name(word) for word in second}:
        return False
    others = {word for word in first if _name(word) != name}
    return 2 * (1 + len(others & second)) > 1 + len(others)


def in_like_form(one: str, other: str) -> bool:
    """Whether two commands run one program with mostly the same words, or one of them with some more.

    Files of one kind are the same word, but for the program itself.
    """
    first, second = _form(one), _form(other)
    return alike(first, second) or alike(second, first)


def _form(command: str) -> str:
    program, *rest = words_of_command(command) or [""]
    return " ".join([program, *(_FILE.sub(r"*\1", word) for word in rest)])


def _words(call: str) -> set[str]:
    return {word for found in words_of_command(call) if (word := found.strip(_MARKS))}


def _name(word: str) -> str:
    return _VERSION.sub("", _base(word))


def _base(word: str) -> str:
    return os.path.basename(word)  # noqa: PTH119 - a word, of which no path is asked for
