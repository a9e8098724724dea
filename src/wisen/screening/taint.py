"""What an attempt read and used, as its trace tells.

It stands apart because it reads traces, and the screen reads texts alone.
"""

import json
from collections.abc import Iterable

from wisen.json_values import encodable
from wisen.records import Trace, TraceEvent
from wisen.screening.sinks import words_of

_READ = ("action", "observation")
_MOST = 64
_LONGEST = 100
UNSEEN = "unseen"
"""Marks an event after which nobody knows what the attempt has read."""


def reads_others(trace: Trace) -> bool:
    """Whether a run has read more than its task and the verdicts on it: a tool's result, or what can't be seen."""
    return any(event.kind in _READ or event.data.get(UNSEEN) for event in trace.events)


def used_in(events: Iterable[TraceEvent]) -> tuple[str, ...]:
    """The tools that were called, and what their arguments name beyond plain words; the first 64."""
    used: dict[str, None] = {}
    for event in events:
        if event.kind == "action":
            used[encodable(str(event.data.get("name", "")))] = None
            named = words_of(encodable(json.dumps(event.data.get("params"), ensure_ascii=False, default=str)))
            used |= dict.fromkeys(sorted(word for word in named if len(word) <= _LONGEST and not word.isalpha()))
    return tuple(used)[:_MOST]
