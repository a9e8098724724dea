"""Records model calls and answers from the recordings: for tests that cost nothing, and for runs that are resumed."""

import asyncio
import hashlib
import json
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_ai import RunContext
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings

from wisen.errors import ConfigError, UnknownCallError
from wisen.models.conversation import instructions_of
from wisen.models.streamed import WholeResponse
from wisen.protocols import CallLog

_LASTING = ("part_kind", "content", "tool_name", "args", "outcome")
"""Fields of a message's parts that say what is asked; times and ids would part requests that are equal."""

_JSON: TypeAdapter[Any] = TypeAdapter(Any)
_RECORDED = "wisen_replayed"


class _Row(BaseModel):
    scope: str
    key: str
    ordinal: int
    response: str


class CassetteFile:
    """Recorded calls in a JSON-lines file, one call a line; the last line of a call counts.

    Several models of one process may share an instance. A last line that a crash cut off is passed over.
    """

    def __init__(self, path: str | Path) -> None:
        """Name the file; it is read at the first call and need not exist."""
        self.path = Path(path)
        self._calls: dict[tuple[str, str, int], bytes] | None = None
        self._writing = threading.Lock()

    async def save_call(self, scope: str, key: str, ordinal: int, response: bytes) -> None:
        """Append a call."""
        await asyncio.to_thread(self._save, scope, key, ordinal, response)

    async def call(self, scope: str, key: str, ordinal: int) -> bytes | None:
        """The recorded response, or `None`. Raises `ConfigError` for a file that isn't a cassette."""
        calls = self._calls if self._calls is not None else await asyncio.to_thread(self._loaded)
        return calls.get((scope, key, ordinal))

    def _loaded(self) -> dict[tuple[str, str, int], bytes]:
        with self._writing:
            if self._calls is None:
                self._calls = self._read()
            return self._calls

    def _read(self) -> dict[tuple[str, str, int], bytes]:
        if not self.path.exists():
            return {}
        calls: dict[tuple[str, str, int], bytes] = {}
        lines = self.path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, start=1):
            if not line:
                continue
            try:
                row = _Row.model_validate_json(line)
            except ValidationError as error:
                if number == len(lines):
                    break
                raise ConfigError(
                    f"{self.path}:{number}: isn't a recorded call; delete the line or the file"
                ) from error
            calls[row.scope, row.key, row.ordinal] = row.response.encode()
        return calls

    def _save(self, scope: str, key: str, ordinal: int, response: bytes) -> None:
        calls = self._loaded()
        row = _Row(scope=scope, key=key, ordinal=ordinal, response=response.decode())
        with self._writing:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+") as file:
                # A line that a crash cut off must not swallow this one.
                if file.tell() and not self._ends_with_newline():
                    file.write(b"\n")
                file.write(row.model_dump_json().encode() + b"\n")
            calls[scope, key, ordinal] = response

    def _ends_with_newline(self) -> bool:
        with self.path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) == b"\n"


