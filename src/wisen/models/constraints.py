"""Constrains what a local model may answer: to choices, a schema, or a tool call worded as JSON."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_ai.messages import ModelResponsePart, TextPart, ToolCallPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from typing_extensions import TypedDict

from wisen.errors import ConfigError
from wisen.records import Message

Schema = dict[str, Any]
"""A JSON schema."""

_REPLY: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


class _Constraints(TypedDict, total=False):
    local_choices: Sequence[str]
    """The answer is exactly one of these."""
    local_grammar: str
    """A GBNF grammar that the answer follows."""
    local_schema: Schema
    """A JSON schema that the answer fits."""


class LocalModelSettings(ModelSettings, _Constraints, total=False):
    """Settings that local models know beside the usual ones. At most one of the three constrains an answer."""


def choice_grammar(choices: Sequence[str]) -> str:
    """The GBNF grammar of exactly these texts; raises `ConfigError` for none."""
    if not choices:
        raise ConfigError("local_choices=(): give at least one choice, or leave the setting out")
    return "root ::= " + " | ".join(json.dumps(choice, ensure_ascii=False) for choice in dict.fromkeys(choices))


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """What an answer has to look like, and how to read it."""

    body: dict[str, object]
    """What the runtime is told."""
    instructions: str = ""
    """What the model hears about its tools."""
    tools: bool = False
    """Whether the answer is a JSON object that names a tool or holds the answer."""
    answer_is_text: bool = True

    def worded(self, turns: Sequence[Message]) -> list[Message]:
        """The conversation in the words that this constraint allows, since what was said before is an example."""
        if not self.tools:
            return list(turns)
        system = [turn for turn in turns if turn.role == "system"]
        rest = [self._said(turn) for turn in turns if turn.role != "system"]
        return [*system, Message(role="system", content=self.instructions), *rest]

    def worded_call(self, part: ToolCallPart) -> str:
        """A tool call in the words that this constraint allows."""
        return json.dumps({"tool": part.tool_name, "arguments": part.args_as_dict()}, ensure_ascii=False)

    def _said(self, turn: Message) -> Message:
        if turn.role == "tool":
            return Message(role="user", content=f"Result: {turn.content}")
        if turn.role == "assistant" and not turn.content.startswith('{"tool":'):
            return Message(role="assistant", content=json.dumps({"answer": turn.content}, ensure_ascii=False))
        return turn

    def parts(self, text: str, call_id: str) -> list[ModelResponsePart]:
        """Read an answer; raises `ValueError` for one that was cut off inside its JSON."""
        if not self.tools:
            return [TextPart(text)]
        try:
            reply = _REPLY.validate_json(text)
        except ValidationError as error:
            raise ValueError("the answer isn't the JSON that it was constrained to") from error
        if "tool" in reply:
            return [ToolCallPart(str(reply["tool"]), cast("Schema", reply["arguments"]), tool_call_id=call_id)]
        answer = reply["answer"]
        return [TextPart(answer if self.answer_is_text else json.dumps(answer, ensure_ascii=False))]


def constraint(settings: ModelSettings | None, parameters: ModelRequestParameters) -> Constraint:
    """The constraint that settings, structured output and tools ask for together."""
    own = cast("_Constraints", settings or {})
    choices, grammar, schema = own.get("local_choices"), own.get("local_grammar"), own.get("local_schema")
    if sum(each is not None for each in (choices, grammar, schema)) > 1:
        raise ConfigError(
            "local_choices, local_grammar, local_schema: an answer can be constrained by one of them only"
        )
    if schema is None and parameters.output_mode == "native" and parameters.output_object is not None:
        schema = parameters.output_object.json_schema
    tools = [*parameters.declared_function_tools, *parameters.output_tools]
    if tools:
        if grammar is not None:
            raise ConfigError("local_grammar can't be combined with tools; use local_choices or local_schema")
        if choices is not None:
            schema = {"enum": list(choices)}
        answer = schema or {"type": "string"} if parameters.allow_text_output else None
        return Constraint(
            body=_schema_body(_reply_schema(tools, answer)),
            instructions=_tool_instructions(tools, may_answer=answer is not None),
            tools=True,
            answer_is_text=schema is None or choices is not None,
        )
    if choices is not None:
        return Constraint(body={"grammar": choice_grammar(choices)})
    if grammar is not None:
        return Constraint(body={"grammar": grammar})
    return Constraint(body={} if schema is None else _schema_body(schema))


def _schema_body(schema: Schema) -> dict[str, object]:
    # Without idle white space, which costs tokens and which small models like to write for ever.
    compact = {**schema, "x-guidance": {"whitespace_flexible": False}}
    return {"grammar": f"%llguidance {{}}\nstart: %json {json.dumps(compact)}"}


def _reply_schema(tools: Sequence[ToolDefinition], answer: Schema | None) -> Schema:
    options = [_object(tool={"const": tool.name}, arguments=tool.parameters_json_schema) for tool in tools]
    if answer is not None:
        options.append(_object(answer=answer))
    return options[0] if len(options) == 1 else {"anyOf": options}


def _object(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _tool_instructions(tools: Sequence[ToolDefinition], *, may_answer: bool) -> str:
    lines = ["Tools:"]
    for tool in tools:
        arguments = ", ".join(tool.parameters_json_schema.get("properties", {}))
        lines.append(f"- {tool.name}({arguments}): {tool.description or ''}".rstrip(": "))
    lines.append('To use a tool, reply with JSON: {"tool": name, "arguments": {...}}.')
    if may_answer:
        lines.append('To answer, reply with JSON: {"answer": text}.')
    return "\n".join(lines)
