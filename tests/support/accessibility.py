"""What axe says of a page that a browser shows."""

import sys
from functools import cache
from pathlib import Path
from typing import Any

_AXE = Path(sys.prefix) / "node_modules" / "axe-core" / "axe.min.js"
_RUN = """async () => {
  const found = await axe.run(document, {resultTypes: ['violations', 'incomplete']});
  return found.violations.map(({id, impact, nodes}) => ({id, impact, where: nodes.map((one) => one.target.join(' '))}));
}"""
_BAD = ("serious", "critical")
_FOCUS = """() => {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  const style = getComputedStyle(at), box = at.getBoundingClientRect();
  const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
  return {
    what: [at.tagName.toLowerCase(), at.id, at.name, at.getAttribute('href'), at.textContent.trim()].join(' '),
    seen: box.width > 0 && box.height > 0, ring: ring || style.boxShadow !== 'none',
  };
}"""


@cache
def _axe() -> str:
    return _AXE.read_text("utf-8")


def axe_faults(page: Any, *impacts: str) -> list[str]:
    """What axe finds of these impacts, "serious" and "critical" by default: the rule, and where."""
    page.evaluate(_axe())
    found: list[dict[str, Any]] = page.evaluate(_RUN)
    wanted = impacts or _BAD
    return [f"{one['impact']} {one['id']}: {', '.join(one['where'][:5])}" for one in found if one["impact"] in wanted]


def tabbed_through(page: Any, most: int = 400) -> list[dict[str, Any]]:
    """All that the tabulator key comes to, in order, and whether it is seen there, with a ring around it."""
    found: list[dict[str, Any]] = []
    for _ in range(most):
        page.keyboard.press("Tab")
        at = page.evaluate(_FOCUS)
        if at is None:
            break
        found.append(at)
    return found
