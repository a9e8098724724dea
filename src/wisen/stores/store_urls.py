"""URLs of stores: which kind they name, the path in them, and how they are shown without passwords."""

import os
import re
from difflib import get_close_matches
from pathlib import Path

from wisen.errors import ConfigError

POSTGRES_SCHEMES = ("postgresql", "postgres")
SCHEMES = ("memory", "sqlite", "markdown", *POSTGRES_SCHEMES)
"""What a store's URL may begin with."""

_REPOSITORY = ".wisen"
"""What a repository's folder of lessons is called, so that this name is no file's."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_PASSWORD = re.compile(r"(://[^:/?#@]*):.*@", re.DOTALL)
_PASSWORD_OPTION = re.compile(r"((?:^|[?&\s])(?:ssl)?password\s*=\s*)(?:'(?:[^'\\]|\\.)*'|[^&\s]*)", re.IGNORECASE)
_HIDDEN = "***"


def is_url(text: str) -> bool:
    """Whether a text names a store by URL, and not by a file's path."""
    return _SCHEME.match(text) is not None


def names_folder(path: str) -> bool:
    """Whether a path is that of a folder by its form, so of a Markdown store, also where nothing is there yet."""
    return path.endswith(("/", os.sep)) or Path(path).name == _REPOSITORY


def scheme_of(url: str) -> str:
    """Which of `SCHEMES` the URL begins with; raises `ConfigError` for any other, naming the nearest."""
    found = _SCHEME.match(url)
    said = found[1] if found else ""
    scheme = said.lower()
    if scheme in SCHEMES:
        return scheme
    nearest = get_close_matches(scheme, SCHEMES, 1, 0.5)
    meant = f"did you mean {nearest[0]}:?" if nearest else f"known are {', '.join(f'{one}:' for one in SCHEMES)}"
    raise ConfigError(
        f"store {shown_url(url)!r}: {said!r} is no kind of store; {meant} "
        "(write sqlite: in front of a file's name that has a colon)"
    )


def path_in(url: str) -> str:
    """The path in a `sqlite:` or `markdown:` URL. Raises `ConfigError` where there is none."""
    scheme = scheme_of(url)
    path = url[len(scheme) + 1 :]
    if path.startswith("//"):
        path = path[2:]
        if not path.startswith("/"):
            raise ConfigError(f"store {url!r} names another machine; write {scheme}:PATH or {scheme}:///absolute/path")
    if not path or "\0" in path:
        raise ConfigError(f"store {url!r} names no path; write {scheme}:PATH")
    return path


def shown_url(url: str) -> str:
    """The URL as it may be shown: with stars in the place of a password, wherever one can stand.

    Where it is unclear how far a password goes, because it isn't percent-encoded, more is hidden.
    """
    return _PASSWORD_OPTION.sub(rf"\1{_HIDDEN}", _PASSWORD.sub(rf"\1:{_HIDDEN}@", url))
