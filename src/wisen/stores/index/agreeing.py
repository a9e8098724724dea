"""Which hits agree with the query in content: decided on the texts of the best, the same for every store."""

from collections.abc import Sequence
from dataclasses import replace

from wisen.cards import Situation
from wisen.identity import Standing, standing
from wisen.recall import RecallHit, RecallQuery
from wisen.screening.redaction import without_placeholders

_AGREES = "same numbers and names"
_MOST = 20_000
"""Characters of prompts that are read for a query: of many long ones, only the best hits'."""


def by_content(query: RecallQuery, hits: Sequence[RecallHit]) -> list[RecallHit]:
    """The best `query.k` of hits that come best first by relevance, and agree if the keys of their content do.

    Those of the same prompt come first, then those whose prompt agrees with the query's in content, then all others,
    and last those that it contradicts. The keys decide for hits whose prompts aren't read.
    """
    left, told = _MOST, list[RecallHit]()
    for hit in hits:
        found = hit.card.situation
        left -= len(found.asked)
        told.append(_told(hit, stands(query.situation, found) if left >= 0 else "agrees" if hit.agrees else ""))
    told.sort(key=lambda hit: (hit.relevance == 1.0, hit.fit), reverse=True)  # equals keep their order
    return told[: query.k]


def stands(one: Situation, other: Situation) -> Standing:
    """How the content of two situations stands. None agrees in what the screen took out: nobody knows whose it was."""
    found = standing(one.asked, other.asked)
    return "" if found == "agrees" and not all(map(_is_whole, (one.asked, other.asked))) else found


def _is_whole(text: str) -> bool:
    return without_placeholders(text) == text


def _told(hit: RecallHit, how: Standing) -> RecallHit:
    agrees = how == "agrees"
    reasons = (_AGREES, *hit.reasons) if agrees and hit.relevance < 1.0 else hit.reasons
    return replace(hit, agrees=agrees, contradicts=how == "contradicts", reasons=reasons)
