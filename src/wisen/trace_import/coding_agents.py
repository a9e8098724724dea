"""The coding agents that wisen knows: their names, and where they keep what is theirs.

It stands apart because hooks, commands and readers of transcripts name agents, and it needs none of them.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

CodingAgent = Literal["codex", "claude"]
CODING_AGENTS: Final[tuple[CodingAgent, ...]] = ("codex", "claude")
ROLE: Final = "coding agent"
"""The role under which all of them learn: what Codex has met, Claude Code is told."""
_HOMES: Final[dict[CodingAgent, tuple[str, str]]] = {
    "codex": (".codex", "CODEX_HOME"),
    "claude": (".claude", "CLAUDE_CONFIG_DIR"),
}
"""The folder's name in a home or a repository, and the variable that names another one for the user."""


def agent_home(agent: CodingAgent, environ: Mapping[str, str], *, root: Path | None = None) -> Path:
    """An agent's own folder: of the repository at `root`, else the user's."""
    folder, variable = _HOMES[agent]
    return root / folder if root is not None else Path(environ.get(variable) or Path.home() / folder)


def repository_of(folder: Path) -> Path | None:
    """The root of the git repository that a folder is in."""
    here = Path(os.path.abspath(folder))  # noqa: PTH100 - links stay what they are called
    return next((one for one in (here, *here.parents) if (one / ".git").exists()), None)