class RecordedModel(WrapperModel):
    """Answers from recorded calls, and records those that it passes on.

    A call is known by what was asked: model, messages, settings, tools and output, without times and ids. The n-th
    identical request gets the n-th recorded answer, counted for each `RecordedModel`.

    Args:
        wrapped: The model that answers what isn't recorded. `None`: recordings alone answer; `name` says whose.
        cassette: A JSON-lines file, or a store.
        scope: Keeps apart what shares a cassette, such as runs.
        mode: "auto" answers from recordings and records the rest; "record" asks always; "replay" never asks, and raises
            `UnknownCallError` for a call that isn't recorded.
        name: The model's name, for `wrapped=None`.
    """

    def __init__(
        self,
        wrapped: Model | None,
        cassette: str | Path | CallLog,
        *,
        scope: str = "",
        mode: Literal["auto", "record", "replay"] = "auto",
        name: str = "",
    ) -> None:
        if mode not in ("auto", "record", "replay"):
            raise ConfigError(f"RecordedModel(mode={mode!r}): must be 'auto', 'record' or 'replay'")
        super().__init__(wrapped or _AbsentModel(name))
        self._log: CallLog = CassetteFile(cassette) if isinstance(cassette, str | Path) else cassette
        self._where = str(cassette) if isinstance(cassette, str | Path) else type(cassette).__name__
        self._scope = scope
        self._mode = "replay" if wrapped is None else mode
        self._asked: Counter[str] = Counter()

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Give the recorded answer, or ask and record."""
        key = request_key(self.model_name, messages, model_settings, model_request_parameters)
        ordinal = self._next(key)
        response = await self._recorded(key, ordinal)
        if response is None:
            try:
                response = await self.wrapped.request(messages, model_settings, model_request_parameters)
            except BaseException:
                self._give_back(key, ordinal)
                raise
            await self._save(key, ordinal, response)
        return response

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Stream the recorded answer, or ask, stream and record. An answer that breaks off isn't recorded."""
        key = request_key(self.model_name, messages, model_settings, model_request_parameters)
        ordinal = self._next(key)
        recorded = await self._recorded(key, ordinal)
        if recorded is not None:
            yield WholeResponse(model_request_parameters, recorded)
            return
        finished = False
        try:
            async with self.wrapped.request_stream(
                messages, model_settings, model_request_parameters, run_context
            ) as stream:
                yield stream
            response = stream.get()
            if response.state == "complete":
                await self._save(key, ordinal, response)
                finished = True
        finally:
            if not finished:
                self._give_back(key, ordinal)

    async def token_counter(self) -> None:
        """None, whatever the wrapped model can: a prompt must come out the same where that model is absent."""

    def _next(self, key: str) -> int:
        ordinal = self._asked[key]
        self._asked[key] += 1
        return ordinal

    def _give_back(self, key: str, ordinal: int) -> None:
        """A call that failed has no answer: the same request asked again takes its place."""
        if self._asked[key] == ordinal + 1:
            self._asked[key] = ordinal

    async def _recorded(self, key: str, ordinal: int) -> ModelResponse | None:
        if self._mode == "record":
            return None
        kept = await self._log.call(self._scope, key, ordinal)
        if kept is not None:
            return response_from(kept)
        if self._mode == "replay":
            self._give_back(key, ordinal)
            which = f"number {ordinal + 1} of its kind" if ordinal else "unknown"
            raise UnknownCallError(
                self.model_name,
                f"the cassette {self._where!r} has no answer to this call ({which}, key {key[:12]}); "
                f"record it by running once with mode='auto' and the real model",
            )
        return None

    async def _save(self, key: str, ordinal: int, response: ModelResponse) -> None:
        await self._log.save_call(self._scope, key, ordinal, response_to(response))


class _AbsentModel(Model[Any]):
    """Stands where no model is given; every call is answered before it gets here."""

    def __init__(self, name: str) -> None:
        super().__init__(profile=ModelProfile(supports_json_schema_output=True))
        self._name = name or "recorded"

    @property
    def model_name(self) -> str:
        return self._name

    @property
    def system(self) -> str:
        return "wisen"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        del messages, model_settings, model_request_parameters
        raise UnknownCallError(self._name, "there is no model to ask; pass one to RecordedModel")


def request_key(
    model: str,
    messages: Sequence[ModelMessage],
    settings: ModelSettings | None,
    parameters: ModelRequestParameters,
) -> str:
    """The SHA-256, in hexadecimal, of what is asked, the same in every process."""
    said = cast("list[dict[str, Any]]", ModelMessagesTypeAdapter.dump_python(list(messages), mode="json"))
    asked = {
        "model": model,
        "messages": [
            {"kind": message["kind"], "parts": [_lasting(part) for part in message["parts"]]} for message in said
        ],
        "instructions": instructions_of(messages, parameters),
        "settings": settings or {},
        "tools": [
            [tool.name, tool.description, tool.parameters_json_schema]
            for tool in (*parameters.function_tools, *parameters.output_tools)
        ],
        "native_tools": sorted(tool.unique_id for tool in parameters.native_tools),
        "output": [parameters.output_mode, parameters.allow_text_output],
        "schema": parameters.output_object.json_schema if parameters.output_object is not None else None,
    }
    plain = _JSON.dump_python(asked, mode="json", fallback=repr)
    return hashlib.sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def as_recorded(response: ModelResponse) -> ModelResponse:
    """The response, marked as one that nobody was asked for now; the mark reaches no model and no key."""
    return replace(response, metadata={**(response.metadata or {}), _RECORDED: True})


def is_recorded(response: ModelResponse) -> bool:
    """Whether the response was marked so."""
    return bool(response.metadata and response.metadata.get(_RECORDED))


def _lasting(part: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part[name] for name in _LASTING if part.get(name) is not None}


def response_to(response: ModelResponse) -> bytes:
    """A response as a call log keeps it."""
    return ModelMessagesTypeAdapter.dump_json([response])


def response_from(kept: bytes) -> ModelResponse:
    """The reverse of `response_to`; raises `ConfigError` for what isn't a response."""
    (message,) = ModelMessagesTypeAdapter.validate_json(kept)
    if isinstance(message, ModelRequest):
        raise ConfigError("a recorded call holds a request instead of a response; delete it and record again")
    return message
