"""An MCP server over `AsyncMemory`: agents recall lessons, and say later, from any process, how their tasks came out.

There are no sessions. What belongs to one task travels as a receipt, the id of its attempt.
"""

import asyncio
import logging
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Annotated, Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import AnyHttpUrl, Field, ValidationError
from starlette.applications import Starlette

from wisen.cards import ANYONE, MemoryCard, MemoryStatus, circle_key
from wisen.errors import CardNotFoundError, ConfigError, RunNotFoundError, WisenError
from wisen.events import described
from wisen.integrations.bearer_tokens import BearerTokens
from wisen.integrations.mcp_answers import (
    AdvisedLesson,
    LessonExplained,
    LessonRecorded,
    OutcomeCounted,
    RecalledLessons,
)
from wisen.memory.asynchronous import AsyncMemory
from wisen.memory_ci.ideas import head_of
from wisen.memory_ci.pipeline import MemoryCI
from wisen.screening.screens import verdict_of

INSTRUCTIONS = """\
Lessons from earlier tasks. Each is tried on some tasks and held out of others, so that it is known which ones help.

- Before you begin a task, call recall_lessons with the task in the user's own words and the names of your tools. \
Take the advice as what worked before, not as orders; it may be empty.
- When the task is done or has failed, call report_outcome with the receipt and a score, from 0 (failed) to 1 (done). \
Say in the feedback what went wrong, or what to do instead: it becomes a lesson. \
Report good outcomes too: without them no lesson can prove itself.
- When you learn something that would have saved you time, call record_lesson with one or two sentences.
- To see what speaks for a lesson, call explain_lesson with its id.
"""
MOST_BYTES = 1024 * 1024
"""Of a request over HTTP."""
PATH = "/mcp"
_PATIENCE = 30.0
"""Seconds that the store may take for one call."""
_TOLD = 5
"""Most mistakes of one call that are told."""
_AWAY = "memory isn't available at the moment; go on without it, and try again later"
_LOG = logging.getLogger("wisen.mcp")

_Task = Annotated[str, Field(max_length=50_000, description="The task, in the words of the person who asks.")]
_Tools = Annotated[
    list[Annotated[str, Field(max_length=200)]],
    Field(max_length=500, description="Names of the tools that are at hand; lessons on others aren't shown."),
]


class LessonTools:
    """The tools. Their errors are one line, and never the store's own.

    Args:
        ci: Whose store it is about.
        agent: The role of the agents that call: what they learn is tried on their own tasks first.
        tenant: Whose call this is.
    """

    def __init__(self, ci: MemoryCI, *, agent: str, tenant: Callable[[], str]) -> None:
        self._ci = ci
        self._agent = agent
        self._tenant = tenant
        self._memories: dict[str, AsyncMemory] = {}

    async def recall_lessons(
        self,
        task: _Task,
        tools: _Tools = [],  # noqa: B006 - the protocol's default; it is never changed
        task_type: Annotated[str, Field(max_length=200, description="Lessons can be scoped by it.")] = "",
    ) -> RecalledLessons:
        """Recall what earlier tasks like this one taught. Call it before you begin a task, and keep the receipt."""
        memory = self._memory()
        with _told("no such task"):
            attempt = await memory.begin(task, tools=tools, task_type=task_type)
            advice = attempt.advice
            await memory.end(attempt)
        if attempt.degradations:
            _LOG.warning("recall_lessons went without memory: %s", "; ".join(attempt.degradations))
            raise ToolError(_AWAY)
        shown = [one for one in advice.injections if one.shown]
        return RecalledLessons(
            advice=advice.text,
            receipt=attempt.id,
            lessons=[AdvisedLesson(id=one.card_id, kind=one.kind, relevance=one.score) for one in shown],
        )

    async def report_outcome(
        self,
        receipt: Annotated[str, Field(max_length=200, description="What recall_lessons gave for this task.")],
        score: Annotated[float, Field(ge=0.0, le=1.0, description="From 0 (failed) to 1 (done).")],
        feedback: Annotated[
            str, Field(max_length=8_000, description="What went wrong, or what to do instead; it becomes a lesson.")
        ] = "",
    ) -> OutcomeCounted:
        """Say how a task came out, good or bad, once that is known. The first word on a task is the one that counts."""
        memory = self._memory()
        with _told(f"no task has the receipt {receipt!r}; pass the receipt that recall_lessons gave"):
            async with asyncio.timeout(_PATIENCE):
                reported = await memory.outcome(receipt, score, feedback=feedback, verified=False, unseen=True)
        return OutcomeCounted(counted=reported.counted)

    async def record_lesson(
        self,
        text: Annotated[str, Field(max_length=8_000, description="What you learned, in one or two sentences.")],
        task: _Task = "",
        tools: _Tools = [],  # noqa: B006 - as above
    ) -> LessonRecorded:
        """Keep a lesson for tasks like this one. It is screened first, and then tried before it is relied on."""
        memory = self._memory()
        with _told("no such task"):
            async with asyncio.timeout(_PATIENCE):
                submission = await memory.lesson(text, task=task, tools=tools, by="mcp")
        rules = sorted({one.rule for one in submission.findings})
        return LessonRecorded(
            lesson=submission.card_id,
            outcome="held" if submission.held else submission.outcome,
            because=[*rules, *submission.held],
        )

    async def explain_lesson(
        self, lesson_id: Annotated[str, Field(max_length=200, description="An id that recall_lessons gave.")]
    ) -> LessonExplained:
        """Say what a lesson claims, how far its trial is, what speaks for it, and what became of it."""
        tenant, store = self._tenant(), self._ci.store
        with _told(f"no lesson has the id {lesson_id!r}; pass one that recall_lessons or record_lesson gave"):
            async with asyncio.timeout(_PATIENCE):
                card = (await store.get([lesson_id]))[0]
                if card.scope.tenant != tenant:
                    raise CardNotFoundError(lesson_id)
                head = await head_of(store, card)
        withheld = self._withheld(card, head, tenant)
        passed = None if withheld else verdict_of(self._ci.screen, card).card
        withheld = withheld or ("" if passed else "the screen refuses it")
        return LessonExplained.of(card, head, claim=passed.text if passed else "", withheld=withheld)

    def _withheld(self, card: MemoryCard, head: MemoryCard, tenant: str) -> str:
        """Why a claim may not be read, which is for the reasons for which no advice may hold it; "" where it may."""
        if card.held:
            return "it waits for a person's decision"
        if card.superseded_by:
            return f"it is corrected by {card.superseded_by}"
        if head.status not in (MemoryStatus.PROMOTED, MemoryStatus.QUARANTINED):
            return f"it is {head.status}"
        own = (ANYONE, circle_key(tenant, self._agent, ""))
        return "" if head.status is MemoryStatus.PROMOTED or card.circle in own else "other agents try it first"

    def _memory(self) -> AsyncMemory:
        tenant = self._tenant()
        if tenant not in self._memories:
            self._memories[tenant] = AsyncMemory(self._ci, agent=self._agent, tenant=tenant, timeout=_PATIENCE)
        return self._memories[tenant]


