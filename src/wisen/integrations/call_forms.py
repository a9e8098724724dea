"""Whether two command lines are calls of one form, whatever files they name."""

import re

from wisen.integrations.shell_words import alike, words_of_command

_FILE = re.compile(r"[^=:]*[\w-](\.[A-Za-z]{1,5})(?:::\S*)?")
"""Its ending stands for a file's name; a test in it is named after two colons."""


def in_like_form(one: str, other: str) -> bool:
    """Whether two commands run one program with mostly the same words, or one of them with some more.

    Files of one kind are the same word, but for the program itself.
    """
    first, second = _form(one), _form(other)
    return alike(first, second) or alike(second, first)


def _form(command: str) -> str:
    program, *rest = words_of_command(command) or [""]
    return " ".join([program, *(_FILE.sub(r"*\1", word) for word in rest)])
