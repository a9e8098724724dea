"""The trust policies: what a run may be shown of each circle's cards.

| policy | inside its circle: promoted | inside: in quarantine | outside: promoted | outside: in quarantine | held |
|---|---|---|---|---|---|
| replayed | shown | no | shown | no | no |
| trial | shown, seldom left out | on trial, left out at random | as inside | no | no |
| screened | shown, seldom left out | shown, seldom left out | as inside | no | no |

A circle is what one agent does for one owner in one tenant (`MemoryCard.circle`). A card is promoted by a replay, a
trial or a person. What a person wrote or released belongs to every circle of its tenant. A card is held where a run
that had read others' text names a sink in it which its circle never used (`Circles`).
"""

from typing import Literal

from wisen.cards import MemoryStatus

TrustPolicy = Literal["replayed", "trial", "screened"]
POLICIES: dict[str, tuple[MemoryStatus, ...]] = {
    "replayed": (MemoryStatus.PROMOTED,),
    "trial": (MemoryStatus.PROMOTED, MemoryStatus.QUARANTINED),
    "screened": (MemoryStatus.PROMOTED, MemoryStatus.QUARANTINED),
}
"""The statuses that a run may be shown inside its circle; outside of it, only promoted cards."""
