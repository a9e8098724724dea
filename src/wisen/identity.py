"""What makes two texts the same, two wordings of one idea, or rivals.

Spelling joins nothing. Two texts are the same where only their form differs. Two are wordings of one idea where neither
has other content in the place of the other's, denies what the other says, or says far more. They share words, or mean
the same by other ones, and an embedder that knows meaning must find them alike: both as a whole, and in the words that
each has for itself. The fewer words there are to go by, the more alike they have to be. Texts built of like words that
differ in one that matters are two ideas, however near their vectors: embedders hardly see it. Texts in like words, or
that would be one idea, are rivals where one contradicts the other.
"""

import re
from functools import lru_cache
from typing import Final, Literal

from wisen.claims.agreement import (
    both_deny,
    contradict,
    deny,
    hard_content_agrees,
    has_content,
    in_like_words,
    in_one_frame,
    in_other_order,
    in_place_of_another,
    likeness,
    one_word_apart,
    oppose,
    other_content,
    reworded,
    says_more,
    shared_content,
    turned_round,
    words_in_play,
)
from wisen.claims.claim import Claim, claim_of
from wisen.claims.normal_form import same_form

__all__ = [
    "Relation",
    "Standing",
    "apart",
    "content_key",
    "may_agree",
    "other_case",
    "quoted_beyond",
    "relation",
    "same_form",
    "standing",
]

Relation = Literal["same", "idea", "rivals", "other"]
"""How two texts stand to each other."""

Standing = Literal["agrees", "contradicts", ""]
"""How the content of two texts stands: the same in both, denied by one of them, or neither."""

_LIKE_WORDS: Final = 0.5
"""Share of common words from which two texts that disagree in content are rivals."""
_SOME_WORDS: Final = 0.2
"""Share of common words from which two texts may say the same."""
_CODE: Final = re.compile(r"`([^`\n]{1,400})`")
_NEEDED: Final = 1.55
_NEEDED_LESS: Final = 0.06
_NEEDED_AT_LEAST: Final = 0.65
"""By how much three likenesses together have to exceed `same_meaning`: of the meanings, of the words, and of the words
that are `apart`. It is less by `_NEEDED_LESS` for each of the `words_in_play`."""
_CONTENT_COUNTS: Final = 0.3
"""What a shared number, date, code or quotation adds to a cosine; two of them count, and a name is a sixth of one."""


def content_key(text: str) -> str:
    """Equal for texts whose numbers with units, dates, codes, quotations and names agree; "" for a text without any."""
    return claim_of(text).key


@lru_cache(maxsize=4_096)
def standing(one: str, other: str) -> Standing:
    """How the content of two tasks stands; the same for both orders.

    They agree where they have numbers, names or other hard content, and neither has other content in its place or says
    the opposite. Tasks in like words contradict each other where one denies what the other says, or goes from where the
    other goes to.
    """
    mine, others = claim_of(one), claim_of(other)
    if (deny(mine, others) and not both_deny(mine, others)) or turned_round(mine, others):
        return "contradicts" if in_like_words(mine, others) else ""
    agree = has_content(mine, others) and hard_content_agrees(mine, others) and not oppose(mine, others)
    return "agrees" if agree else ""


def may_agree(one: str, other: str) -> bool:
    """Whether two texts that aren't known as one idea may still say the same: they share content, or some words.

    Tried side by side they would hide each other's effect.
    """
    mine, others = claim_of(one), claim_of(other)
    return shared_content(mine, others) > 0 or likeness(mine, others) >= _SOME_WORDS


def quoted_beyond(text: str, situation: str) -> frozenset[str]:
    """The words that a text quotes as code, beyond those of the situation that it was learned in."""
    quoted = (word for code in _CODE.findall(text) for word in code.split())
    return frozenset(quoted) - frozenset(situation.split())


def other_case(one: str, at: str, other: str, other_at: str) -> bool:
    """Whether two texts speak of different cases: each names something of its own situation that the other doesn't.

    "For zone 7 add 12 EUR", learned from a parcel to zone 7, and "For zone 8 add 15 EUR", from one to zone 8, can both
    be right. "VAT is 12 percent" and "VAT is 25 percent" can't, whichever orders they were learned from.

    Args:
        one: A text.
        at: The situation it was learned in.
        other: Another text.
        other_at: The situation of that one.
    """
    mine, others = claim_of(one).stems, claim_of(other).stems
    return bool((mine - others) & claim_of(at).stems) and bool((others - mine) & claim_of(other_at).stems)


def apart(one: str, other: str) -> tuple[str, str] | None:
    """The words and values of each of two texts that the other one doesn't have.

    Two rules for one port, or two pieces of advice on one invoice, have much in common until that is left out. `None`
    where one only rewords the other.
    """
    mine, others = claim_of(one), claim_of(other)
    if in_one_frame(mine, others):
        return None
    common = mine.stems & others.stems
    return mine.own_words(common), others.own_words(common)


def relation(
    one: str,
    other: str,
    *,
    cosine: float | None = None,
    same_meaning: float | None = None,
    own: float = 1.0,
) -> Relation:
    """How two texts stand to each other; the same for both orders.

    Args:
        one: A text.
        other: Another one.
        cosine: That of their vectors; `None` where the embedder has no say.
        same_meaning: The cosine from which texts say the same, as `KnowsMeaning` has it; without it nothing is an idea.
        own: The cosine of the words that are `apart`, where there are some.

    Returns:
        "same" where only the form differs, "idea" for two wordings of one claim, "rivals" for like words, or two that
        would be one idea but for their content, else "other".
    """
    if same_form(one) == same_form(other):
        return "same"
    mine, others = claim_of(one), claim_of(other)
    words_alike = likeness(mine, others)
    alike = False
    if cosine is not None and same_meaning is not None and mine.stems and others.stems:
        whole = cosine + _CONTENT_COUNTS * shared_content(mine, others)
        needed = max(_NEEDED_AT_LEAST, _NEEDED - _NEEDED_LESS * words_in_play(mine, others))
        alike = whole >= same_meaning and whole + words_alike + own >= same_meaning + needed
        alike = alike and not says_more(mine, others)
        if alike and _may_be_one(mine, others):
            return "idea"
    if words_alike < _LIKE_WORDS and not alike:
        return "other"
    disagree = in_place_of_another(mine, others) or contradict(mine, others) or one_word_apart(mine, others)
    disagree = disagree or in_other_order(mine, others)
    return "rivals" if disagree else "other"


def _may_be_one(one: Claim, other: Claim) -> bool:
    """Whether two claims can be one if they mean the same: the more words they share, the more has to agree."""
    if turned_round(one, other) or in_other_order(one, other):
        return False
    if in_one_frame(one, other):
        return hard_content_agrees(one, other) and not contradict(one, other) and reworded(one, other)
    if contradict(one, other) and not both_deny(one, other):
        return False
    return hard_content_agrees(one, other) if in_like_words(one, other) else not other_content(one, other)
