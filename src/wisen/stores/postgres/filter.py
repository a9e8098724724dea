"""A `CardFilter` as conditions of an SQL query."""

from collections.abc import Sequence

from wisen.cards import ANYONE
from wisen.recall import CardFilter
from wisen.stores.index.codes import hash_code, sample_card
from wisen.stores.postgres.client import Connection
from wisen.stores.postgres.text import restored, stored

# A quote within a text is escaped, so that these are names and values of the card itself.
_AWAITED = {
    "release": "c.status = 'quarantined' AND c.circle = 0",
    "verdict": (
        "c.status IN ('quarantined', 'promoted') AND EXISTS (SELECT FROM bodies b WHERE b.number = c.number"
        """ AND (strpos(b.card, '"stage":"on trial"') > 0 OR strpos(b.card, '"stage":"recheck"') > 0))"""
    ),
    "choice": (
        "c.status IN ('quarantined', 'promoted') AND EXISTS (SELECT FROM bodies b WHERE b.number = c.number"
        """ AND strpos(b.card, '"rivals":["') > 0)"""
    ),
}


class Conditions:
    """Conditions joined by AND, and the query's arguments as they are numbered."""

    def __init__(self) -> None:
        """Begin without any."""
        self.values: list[object] = []
        self._parts: list[str] = []

    def value(self, value: object) -> str:
        """Pass a value; gives what stands for it in the query."""
        self.values.append(value)
        return f"${len(self.values)}"

    def add(self, condition: str, *values: object) -> None:
        """Add a condition; `{}` stands for each value."""
        self._parts.append(condition.format(*map(self.value, values)))

    @property
    def text(self) -> str:
        """All of them as one."""
        return " AND ".join(self._parts) or "true"


def conditions(where: CardFilter, scopes: Sequence[str] | None) -> Conditions:
    """What `where` asks of the table of cards, named `c`; `scopes` as `fitting_scopes` found them."""
    found = Conditions()
    if where.tenant is not None:
        found.add("c.tenant = {}", stored(where.tenant))
    for condition, text in (
        ("c.run_id = {} AND c.run_id <> ''", where.run_id),
        ("c.status = 'rejected' AND c.refused = {} AND c.refused <> ''", where.refused),
        ("c.idea = {} AND c.idea <> ''", where.idea),
    ):
        if text:
            found.add(condition, stored(text))
    if where.corrected:
        found.add("c.superseded")
    if where.awaits:
        found.add(_AWAITED[where.awaits])
    if where.circle:
        codes = [hash_code(where.circle), hash_code(ANYONE)]
        found.add("(c.status = 'promoted' OR c.circle = ANY({}::bigint[]))", codes)
    if where.statuses:
        found.add("c.status = ANY({}::text[])", [status.value for status in where.statuses])
    if where.kinds:
        found.add("c.kind = ANY({}::text[])", [kind.value for kind in where.kinds])
    if scopes is not None:
        found.add("c.scope = ANY({}::text[])", list(scopes))
    return found


async def fitting_scopes(connection: Connection, wheres: Sequence[CardFilter]) -> list[Sequence[str] | None]:
    """Which of the stored scopes each filter's own definition accepts; `None` where that is no question.

    All filters are of one tenant, or of none.
    """
    asking = {_rest(where) for where in wheres if _asks(where)}
    if not asking:
        return [None] * len(wheres)
    tenant = wheres[0].tenant
    if tenant is None:
        rows = await connection.fetch("SELECT DISTINCT scope FROM scopes")
    else:
        rows = await connection.fetch("SELECT scope FROM scopes WHERE tenant = $1", stored(tenant))
    samples = [(scope, sample_card(restored(scope))) for (scope,) in rows]
    fitting = {rest: [scope for scope, card in samples if rest.accepts(card)] for rest in asking}
    return [fitting[_rest(where)] if _asks(where) else None for where in wheres]


def _asks(where: CardFilter) -> bool:
    return bool(where.agent_role or where.task_type or where.tools is not None)


def _rest(where: CardFilter) -> CardFilter:
    tools = None if where.tools is None else tuple(where.tools)
    return CardFilter(agent_role=where.agent_role, task_type=where.task_type, tools=tools)
