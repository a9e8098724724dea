"""Holds a GGUF model in this process and lets it answer off the event loop, with streaming and cancellation."""

import asyncio
import importlib
import json
import secrets
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from wisen.errors import ConfigError, MissingExtraError, ModelError, WeightsError
from wisen.json_values import encodable

_PATIENCE = 10.0
"""Seconds to wait for a number of tokens."""

Piece = dict[str, Any]
"""One piece of a streamed answer, as an OpenAI-compatible server words it; an error is `{"error": …}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """How a model is held in memory."""

    context: int = 4096
    """Tokens of all slots together; each request has `context / slots`."""
    slots: int = 2
    """Requests that are answered at the same time."""
    threads: int = 1
    """CPU threads; more than the free cores makes it slower, not faster."""
    replica: int = 0
    """Which copy of the weights. Copies share nothing, so that one's answers repeat whatever the others are asked."""

    def __post_init__(self) -> None:
        """Refuse what can't be with `ConfigError`."""
        for name, least in (("context", 64), ("slots", 1), ("threads", 1), ("replica", 0)):
            value: int = getattr(self, name)
            if value < least:
                msg = f"EngineOptions({name}={value!r}): must be {least} or more"
                raise ConfigError(msg)


class Engine:
    """One loaded model. Calls beyond the number of slots wait for their turn."""

    def __init__(self, path: Path, options: EngineOptions) -> None:
        """Load the weights, which takes up to several seconds: not on an event loop."""
        self.options = options
        self._key = secrets.token_hex(16)
        self._server: Any = _server(path, options, self._key)
        # The runtime's loop starts after its constructor has returned. To free it before would wait forever for a loop
        # that never hears of the end; an answer says that it runs.
        _answer(self._server, {"prompt": ".", "max_tokens": 1}, lambda _: False, chat=False)
        self._threads = ThreadPoolExecutor(options.slots, thread_name_prefix="wisen-local")

    async def pieces(self, body: dict[str, object], *, chat: bool = True) -> AsyncGenerator[Piece]:
        """Answer a request piece by piece; leaving the iteration early, or cancelling, stops the model."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Piece | None] = asyncio.Queue()
        stop = threading.Event()
        server = self._server

        def take(piece: Piece) -> bool:
            loop.call_soon_threadsafe(queue.put_nowait, piece)
            return stop.is_set()

        def work() -> None:
            try:
                if not stop.is_set():
                    _answer(server, body, take, chat=chat)
            finally:
                # The loop may be gone when the answer was cancelled with it: then nobody waits.
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(queue.put_nowait, None)

        answering = loop.run_in_executor(self._threads, work)
        try:
            while (piece := await queue.get()) is not None:
                yield piece
            await answering
        finally:
            stop.set()

    def tokens(self, text: str) -> int:
        """How many tokens a text has by itself. Blocks for less than a millisecond, and waits for no slot.

        Raises `ModelError` where the runtime doesn't say.
        """
        if not text:
            return 0
        server = self._server
        address = urlsplit(server.listening_address if server is not None else "")
        asking = HTTPConnection(address.hostname or "", address.port, timeout=_PATIENCE)
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        try:
            asking.request("POST", "/tokenize", json.dumps({"content": encodable(text)}), headers)
            answer = json.loads(asking.getresponse().read())
            return len(answer["tokens"])
        except (OSError, HTTPException, ValueError, LookupError) as error:
            raise ModelError("local", f"the runtime can't count tokens ({type(error).__name__})") from error
        finally:
            asking.close()

    def close(self) -> None:
        """Free the memory once the requests under way, and those waiting, have ended."""
        self._threads.shutdown(wait=False)
        self._server = None


def _answer(server: Any, body: dict[str, object], take: Callable[[Piece], bool], *, chat: bool) -> None:  # noqa: ANN401 - xllamacpp has no types
    handle = server.handle_chat_completions if chat else server.handle_completions
    asked = {**body, "stream": True, "stream_options": {"include_usage": True}}
    try:
        whole = cast("Piece | None", handle(asked, take))
    except ValueError as error:
        whole = {"error": {"type": "invalid_request_error", "message": str(error)}}
    if whole is not None:
        take(whole)


class Engines:
    """The models that are loaded, each once for the same file and options."""

    def __init__(self) -> None:
        """Begin with none."""
        self._loaded: dict[tuple[Path, EngineOptions], Engine] = {}
        self._loading = threading.Lock()

    def get(self, path: Path, options: EngineOptions) -> Engine:
        """The loaded model; loads it at first use. Blocks meanwhile: call it in a thread."""
        key = (path.resolve(), options)
        with self._loading:
            engine = self._loaded.get(key)
            if engine is None:
                engine = self._loaded[key] = Engine(path, options)
            return engine

    def drop(self, path: Path, options: EngineOptions) -> None:
        """Free the model; the next `get` loads it again."""
        with self._loading:
            engine = self._loaded.pop((path.resolve(), options), None)
        if engine is not None:
            engine.close()


# Weights take hundreds of megabytes and seconds to load: like an imported module they belong to the process.
@cache
def engines() -> Engines:
    """The models loaded in this process."""
    return Engines()


def _server(path: Path, options: EngineOptions, key: str) -> Any:  # noqa: ANN401 - xllamacpp has no types
    try:
        xllamacpp: Any = importlib.import_module("xllamacpp")
    except ImportError as error:
        raise MissingExtraError("a local model", "pip install 'wisen[local]'") from error
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = options.context
    params.n_parallel = options.slots
    for pool in (params.cpuparams, params.cpuparams_batch):
        pool.n_threads = options.threads
        pool.poll = 0  # a waiting thread that polls takes a core from the rest of the process
    params.n_threads_http = 1
    params.offline = True
    params.ui = False
    params.verbosity = 0
    params.warmup = False
    params.cache_ram_mib = 0
    params.n_gpu_layers = 0
    params.fit_params = False
    # The library also listens on a free loopback port. It is asked for numbers of tokens; nobody else knows its key.
    params.api_keys = [key]
    try:
        return xllamacpp.Server(params)
    except (RuntimeError, ValueError) as error:
        raise WeightsError(f"local:{path}", "can't be loaded; it isn't a GGUF model that this runtime knows") from error
