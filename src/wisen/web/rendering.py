"""Makes pages of templates: texts are escaped, what is invisible in them is shown, and what is long is cut."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import cast
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from wisen.explain.wording import counted, line, score, when
from wisen.records import NEVER
from wisen.screening.invisible import unveiled

_HERE = Path(__file__).parent
_LONG = 1_200
"""Characters of a text on a page with other things; the rest is one link away."""
_TINY, _WHOLE, _HUGE = 0.001, 100.0, 1e6
_LONGEST_ID = 300
SHEET = 6_000
"""Characters of a text on a page of its own: less than 100 kB, even where all of them are shown as code points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """The beginning of a text, as a person may safely see it."""

    text: str
    rest: int
    """How many characters are left out."""
    address: str = ""
    """Where all of it is."""


def excerpt(text: str, *, limit: int = _LONG, address: str = "") -> Excerpt:
    """The beginning of a text, with what is invisible or steers shown as its code point."""
    shown = unveiled(text[:limit])[:limit]
    return Excerpt(text=shown, rest=max(0, len(text) - limit), address=address)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A part of a long text, on a page of its own."""

    text: str
    number: int
    """From 1."""
    of: int


def sheet(text: str, number: int) -> Sheet:
    """A part of a text; the last one for a number beyond."""
    of = max(1, -(-len(text) // SHEET))
    number = min(max(number, 1), of)
    part = text[(number - 1) * SHEET : number * SHEET]
    return Sheet(text=unveiled(part), number=number, of=of)


def path(*parts: str, **query: object) -> str:
    """An address on this site: parts of a path, and a query without what is empty.

    What is longer than an id leads nowhere, and is cut.
    """
    asked = {name: value for name, value in query.items() if value not in ("", None, 0)}
    return (
        "/" + "/".join(quote(part[:_LONGEST_ID], safe="") for part in parts) + (f"?{urlencode(asked)}" if asked else "")
    )


def moment(at: datetime) -> str:
    """A time as machines read it; "" for one that isn't known."""
    return "" if at == NEVER else at.isoformat(timespec="seconds")


def e_value(value: float) -> str:
    """An e-value as it is read: three digits, and no more than its size where it is very small or large."""
    if value >= _HUGE:
        return f"over {_HUGE:,.0f}"
    if value >= _WHOLE:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}" if value >= _TINY else f"under {_TINY}"


class Rendering:
    """The templates, read once: nothing is read from disk when a page is made."""

    def __init__(self) -> None:
        """Read them all."""
        self.static = dict(_files(_HERE / "static"))
        environment = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        filters, names = cast("dict[str, object]", environment.filters), cast("dict[str, object]", environment.globals)
        filters |= {"shown": unveiled, "one_line": line, "when": when, "score": score, "moment": moment}
        filters |= {"excerpt": excerpt, "words": _words, "e_value": e_value}
        names |= {"path": path, "counted": counted, "asset": self._asset}
        self._templates = {name: environment.get_template(name) for name in environment.list_templates()}

    def _asset(self, name: str) -> str:
        """A file's address, which changes with its content: browsers keep it for long."""
        return path("static", name, v=sha256(self.static[name]).hexdigest()[:12])

    def page(self, name: str, **values: object) -> str:
        """A page made of a template."""
        return self._templates[f"{name}.html"].render(**values)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _files(folder: Path) -> Iterable[tuple[str, bytes]]:
    return (
        (file.name, file.read_bytes()) for file in sorted(folder.iterdir()) if file.suffix in (".css", ".js", ".svg")
    )
