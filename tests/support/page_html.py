"""Reads a page as a browser would: its elements, where its links lead, and its words."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

_ADDRESSES = ("href", "src", "action", "formaction", "xlink:href", "data", "poster", "srcset")
_EMPTY = frozenset(("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"))


@dataclass
class Page(HTMLParser):
    """What stands in an HTML text."""

    html: str
    skeleton: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    """Each element, in order, with the names of its attributes: what no text that is shown may change."""
    addresses: list[str] = field(default_factory=list[str])
    """All that attributes point to."""
    forms: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    """Of each form, the values of its fields by name, and "action"."""
    open: list[str] = field(default_factory=list[str])
    words: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self._writes = ""
        super().__init__(convert_charrefs=True)
        self.feed(self.html)
        self.close()

    @property
    def text(self) -> str:
        """All words, as they are shown."""
        return " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.skeleton.append((tag, *sorted(found)))
        self.addresses += [found[name] for name in _ADDRESSES if name in found]
        if tag == "form":
            self.forms.append({"action": found.get("action", ""), "method": found.get("method", "get").lower()})
        if tag in ("input", "button", "select", "textarea") and self.forms and "name" in found:
            self.forms[-1].setdefault(found["name"], found.get("value", ""))
        if tag not in _EMPTY:
            self.open.append(tag)
        self._writes = found.get("name", "") if tag == "textarea" and self.forms else ""

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._writes and self.open[-1] == "textarea":
            self.forms[-1][self._writes] += data
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)
