"""ReAct: think, call a tool, look, go on until the answer.

Yao et al. 2022, "ReAct: Synergizing Reasoning and Acting in Language Models" (arXiv:2210.03629). The tool loop, MCP
toolsets and validated output are pydantic-ai's; a task without any of them is one bare model request, which costs a
twentieth of an agent run.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wisen.errors import ConfigError, ModelError
from wisen.events import Event, TextDelta, ToolCalled, ToolReturned
from wisen.session import AgentSession, Dependencies, encodable, output_text

if TYPE_CHECKING:
    from pydantic_ai import Agent, AgentRun
    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponse
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.toolsets import AbstractToolset


class ReAct:
    """One conversation with the model, with tools where there are any.

    Args:
        max_turns: Most model calls of one attempt.
        output_type: A pydantic model or any type that pydantic can validate; the answer is then JSON in
            `session.output` and the validated object in `session.structured`. `None`: plain text.
        settings: pydantic-ai's `ModelSettings` for each call.

    """

    name: str = "react"

    def __init__(
        self,
        *,
        max_turns: int = 20,
        output_type: type[Any] | None = None,
        settings: "ModelSettings | None" = None,
    ) -> None:
        if max_turns < 1:
            raise ConfigError(f"ReAct(max_turns={max_turns!r}): must be 1 or more")
        self.max_turns = max_turns
        self.output_type = output_type
        self.settings = settings

    def declared_workers(self) -> Mapping[str, object]:
        """None: a single agent."""
        return {}

    async def run(self, session: AgentSession, deps: Dependencies, prompt: str) -> AsyncIterator[Event]:
        """See `Architecture.run`."""
        session.recorder.next_step()
        if deps.tools or deps.toolsets or self.output_type is not None:
            async for event in self._tool_loop(session, deps, prompt):
                yield event
        elif deps.streaming:
            async for event in self._streamed(session, deps, prompt):
                yield event
        else:
            await self._one_request(session, deps, prompt)
        session.recorder.add("output", text=session.output)

    async def _one_request(self, session: AgentSession, deps: Dependencies, prompt: str) -> None:
        from pydantic_ai.models import ModelRequestParameters  # noqa: PLC0415 - light

        messages = _conversation(session, prompt)
        session.turns += 1
        response = await deps.model.request(messages, self._settings(session, deps), ModelRequestParameters())
        _finish(session, messages, response)

    async def _streamed(self, session: AgentSession, deps: Dependencies, prompt: str) -> AsyncIterator[Event]:
        from pydantic_ai.models import ModelRequestParameters  # noqa: PLC0415 - light

        messages = _conversation(session, prompt)
        session.turns += 1
        settings = self._settings(session, deps)
        async with deps.model.request_stream(messages, settings, ModelRequestParameters()) as stream:
            async for event in stream:
                if text := _text_in(event):
                    session.output += text
                    yield TextDelta(text=text)
        _finish(session, messages, stream.get())

    async def _tool_loop(self, session: AgentSession, deps: Dependencies, prompt: str) -> AsyncIterator[Event]:
        from pydantic_ai.exceptions import UnexpectedModelBehavior, UsageLimitExceeded  # noqa: PLC0415 - light
        from pydantic_ai.usage import UsageLimits  # noqa: PLC0415 - light

        agent = self._agent(session, deps)
        history = session.messages or None
        limits = UsageLimits(request_limit=self.max_turns)
        settings = self._settings(session, deps)
        try:
            async with agent.iter(prompt, message_history=history, usage_limits=limits, model_settings=settings) as run:
                async for event in _watched(run, session, deps):
                    yield event
                if run.result is not None:
                    session.output, session.structured = encodable(output_text(run.result.output)), run.result.output
                session.messages = run.all_messages()
        except UsageLimitExceeded:
            session.failure = f"max_turns={self.max_turns} reached without a final answer"
        except UnexpectedModelBehavior as error:
            raise ModelError(deps.model.model_name, f"gave no usable answer ({error})") from error

    def _agent(self, session: AgentSession, deps: Dependencies) -> "Agent[object, Any]":
        from pydantic_ai import Agent, Tool  # noqa: PLC0415 - light

        allowed = session.task.tools
        tools: list[Tool[object]] = [tool if isinstance(tool, Tool) else Tool(tool) for tool in deps.tools]
        if allowed:
            known = {tool.name for tool in tools}
            if not deps.toolsets and (missing := [name for name in allowed if name not in known]):
                raise ConfigError(f"task asks for tools {missing!r}; the agent has {sorted(known)!r}")
            tools = [tool for tool in tools if tool.name in allowed or tool.name == "delegate"]
        toolsets: list[AbstractToolset[object]] = list(deps.toolsets)
        if allowed:
            toolsets = [toolset.filtered(lambda _, definition: definition.name in allowed) for toolset in toolsets]
        if deps.steps is not None:
            from wisen.models.journaled import journaled_toolsets  # noqa: PLC0415 - light

            toolsets = journaled_toolsets(tools, toolsets, deps.steps)
        else:
            from wisen.models.timed import timed_toolsets  # noqa: PLC0415 - light

            toolsets = timed_toolsets(tools, toolsets)
        return Agent(
            deps.model,
            output_type=str if self.output_type is None else self.output_type,
            system_prompt=session.instructions,
            toolsets=toolsets,
            deps_type=object,
        )

    def _settings(self, session: AgentSession, deps: Dependencies) -> "ModelSettings | None":
        choices = session.task.choices
        if not choices:
            return self.settings
        from pydantic_ai.settings import merge_model_settings  # noqa: PLC0415 - light

        from wisen.models.structured import constrained_settings  # noqa: PLC0415 - light

        rejected = {answer.strip() for answer in session.rejected}
        open_choices = [choice for choice in choices if choice.strip() not in rejected] or list(choices)
        return merge_model_settings(self.settings, constrained_settings(deps.model, open_choices))


async def _watched(run: "AgentRun[object, Any]", session: AgentSession, deps: Dependencies) -> AsyncIterator[Event]:
    """Walk through an agent run and say what its tools are asked and answer."""
    from pydantic_ai import Agent  # noqa: PLC0415 - light

    async for node in run:
        if Agent.is_model_request_node(node):
            for event in _returned(node.request.parts, session):
                yield event
            session.turns += 1
            if deps.streaming:
                async with node.stream(run.ctx) as stream:
                    async for part in stream:
                        if text := _text_in(part):
                            yield TextDelta(text=text)
        elif Agent.is_call_tools_node(node):
            session.output = node.model_response.text or session.output
            for call in node.model_response.tool_calls:
                arguments = call.args_as_json_str()
                session.recorder.next_step()
                session.recorder.add("action", name=call.tool_name, params=call.args_as_dict())
                yield ToolCalled(tool=call.tool_name, arguments=arguments, call_id=call.tool_call_id)


def _returned(parts: "Sequence[ModelRequestPart]", session: AgentSession) -> list[Event]:
    from pydantic_ai.messages import ToolReturnPart  # noqa: PLC0415 - light

    events: list[Event] = []
    for part in parts:
        if not isinstance(part, ToolReturnPart):
            continue
        failed, text = part.outcome != "success", part.model_response_str()
        session.recorder.add("error" if failed else "observation", name=part.tool_name, text=text)
        events.append(ToolReturned(tool=part.tool_name, result=text, call_id=part.tool_call_id, failed=failed))
    return events


def _conversation(session: AgentSession, prompt: str) -> "list[ModelMessage]":
    from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart  # noqa: PLC0415 - light

    user = UserPromptPart(prompt)
    if session.messages:
        return [*session.messages, ModelRequest(parts=[user])]
    system = [SystemPromptPart(session.instructions)] if session.instructions else []
    return [ModelRequest(parts=[*system, user])]


def _finish(session: AgentSession, messages: "list[ModelMessage]", response: "ModelResponse") -> None:
    session.messages = [*messages, response]
    session.output = encodable(response.text or "")
    session.structured = None


def _text_in(event: object) -> str:
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta  # noqa: PLC0415 - light

    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""
