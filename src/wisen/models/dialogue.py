"""One conversation of an attempt: a bare request, a streamed one, or the tool loop of a pydantic-ai agent."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai import Agent, AgentRun, Tool
from pydantic_ai.exceptions import UnexpectedModelBehavior, UsageLimitExceeded
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings, merge_model_settings
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.usage import UsageLimits

from wisen.answer_text import output_text
from wisen.errors import ConfigError, ModelError
from wisen.events import Event, TextDelta, ToolCalled, ToolReturned
from wisen.json_values import encodable
from wisen.models.journaled import journaled_toolsets
from wisen.models.structured import constrained_settings
from wisen.models.timed import timed_toolsets
from wisen.session import AgentSession, Dependencies


@dataclass(frozen=True, slots=True)
class Conversation:
    """How one is held; `wisen.architectures.react.ReAct` says what the settings mean."""

    max_turns: int
    output_type: type[Any] | None
    settings: ModelSettings | None

    async def events(self, session: AgentSession, deps: Dependencies, prompt: str) -> AsyncIterator[Event]:
        """Hold it, and leave its messages and its output in the session. Raises `ModelError` and `ConfigError`."""
        if deps.tools or deps.toolsets or self.output_type is not None:
            async for event in self._tool_loop(session, deps, prompt):
                yield event
        elif deps.streaming:
            async for event in self._streamed(session, deps, prompt):
                yield event
        else:
            await self._one_request(session, deps, prompt)

    async def _one_request(self, session: AgentSession, deps: Dependencies, prompt: str) -> None:
        messages = _opening(session, prompt)
        session.turns += 1
        response = await deps.model.request(messages, self._settings(session, deps), ModelRequestParameters())
        _finish(session, messages, response)

    async def _streamed(self, session: AgentSession, deps: Dependencies, prompt: str) -> AsyncIterator[Event]:
        messages = _opening(session, prompt)
        session.turns += 1
        settings = self._settings(session, deps)
        async with deps.model.request_stream(messages, settings, ModelRequestParameters()) as stream:
            async for event in stream:
                if text := _text_in(event):
                    session.output += text
                    yield TextDelta(text=text)
        _finish(session, messages, stream.get())

    async def _tool_loop(self, session: AgentSession, deps: Dependencies, prompt: str) -> AsyncIterator[Event]:

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

    def _agent(self, session: AgentSession, deps: Dependencies) -> Agent[object, Any]:
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
            toolsets = journaled_toolsets(tools, toolsets, deps.steps)
        else:
            toolsets = timed_toolsets(tools, toolsets)
        return Agent(
            deps.model,
            output_type=str if self.output_type is None else self.output_type,
            system_prompt=session.instructions,
            toolsets=toolsets,
            deps_type=object,
        )

    def _settings(self, session: AgentSession, deps: Dependencies) -> ModelSettings | None:
        choices = session.task.choices
        if not choices:
            return self.settings

        rejected = {answer.strip() for answer in session.rejected}
        open_choices = [choice for choice in choices if choice.strip() not in rejected] or list(choices)
        return merge_model_settings(self.settings, constrained_settings(deps.model, open_choices))


async def _watched(run: AgentRun[object, Any], session: AgentSession, deps: Dependencies) -> AsyncIterator[Event]:
    """Walk through an agent run and say what its tools are asked and answer."""
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


def _returned(parts: Sequence[ModelRequestPart], session: AgentSession) -> list[Event]:
    events: list[Event] = []
    for part in parts:
        if not isinstance(part, ToolReturnPart):
            continue
        failed, text = part.outcome != "success", part.model_response_str()
        session.recorder.add("error" if failed else "observation", name=part.tool_name, text=text)
        events.append(ToolReturned(tool=part.tool_name, result=text, call_id=part.tool_call_id, failed=failed))
    return events


def _opening(session: AgentSession, prompt: str) -> list[ModelMessage]:
    user = UserPromptPart(prompt)
    if session.messages:
        return [*session.messages, ModelRequest(parts=[user])]
    system = [SystemPromptPart(session.instructions)] if session.instructions else []
    return [ModelRequest(parts=[*system, user])]


def _finish(session: AgentSession, messages: list[ModelMessage], response: ModelResponse) -> None:
    session.messages = [*messages, response]
    session.output = encodable(response.text or "")
    session.structured = None


def _text_in(event: object) -> str:
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""