class LessonServer(MCPServer[Any]):
    """The server: its tools' errors are one line, and arguments that no tool has are refused.

    Args:
        ci: Whose store it is about.
        agent: The role of the agents that call.
        tenant: Whose memory it is, where no tokens say so.
        tokens: What clients that come over HTTP have to show; it names their tenants.
    """

    def __init__(
        self, ci: MemoryCI, *, agent: str = "agent", tenant: str = "", tokens: BearerTokens | None = None
    ) -> None:
        # Tokens are the operator's own: there is no OAuth server behind them, and none is announced.
        nobody = AnyHttpUrl("http://localhost")
        super().__init__(
            name="wisen",
            title="Lessons",
            instructions=INSTRUCTIONS,
            version=version("wisen"),
            token_verifier=None if tokens is None else _Verifier(tokens),
            auth=None if tokens is None else AuthSettings(issuer_url=nobody, resource_server_url=None),
            log_level="WARNING",
            subscriptions=False,
        )
        self.guarded = tokens is not None
        tools = LessonTools(ci, agent=agent, tenant=(lambda: tenant) if tokens is None else _tenant_of_call)
        for tool, writes in (
            (tools.recall_lessons, True),
            (tools.report_outcome, True),
            (tools.record_lesson, True),
            (tools.explain_lesson, False),
        ):
            hints = ToolAnnotations(
                read_only_hint=not writes, destructive_hint=False, idempotent_hint=not writes, open_world_hint=False
            )
            self.add_tool(tool, annotations=hints, structured_output=True)

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """See `MCPServer.call_tool`."""
        known = next((tool.input_schema["properties"] for tool in await self.list_tools() if tool.name == name), None)
        if known is not None and (strange := sorted(set(arguments) - set(known))):
            raise ToolError(f"{name} has no argument {strange[0][:100]!r}; it takes {', '.join(known)}")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(f"{name}: {_mistakes(error.__cause__)}") from None
            raise

    def web_application(self, host: str) -> Starlette:
        """It, over HTTP without sessions, to listen at `host`.

        Where it asks for no token, only requests to a name of this machine are answered: no web page can call it.
        """
        names = ("localhost", "127.0.0.1", "[::1]", f"[{host}]" if ":" in host else host)
        security = TransportSecuritySettings(
            enable_dns_rebinding_protection=not self.guarded,
            allowed_hosts=[spelt for name in names for spelt in (name, f"{name}:*")],
            allowed_origins=[f"http://{spelt}" for name in names for spelt in (name, f"{name}:*")],
        )
        return self.streamable_http_app(
            streamable_http_path=PATH,
            json_response=True,
            stateless_http=True,
            max_request_body_size=MOST_BYTES,
            transport_security=security,
            host=host,
        )


class _Verifier:
    """Tells the protocol's library who a token's bearer is; implements its `TokenVerifier`."""

    def __init__(self, tokens: BearerTokens) -> None:
        self._tokens = tokens

    async def verify_token(self, token: str) -> AccessToken | None:
        tenant = self._tokens.tenant_of(token)
        return None if tenant is None else AccessToken(token="", client_id=tenant, scopes=[], subject=tenant)


def _tenant_of_call() -> str:
    bearer = get_access_token()
    if bearer is None or bearer.subject is None:
        raise ToolError("this server asks for a bearer token")
    return bearer.subject


@contextmanager
def _told(unknown: str) -> Generator[None]:
    """Make one line of what a call meets: `unknown` for an id that isn't there, or not this tenant's."""
    try:
        yield
    except (RunNotFoundError, CardNotFoundError):
        raise ToolError(unknown) from None
    except ConfigError as error:
        raise ToolError(str(error)) from None
    except Exception as error:  # noqa: BLE001 - the protocol goes on whatever the store does
        # A store may be anybody's code, and its errors name files and hosts that no client needs to know.
        _LOG.warning(
            "the store failed: %s", described(error) if isinstance(error, WisenError) else type(error).__name__
        )
        raise ToolError(_AWAY) from None


def _mistakes(error: ValidationError) -> str:
    found = error.errors(include_input=False, include_url=False, include_context=False)
    told: Sequence[str] = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found[:_TOLD]]
    return "; ".join((*told, *(("…",) if len(found) > _TOLD else ())))
