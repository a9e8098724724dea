"""The trust policies: which statuses other runs may be shown under each."""

from typing import Literal

from wisen.cards import MemoryStatus

TrustPolicy = Literal["replayed", "trial", "screened"]
POLICIES: dict[str, tuple[MemoryStatus, ...]] = {
    "replayed": (MemoryStatus.PROMOTED,),
    "trial": (MemoryStatus.PROMOTED, MemoryStatus.QUARANTINED),
    "screened": (MemoryStatus.PROMOTED, MemoryStatus.QUARANTINED),
}
