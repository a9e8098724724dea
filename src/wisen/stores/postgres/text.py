"""How texts with a NUL character, which Postgres refuses, are kept in its text columns.

It stands apart because every module that writes or reads a text column needs it.

NUL becomes 01 01, and the character 01 becomes 01 02. So different texts stay different, texts sort as before, and a
text begins with another exactly where it did before.
"""

from wisen.errors import StoreError

_ESCAPES = (("\x01", "\x01\x02"), ("\x00", "\x01\x01"))


def stored(text: str) -> str:
    """The form for a text column; raises `StoreError` for what isn't Unicode that can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise StoreError("a name, id or text isn't valid Unicode, so Postgres can't keep it") from None
    if "\x00" in text or "\x01" in text:
        for plain, escaped in _ESCAPES:
            text = text.replace(plain, escaped)
    return text


def restored(text: str) -> str:
    """The reverse of `stored`."""
    if "\x01" in text:
        for plain, escaped in reversed(_ESCAPES):
            text = text.replace(escaped, plain)
    return text
