"""What the Postgres store does with recorded calls and run records, for several callers in one statement."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wisen.stores.postgres.client import Connection

_WITH_HEAD = "(head IS NULL OR EXISTS (SELECT FROM calls h WHERE h.scope = a.scope AND h.key = head AND h.ordinal = 0))"
_ASKED = (
    "unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::bytea[])"
    " WITH ORDINALITY AS a (scope, key, ordinal, head, response, at)"
)
# In one order, so that of two transactions with the same calls neither waits for the other.
_INSERT = (
    f"INSERT INTO calls SELECT scope, key, ordinal, response FROM {_ASKED} WHERE {_WITH_HEAD}"  # noqa: S608 - constants
    " ORDER BY scope, key, ordinal, at ON CONFLICT DO NOTHING RETURNING scope, key, ordinal"
)
_KEPT = (
    "SELECT at, c.response"  # noqa: S608 - constants
    f" FROM {_ASKED} JOIN calls c USING (scope, key, ordinal) WHERE {_WITH_HEAD}"
)
_FIND = (
    "SELECT scope, key, ordinal, response FROM calls"
    " JOIN unnest($1::text[], $2::text[], $3::int[]) AS a (scope, key, ordinal) USING (scope, key, ordinal)"
)
_DROP = (
    "WITH gone AS (DELETE FROM calls WHERE scope = ANY($1::text[]) RETURNING scope)"
    " SELECT scope, count(*) FROM gone GROUP BY scope"
)
_SAVE_RUNS = """
    INSERT INTO runs (run_id, tenant, started, record)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) ON CONFLICT (run_id)
    DO UPDATE SET tenant = excluded.tenant, started = excluded.started, record = excluded.record
"""

MARKS = """
    SELECT r.started, coalesce((x.attempts #>> '{{0,advice_delivered}}')::boolean, false),
        x.status = 'satisfied' AND json_array_length(x.attempts) = 1
    FROM runs r, json_to_record(r.record::json) AS x (status text, attempts json)
    WHERE {} AND x.status NOT IN ('unfinished', 'unevaluated') ORDER BY r.started, r.number
"""
"""What `RunRecord.mark` gives, of the runs for which a condition holds."""

CallKey = tuple[str, str, int]
"""Scope, key and ordinal, as they are stored."""
RunRow = tuple[str, str, int, str]
"""Id, tenant, start and record, as they are stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCall:
    """A response that is to be kept, unless there is one."""

    at: CallKey
    response: bytes
    head: str | None = None
    """The key without which, in the same scope, nothing is kept."""


async def keep_first(connection: Connection, calls: Sequence[NewCall]) -> list[bytes | None]:
    """What is kept of each call: its own response or the one that was there before; `None` where its head is gone."""
    inserted = {tuple(row) for row in await connection.fetch(_INSERT, *_columns(calls))}
    times = Counter(call.at for call in calls)
    given = [call.response if call.at in inserted and times[call.at] == 1 else None for call in calls]
    asked = [place for place, response in enumerate(given) if response is None]
    if asked:
        # In a statement of its own, which sees what others have committed at the same moment.
        for at, response in await connection.fetch(_KEPT, *_columns([calls[place] for place in asked])):
            given[asked[at - 1]] = response
    return given


def _columns(calls: Sequence[NewCall]) -> tuple[Sequence[object], ...]:
    scopes, keys, ordinals = zip(*(call.at for call in calls), strict=True)
    return scopes, keys, ordinals, [call.head for call in calls], [call.response for call in calls]


async def find_calls(connection: Connection, calls: Iterable[CallKey]) -> Mapping[CallKey, bytes]:
    """The responses of those of these calls that are kept."""
    rows = await connection.fetch(_FIND, *zip(*set(calls), strict=True))
    return {(scope, key, ordinal): response for scope, key, ordinal, response in rows}


async def drop_scopes(connection: Connection, scopes: Iterable[str]) -> Counter[str]:
    """Forget the calls of these scopes; says how many each had."""
    return Counter(dict(map(tuple, await connection.fetch(_DROP, sorted(set(scopes))))))


async def save_runs(connection: Connection, runs: Iterable[RunRow]) -> None:
    """Keep run records in place of those with the same ids; of equal ids the last counts."""
    last = {run[0]: run for run in runs}
    await connection.execute(_SAVE_RUNS, *zip(*(last[run_id] for run_id in sorted(last)), strict=True))


async def find_runs(connection: Connection, run_ids: Iterable[str]) -> Mapping[str, str]:
    """The records of those of these runs that are kept, by id."""
    rows = await connection.fetch(
        "SELECT run_id, record FROM runs WHERE run_id = ANY($1::text[])", sorted(set(run_ids))
    )
    return dict(map(tuple, rows))
