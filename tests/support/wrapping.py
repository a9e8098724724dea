"""What tests of other frameworks' agents share: a provider that notes what it is sent, and a reflector."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chat_server import chat_server
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pytest_examples import CodeExample, find_examples

from wisen import MemoryCard, MemoryKind
from wisen.records import ReflectionEvaluation, Task, Trace

PAGES = sorted((Path(__file__).parents[2] / "docs").rglob("*.md"))
LESSON = "Say yes to the captain."


class Provider:
    """Answers as OpenAI's API does: it notes what it is sent, and gives these replies in turn."""

    def __init__(self, replies: Sequence[dict[str, Any]]) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.url = ""
        self._replies = list(replies)

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """The next reply; the last one again after that."""
        self.bodies.append(body)
        return self._replies[min(len(self.bodies), len(self._replies)) - 1]


def model_of(provider: Provider) -> OpenAIChatModel:
    """A foreign pydantic-ai agent's own model."""
    return OpenAIChatModel("theirs", provider=OpenAIProvider(base_url=provider.url, api_key="none"))


@contextmanager
def serving(*replies: dict[str, Any]) -> Generator[Provider]:
    """A provider that has begun to serve."""
    provider = Provider(replies)
    with chat_server(provider.answer) as provider.url:
        yield provider


class Taught:
    """A reflector with one lesson."""

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> list[MemoryCard]:
        """The same after every failure."""
        del task, output, evaluation, trace
        return [MemoryCard(kind=MemoryKind.LESSON, content=LESSON)]


def said(body: dict[str, Any], role: str) -> str:
    """What the request's messages of one role say, of either of OpenAI's two interfaces."""
    told = [{"role": "system", "content": body["instructions"]}] if body.get("instructions") else []
    messages = [*told, *body.get("messages", ()), *body.get("input", ())]
    return "\n".join(str(one["content"]) for one in messages if one.get("role") == role)


def documented(framework: str) -> dict[str, Any]:
    """What the docs' code for a framework defines."""
    examples = [one for one in find_examples(*map(str, PAGES)) if framework_of(one) == framework]
    names: dict[str, Any] = {"__name__": "documented"}
    for one in examples:
        exec(compile("\n" * one.start_line + one.source, str(one.path), "exec"), names)  # noqa: S102 - the project's own
    return names


def framework_of(example: CodeExample) -> str:
    """The framework that a page's code needs; "" for none."""
    return example.prefix_settings().get("framework", "")
