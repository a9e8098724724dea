"""Marks tools that mustn't be called a second time, such as one that sends or pays, and finds their calls."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, cast, overload

from pydantic_ai import RunContext, Tool
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset

from wisen.errors import ConfigError

_MARK = "wisen_not_repeatable"


@overload
def not_repeatable(tool: AbstractToolset[Any], *names: str) -> AbstractToolset[Any]: ...


@overload
def not_repeatable(tool: Tool[Any] | Callable[..., Any]) -> Tool[Any]: ...


def not_repeatable(tool: object, *names: str) -> object:
    """Mark a tool whose call mustn't be made again: once it was called, a run makes no further attempt.

    Give the result to `Agent(tools=[…])`, wisen's or pydantic-ai's; the tool itself is left as it is.

    Args:
        tool: A function, a pydantic-ai `Tool`, or a toolset such as an MCP server.
        names: Of a toolset, the tools that are meant; without any, all of them.

    Raises:
        ConfigError: It is none of these, or names were given for a single tool.
    """
    if isinstance(tool, AbstractToolset):
        return _marked_toolset(cast("AbstractToolset[Any]", tool), names)
    if names:
        raise ConfigError(f"not_repeatable(…, {', '.join(map(repr, names))}): only a toolset has tools to name")
    if not isinstance(tool, Tool) and not callable(tool):
        raise ConfigError(f"not_repeatable({tool!r}): must be a function, a pydantic-ai Tool or a toolset")
    marked = copy(cast("Tool[Any]", tool)) if isinstance(tool, Tool) else Tool[Any](tool)
    marked.metadata = _with_mark(marked.metadata)
    return marked


def _marked_toolset(toolset: AbstractToolset[Any], names: Sequence[str]) -> AbstractToolset[Any]:
    async def mark(_: RunContext[Any], tools: list[ToolDefinition]) -> list[ToolDefinition]:
        meant = [not names or one.name in names for one in tools]
        return [
            replace(one, metadata=_with_mark(one.metadata)) if is_meant else one
            for one, is_meant in zip(tools, meant, strict=True)
        ]

    return toolset.prepared(mark)


def is_repeatable(tool: ToolDefinition) -> bool:
    """Whether nothing speaks against calling the tool a second time."""
    return not (tool.metadata or {}).get(_MARK, False)


def unrepeatable_calls(response: ModelResponse, parameters: ModelRequestParameters) -> Sequence[str]:
    """The tools that an answer calls and that aren't repeatable, by name."""
    known = parameters.tool_defs
    names = dict.fromkeys(call.tool_name for call in response.tool_calls)
    return [name for name in names if name in known and not is_repeatable(known[name])]


def _with_mark(metadata: dict[str, Any] | None) -> dict[str, Any]:
    return {**(metadata or {}), _MARK: True}
