"""How many tokens a text has: by the model's own tokenizer where it can be asked, by its length otherwise."""

from collections.abc import Awaitable, Callable

from wisen.errors import WisenError

TokenCounter = Callable[[str], int]
"""The number of a text's tokens."""

_CHARACTERS_PER_TOKEN = 4


def estimated(text: str) -> int:
    """Four characters a token, which is about right for English."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


def at_most(text: str) -> int:
    """More tokens than that a text can't have, whichever tokenizer counts: one for each byte."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


async def counter_of(model: object) -> TokenCounter | None:
    """The model's own count, where it has one (see `CountsTokens`); `None` where it hasn't, or can't be loaded."""
    ability: Callable[[], Awaitable[TokenCounter | None]] | None = getattr(model, "token_counter", None)
    if ability is None:
        return None
    try:
        return await ability()
    except WisenError:
        return None  # the attempt will say so, if it needs the same
