"""A fake model provider: an OpenAI-compatible HTTP server in a process of its own, and the same in this process.

Every answer takes a set time and says one of three things, by what the system prompt asks for. `python
benchmarks/provider.py 1.0` serves on a free port of the loopback device, which it prints.
"""

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "drivers"))
from common import Corpus

EVALUATOR = "EVALUATE the answer."
REFLECTOR = "REFLECT on the attempt."
INSTRUCTIONS = "Do the task."
_LESSONS = 500
_BACKLOG = 2_048


class Replies:
    """What is answered: a bad score, another lesson each time, and else the same text."""

    def __init__(self) -> None:
        """Invent lessons in advance, so that they cost nothing when they are asked for."""
        self._lessons = [entry.lesson for entry in Corpus(11).entries(_LESSONS)]
        self.calls = 0

    def to(self, asked: str) -> str:
        """The reply to a request that holds this text."""
        self.calls += 1
        if EVALUATOR in asked:
            return "score: 0.2"
        if REFLECTOR in asked:
            first, second = divmod(self.calls, _LESSONS)
            return f"{self._lessons[second]} {self._lessons[(7 * first + second + 1) % _LESSONS]}"
        return "an answer"


class _Connection(asyncio.Protocol):
    """One client's connection; a request's answer is written when its time has come."""

    def __init__(self, replies: Replies, seconds: float) -> None:
        self._replies = replies
        self._seconds = seconds
        self._read = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._read += data
        while (end := self._read.find(b"\r\n\r\n")) >= 0:
            head = self._read[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            whole = end + 4 + length
            if len(self._read) < whole:
                return
            body, self._read = self._read[end + 4 : whole], self._read[whole:]
            if head.startswith(b"get"):
                self._answer(json.dumps({"calls": self._replies.calls}).encode())
            else:
                asyncio.get_running_loop().call_later(self._seconds, self._reply, body.decode())

    def _reply(self, body: str) -> None:
        message = {"role": "assistant", "content": self._replies.to(body)}
        said = {
            "id": f"call-{self._replies.calls}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": "fake",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        }
        self._answer(json.dumps(said).encode())

    def _answer(self, body: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
            self._transport.write(head + body)


async def _serve(seconds: float) -> None:
    replies = Replies()
    listening = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
    server = await asyncio.get_running_loop().create_server(
        lambda: _Connection(replies, seconds), sock=listening, backlog=_BACKLOG
    )
    print(listening.getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def serving(seconds: float) -> Generator[str]:
    """A provider whose answers take so long, in a process of its own; its address."""
    command = [sys.executable, str(Path(__file__)), str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None or not (port := process.stdout.readline().strip()):
                sys.exit("the fake provider didn't start")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1])))
