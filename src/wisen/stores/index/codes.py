"""What the index and the tables of stores keep of a card in place of its scope and its hashes."""

import json

from wisen.cards import MemoryCard, MemoryKind, MemoryScope, MemoryStatus


def scope_code(scope: MemoryScope) -> str:
    """The scope without its tenant as text, "" for one that fits every run."""
    parts = (scope.agent_roles, scope.tool_names, scope.task_types)
    return json.dumps(parts, ensure_ascii=False) if any(parts) else ""


def sample_card(scope: str, *, tenant: str = "", kind: str = "lesson", status: str = "candidate") -> MemoryCard:
    """An empty card with the scope that `scope_code` wrote, to ask a `CardFilter` whether it accepts such cards."""
    roles, tools, types = json.loads(scope) if scope else ((), (), ())
    return MemoryCard(
        kind=MemoryKind(kind),
        status=MemoryStatus(status),
        scope=MemoryScope(tenant=tenant, agent_roles=tuple(roles), tool_names=tuple(tools), task_types=tuple(types)),
        id="sample",
    )


def hash_code(key: str) -> int:
    """A hexadecimal hash as a signed 64-bit number; 0 for an empty one."""
    return int.from_bytes(bytes.fromhex(key[:16]), "little", signed=True) if key else 0
