"""Which hits agree with the query in content: decided on the texts of the best, the same for every store."""

from collections.abc import Sequence
from dataclasses import replace

from wisen.identity import Standing, standing
from wisen.recall import RecallHit, RecallQuery

_AGREES = "same numbers and names"
_MOST = 20_000
"""Characters of prompts that are read for a query: of many long ones, only the best hits'."""


def by_content(query: RecallQuery, hits: Sequence[RecallHit]) -> list[RecallHit]:
    """The best `query.k` of hits that come best first by relevance, and agree if the keys of their content do.

    Those of the same prompt come first, then those whose prompt agrees with the query's in content, then all others,
    and last those that it contradicts. The keys decide for hits whose prompts aren't read.
    """
    asked, left, told = query.situation.asked, _MOST, list[RecallHit]()
    for hit in hits:
        prompt = hit.card.situation.asked
        left -= len(prompt)
        told.append(_told(hit, standing(asked, prompt) if left >= 0 else "agrees" if hit.agrees else ""))
    told.sort(key=lambda hit: (hit.relevance == 1.0, hit.fit), reverse=True)  # equals keep their order
    return told[: query.k]


def _told(hit: RecallHit, stands: Standing) -> RecallHit:
    agrees = stands == "agrees"
    reasons = (_AGREES, *hit.reasons) if agrees and hit.relevance < 1.0 else hit.reasons
    return replace(hit, agrees=agrees, contradicts=stands == "contradicts", reasons=reasons)
