"""What the Postgres store gives and takes of cards when a store is copied as it is."""

from collections.abc import Mapping, Sequence

from wisen.stores import postgres_cards
from wisen.stores.copies import Piece
from wisen.stores.pieces import held_piece, stored_card_piece
from wisen.stores.postgres_connection import Connection
from wisen.stores.postgres_pieces import readable_pieces
from wisen.stores.postgres_text import restored, stored
from wisen.stores.prepared import PreparedCard

_PIECE = (
    "SELECT c.number, c.id, b.card, r.vectors FROM cards c JOIN bodies b USING (number) JOIN recall r USING (number)"
)


async def next_cards(connection: Connection, after: str, limit: int) -> tuple[list[Piece], str]:
    """Cards in the order in which they came."""
    return await readable_pieces(
        lambda last: connection.fetch(f"{_PIECE} WHERE c.number > $1 ORDER BY c.number LIMIT $2", last, limit),
        lambda row: stored_card_piece(row[2], row[3]),
        after,
    )


async def held_cards(connection: Connection, keys: Sequence[tuple[str, ...]]) -> Mapping[tuple[str, ...], Piece]:
    """Those of these cards that are there."""
    rows = await connection.fetch(f"{_PIECE} WHERE c.id = ANY($1::text[])", [stored(key[0]) for key in keys])
    found: dict[tuple[str, ...], Piece] = {}
    for _, card_id, text, vectors in rows:
        key = (restored(card_id),)
        found[key] = held_piece(key, text, lambda text, vectors=vectors: stored_card_piece(text, vectors))
    return found


async def take_cards(connection: Connection, cards: Sequence[PreparedCard], *, replace: bool) -> None:
    """Keep cards that are held as they are; those that are there stay, or are replaced."""
    rows = await connection.fetch(
        "SELECT id, number, tenant FROM cards WHERE id = ANY($1::text[]) ORDER BY number FOR UPDATE",
        [stored(prepared.card.id) for prepared in cards],
    )
    there = {restored(card_id): (number, restored(tenant)) for card_id, number, tenant in rows}
    new: dict[str, PreparedCard] = {}
    for prepared in cards:
        card_id = prepared.card.id
        if card_id not in there:
            if replace or card_id not in new:
                new[card_id] = prepared
        elif replace:
            number, tenant = there[card_id]
            if tenant == prepared.card.scope.tenant:
                await postgres_cards.overwrite(connection, number, prepared)
            else:
                await postgres_cards.remove(connection, [card_id])
                del there[card_id]
                new[card_id] = prepared
    await postgres_cards.keep(connection, list(new.values()))
