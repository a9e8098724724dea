"""What a rule for an official number is: a form, a check, and the words that people write beside it.

The number's form decides how much evidence it takes (`needs`). Rare forms and strong checks need nothing more. Weaker
ones need a word of context, or a text that consists of such numbers alone. The weakest need a word of context.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from wisen.screening.rules import checks_americas, checks_asia_africa, checks_europe, checksums
from wisen.screening.rules.checksums import Check
from wisen.screening.rules.tables import table_of

_CHECKS: dict[str, Check] = {
    **checks_americas.CHECKS,
    **checks_asia_africa.CHECKS,
    **checks_europe.CHECKS,
    **checksums.CHECKS,
}


class Needs(IntEnum):
    """How much it takes besides the form and the check."""

    NOTHING = 0
    ALONE = 1
    """A word of context, or a text of nothing but numbers like it."""
    WHOLE = 2
    """A word of context, or a text that is this number."""
    CONTEXT = 3


@dataclass(frozen=True, slots=True)
class IdRule:
    """One official number."""

    name: str
    label: str
    sizes: tuple[int, ...]
    """How many letters and digits it may have, separators not counted."""
    form: re.Pattern[str]
    """Matches the whole number as written, in upper case."""
    needs: Needs
    context: re.Pattern[str] | None
    check: Check | None
    """Judges letters and digits without separators, in upper case."""


def words(spaced: str) -> re.Pattern[str]:
    """Any of the words, as a word's beginning; short ones in Latin letters (up to four) as a whole word.

    Args:
        spaced: The words with spaces between; an underscore stands for what may part a word ("tax_id": tax id, tax-id).
    """
    parts: list[str] = []
    for word in spaced.split():
        end = r"(?![a-z])" if len(word) <= 4 and word.isascii() else ""  # noqa: PLR2004 - longer ones are telling
        parts.append(re.escape(word).replace("_", "[ _./-]?") + end)
    return re.compile(r"(?<![a-z])(?:" + "|".join(parts) + ")", re.IGNORECASE)


@cache
def id_rules() -> tuple[IdRule, ...]:
    """The table, `data/ids.toml`."""
    return tuple(_read())


def _read() -> Iterator[IdRule]:
    for number in table_of("ids.toml")["number"]:
        context = words(number["context"]) if "context" in number else None
        for one in number["forms"]:
            yield IdRule(
                name=number["name"],
                label=number["label"],
                sizes=tuple(one["sizes"]),
                form=re.compile(one["form"]),
                needs=Needs[one["needs"].upper()],
                context=context,
                check=_CHECKS[one["check"]] if "check" in one else None,
            )
