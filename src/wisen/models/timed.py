"""Gives every call of a tool the run's deadline.

It stands apart because `dialogue` and `journaled` both wrap tools with it, and one imports the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai import RunContext, Tool
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, ToolsetTool, WrapperToolset

from wisen.deadlines import calling, named


@dataclass
class TimedToolset(WrapperToolset[Any]):
    """Breaks off a tool that works when the run's time is up."""

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """Ask which tools there are, which may mean to ask a server."""
        with calling(named("toolset", self.wrapped), limit="run"):
            return await self.wrapped.get_tools(ctx)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:  # noqa: ANN401 - whatever a tool gives
        """Call the tool."""
        with calling(f"tool {name!r}", limit="run"):
            return await self.wrapped.call_tool(name, tool_args, ctx, tool)


def timed_toolsets(tools: Sequence[Tool[Any]], toolsets: Sequence[AbstractToolset[Any]]) -> list[AbstractToolset[Any]]:
    """The same tools in the same order."""
    functions = [FunctionToolset[Any](list(tools))] if tools else []
    return [TimedToolset(one) for one in (*functions, *toolsets)]
