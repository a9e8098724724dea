"""The page's addresses: what each shows, and who may see it."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from http import HTTPStatus
from math import inf
from typing import cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from wisen.cards import MemoryCard, MemoryKind, MemoryStatus, Situation
from wisen.errors import CardNotFoundError, ConfigError, RunNotFoundError, WisenError
from wisen.explain.by_id import find_card, find_run
from wisen.integrations.bearer_tokens import BearerTokens
from wisen.memory_ci.pipeline import MemoryCI
from wisen.recall import Awaited, CardFilter, RecallQuery
from wisen.stores.one_look import one_look
from wisen.stores.whole_store import Store
from wisen.web.deciding import Deciding, kept_texts, moves_of, shown_again
from wisen.web.desk import look_at_desk
from wisen.web.gate import Gate, form_of, same_site
from wisen.web.lesson_view import look_at_lesson
from wisen.web.rendering import Rendering, path, sheet
from wisen.web.run_view import ATTEMPTS, look_at_run
from wisen.web.success import SuccessBoard
from wisen.web.visits import COOKIE, Visit, Visits

_WARMING = 3.0
"""Seconds that the server waits at most for what the first pages need; the rest is looked up while it answers."""
_ROWS = 25
_FOUND = 50
"""Lessons that a search gives at most."""
_LONGEST_SEARCH = 500
_LONGEST_NUMBER = 9
_OUT_OF_DATE = "This form is out of date. Nothing was changed; open the page again."
_SECTIONS = {"desk": "desk", "lesson": "lessons", "lessons": "lessons", "run": "runs", "runs": "runs"}
_AWAITED = {"release": "held or imported", "verdict": "on trial", "choice": "has rivals"}


View = Callable[[Request, Visit], Awaitable[Response]]
Act = Callable[[Request, Visit, dict[str, str]], Awaitable[Response]]
Answer = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAccess:
    """Who may see the page."""

    tenant: str = ""
    """Whose memory it shows, where no tokens say so."""
    tokens: BearerTokens | None = None
    """What browsers log in with; `None` lets anyone who reaches the page look."""
    names: Collection[str] = ()
    """Host names that it answers for, beside IP addresses and localhost."""


def page_application(
    store: Store, access: PageAccess | None = None, *, monotonic: Callable[[], float] = time.monotonic
) -> Starlette:
    """The page over an open store, as an ASGI application. Who calls it closes the store."""
    access = access or PageAccess()
    return PageServer(store, access, monotonic).application()


class PageServer:
    """Answers each request with a page."""

    def __init__(self, store: Store, access: PageAccess, monotonic: Callable[[], float]) -> None:
        self._store = store
        self._access = access
        self._visits = Visits(monotonic)
        self._everybody = None if access.tokens else self._visits.begin(access.tenant, life=inf)
        self._success = SuccessBoard(store, monotonic)
        self._deciding = Deciding(MemoryCI(store), monotonic)
        self._rendering = Rendering()

    def application(self) -> Starlette:
        """The addresses."""
        shown, posted = self._shown, self._posted
        return Starlette(
            routes=[
                Route("/", shown(self._desk), methods=["GET"]),
                Route("/lessons", shown(self._lessons), methods=["GET"]),
                Route("/lessons/{card_id:path}/text/{part}", shown(self._lesson_text), methods=["GET"]),
                Route("/lessons/{card_id:path}", shown(self._lesson), methods=["GET"]),
                Route("/lessons/{card_id:path}", posted(self._decide), methods=["POST"]),
                Route("/runs", shown(self._runs), methods=["GET"]),
                Route("/runs/{run_id:path}/text/{part}", shown(self._run_text), methods=["GET"]),
                Route("/runs/{run_id:path}", shown(self._run), methods=["GET"]),
                Route("/undo", posted(self._undo), methods=["POST"]),
                Route("/login", self._login_page, methods=["GET"]),
                Route("/login", self._log_in, methods=["POST"]),
                Route("/logout", posted(self._log_out), methods=["POST"]),
                Route("/static/{name}", self._static, methods=["GET"]),
                Route("/health", self._health, methods=["GET"]),
            ],
            middleware=[Middleware(Gate, names=self._access.names)],
            exception_handlers={404: self._missing, 405: self._missing},
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncGenerator[None]:
        """Look up what the first pages would wait for; the store is the caller's."""
        warming = asyncio.create_task(self._warm())
        await asyncio.wait([warming], timeout=_WARMING)
        try:
            yield
        finally:
            warming.cancel()
            with suppress(asyncio.CancelledError):
                await warming

    async def _warm(self) -> None:
        if self._access.tokens is None:
            with suppress(WisenError):  # the page that asks for it says so
                await self._success.of(self._access.tenant)
                await look_at_desk(self._store, self._access.tenant)
                await self._search(LessonQuery(text="wisen"), self._access.tenant)

    def _shown(self, view: "View") -> "Answer":
        """A page for who may look."""

        @wraps(view)
        async def answer(request: Request) -> Response:
            visit = self._visit(request)
            if visit is None:
                return RedirectResponse("/login", status_code=303)
            return await self._told(view(request, visit), visit)

        return answer

    def _posted(self, act: "Act") -> "Answer":
        """A decision of who may decide, made on a page of this site."""

        @wraps(act)
        async def answer(request: Request) -> Response:
            visit = self._visit(request)
            if not same_site(request):
                return await self._problem(None, 403, "This form was sent by another site. Nothing was changed.")
            if visit is None:
                said = "You aren't logged in any more. Nothing was changed; open the page again."
                return await self._problem(None, 403, said)
            try:
                fields = await form_of(request)
            except ConfigError as error:
                return await self._problem(visit, 400, f"Nothing was changed: {error}.")
            if not visit.wrote(fields.get("form_token", "")):
                return await self._problem(visit, 403, _OUT_OF_DATE)
            return await self._told(act(request, visit, fields), visit)

        return answer

    def _visit(self, request: Request) -> Visit | None:
        """Whose browser it is. Where nobody logs in all share one visit, which strangers can't push out."""
        return self._everybody or self._visits.find(request.cookies.get(COOKIE, ""))

    async def _told(self, answering: Awaitable[Response], visit: Visit) -> Response:
        """The answer, or a page that says in one sentence why there is none."""
        try:
            with one_look():
                return await answering
        except (CardNotFoundError, RunNotFoundError) as error:
            return await self._problem(visit, 404, f"There is {error}.")
        except ConfigError as error:
            return await self._problem(visit, 400, f"Nothing was changed: {error}.")
        except WisenError as error:
            return await self._problem(visit, 503, f"The store can't be asked: {error}.")

    async def _page(self, name: str, visit: Visit, *, status: int = 200, **values: object) -> Response:
        """A page below the figures that stand above all of them."""
        last, tokens = self._deciding.last(visit.tenant), self._access.tokens is not None
        values = {"problem": "", "here": _SECTIONS.get(name, ""), "last": last, "logged_in": tokens, **values}
        success = await self._success.of(visit.tenant)
        return HTMLResponse(self._rendering.page(name, success=success, visit=visit, **values), status_code=status)

    async def _problem(self, visit: Visit | None, status: int, said: str) -> Response:
        page = self._rendering.page(
            "problem", here="", said=said, visit=visit, logged_in=self._access.tokens is not None
        )
        return HTMLResponse(page, status_code=status)

    async def _missing(self, request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException) or error.status_code == HTTPStatus.NOT_FOUND:
            return await self._problem(None, 404, "There is no such page.")
        response = await self._problem(None, error.status_code, f"This address doesn't take {request.method[:20]}.")
        response.headers.update(error.headers or {})
        return response

    async def _desk(self, _: Request, visit: Visit) -> Response:
        return await self._page("desk", visit, desk=await look_at_desk(self._store, visit.tenant))

    async def _lessons(self, request: Request, visit: Visit) -> Response:
        asked = LessonQuery.of(request)
        if asked.text:
            cards, more = await self._search(asked, visit.tenant), False
        else:
            offset = (asked.page - 1) * _ROWS
            cards = await self._store.list(asked.filter(visit.tenant), limit=_ROWS + 1, offset=offset)
            cards, more = cards[:_ROWS], len(cards) > _ROWS
        total = None if asked.text else await self._store.count(asked.filter(visit.tenant))
        return await self._page(
            "lessons",
            visit,
            cards=cards,
            asked=asked,
            more=more,
            total=total,
            kinds=[one.value for one in MemoryKind],
            statuses=[one.value for one in MemoryStatus],
            awaited=_AWAITED,
        )

    async def _search(self, asked: "LessonQuery", tenant: str) -> list[MemoryCard]:
        """Lessons whose id begins so, then those that a run with such a task would be shown."""
        where = asked.filter(tenant)
        near = await self._store.ids_beginning("card", asked.text)
        named = [card for card in await self._store.get(list(near)[:_ROWS]) if where.accepts(card)]
        query = RecallQuery(
            situation=Situation(prompt=asked.text),
            filter=CardFilter(tenant=tenant, statuses=where.statuses, kinds=where.kinds),
            k=_FOUND,
        )
        hits = [hit.card for hit in await self._store.search(query) if where.accepts(hit.card)]
        return list({card.id: card for card in (*named, *hits)}.values())

    async def _lesson(
        self, request: Request, visit: Visit, problem: str = "", wrote: Mapping[str, str] | None = None
    ) -> Response:
        card = await find_card(self._store, request.path_params["card_id"], visit.tenant)
        view = await look_at_lesson(self._store, card)
        status = 400 if problem else 200
        return await self._page(
            "lesson",
            visit,
            status=status,
            view=view,
            problem=problem,
            wrote=shown_again(wrote or {}),
            kept=kept_texts(card),
            moves=moves_of(card),
        )

    async def _decide(self, request: Request, visit: Visit, fields: dict[str, str]) -> Response:
        card = await find_card(self._store, request.path_params["card_id"], visit.tenant)
        try:
            await self._deciding.as_written(card, fields)
        except ConfigError as error:
            return await self._lesson(request, visit, f"Nothing was changed: {error}.", fields)
        return RedirectResponse(path("lessons", card.id), status_code=303)

    async def _undo(self, _: Request, visit: Visit, fields: dict[str, str]) -> Response:
        card = await self._deciding.undo(visit.tenant, fields.get("decision", ""))
        return RedirectResponse(path("lessons", card.id), status_code=303)

    async def _lesson_text(self, request: Request, visit: Visit) -> Response:
        card = await find_card(self._store, request.path_params["card_id"], visit.tenant)
        part = request.path_params["part"]
        texts = {
            "content": card.content,
            "pattern": card.pattern,
            "strategy": card.strategy,
            "steps": "\n".join(card.steps),
            "situation": card.situation.text,
            "history": "\n\n".join(
                f"{one.at:%Y-%m-%d %H:%M} {one.before} to {one.after}: {one.why}" for one in card.history
            ),
        }
        return await self._text(request, visit, texts, f"Lesson {card.id}: {part}", path("lessons", card.id))

    async def _runs(self, request: Request, visit: Visit) -> Response:
        page = _number(request, "page")
        records = await self._store.runs(tenant=visit.tenant, limit=_ROWS + 1, offset=(page - 1) * _ROWS)
        return await self._page("runs", visit, records=records[:_ROWS], more=len(records) > _ROWS, page=page)

    async def _run(self, request: Request, visit: Visit) -> Response:
        record = await find_run(self._store, request.path_params["run_id"], visit.tenant)
        view = await look_at_run(self._store, record, first=_number(request, "from") - 1)
        return await self._page("run", visit, view=view, per_page=ATTEMPTS)

    async def _run_text(self, request: Request, visit: Visit) -> Response:
        record = await find_run(self._store, request.path_params["run_id"], visit.tenant)
        texts = {"task": record.task.prompt, "answer": record.output}
        texts |= {f"attempt-{one.attempt}": one.output for one in record.attempts}
        texts |= {f"did-{one.attempt}": one.did for one in record.attempts}
        part = request.path_params["part"]
        return await self._text(request, visit, texts, f"Run {record.run_id}: {part}", path("runs", record.run_id))

    async def _text(self, request: Request, visit: Visit, texts: dict[str, str], title: str, back: str) -> Response:
        text = texts.get(request.path_params["part"])
        if text is None:
            return await self._problem(visit, 404, "There is no such text.")
        shown = sheet(text, _number(request, "page"))
        return await self._page("text", visit, title=title, sheet=shown, back=back, address=request.url.path)

    async def _login_page(self, request: Request) -> Response:
        if self._visit(request) is not None:
            return RedirectResponse("/", status_code=303)
        return HTMLResponse(self._rendering.page("login", here="", problem="", visit=None, logged_in=False))

    async def _log_in(self, request: Request) -> Response:
        if not same_site(request) or self._access.tokens is None:
            return await self._problem(None, 403, "This form was sent by another site.")
        try:
            fields = await form_of(request)
        except ConfigError as error:
            return await self._problem(None, 400, f"You aren't logged in: {error}.")
        tenant = self._access.tokens.tenant_of(fields.get("token", "").strip())
        if tenant is None:
            page = self._rendering.page("login", here="", problem="Nobody has this token.", visit=None, logged_in=False)
            return HTMLResponse(page, status_code=403)
        response = RedirectResponse("/", status_code=303)
        _set_cookie(request, response, self._visits.begin(tenant))
        return response

    async def _log_out(self, _: Request, visit: Visit, __: dict[str, str]) -> Response:
        self._visits.end(visit)
        response = RedirectResponse("/login" if self._access.tokens else "/", status_code=303)
        response.delete_cookie(COOKIE)
        return response

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        content = self._rendering.static.get(name)
        if content is None:
            return await self._problem(None, 404, "There is no such file.")
        kinds = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
        headers = {"cache-control": "max-age=31536000, immutable"}
        return Response(content, media_type=kinds[name.rpartition(".")[2]], headers=headers)

    async def _health(self, _: Request) -> Response:
        return JSONResponse({"ok": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonQuery:
    """Which lessons are listed; what isn't known is no condition."""

    text: str = ""
    status: str = ""
    kind: str = ""
    awaits: str = ""
    page: int = 1

    @classmethod
    def of(cls, request: Request) -> "LessonQuery":
        """As the address says."""
        asked = request.query_params
        statuses, kinds = {one.value for one in MemoryStatus}, {one.value for one in MemoryKind}
        status, kind, awaits = asked.get("status", ""), asked.get("kind", ""), asked.get("awaits", "")
        return cls(
            text=" ".join(asked.get("q", "").split())[:_LONGEST_SEARCH],
            status=status if status in statuses else "",
            kind=kind if kind in kinds else "",
            awaits=awaits if awaits in _AWAITED else "",
            page=_number(request, "page"),
        )

    def filter(self, tenant: str) -> CardFilter:
        """The cards that are meant."""
        return CardFilter(
            tenant=tenant,
            statuses=(MemoryStatus(self.status),) if self.status else (),
            kinds=(MemoryKind(self.kind),) if self.kind else (),
            awaits=cast("Awaited", self.awaits),
        )

    @property
    def narrowed(self) -> bool:
        """Whether anything is asked for."""
        return bool(self.text or self.status or self.kind or self.awaits)


def _number(request: Request, name: str) -> int:
    """A number from 1 of the address; 1 for anything else."""
    given = request.query_params.get(name, "")
    return max(1, int(given)) if given.isascii() and given.isdecimal() and len(given) < _LONGEST_NUMBER else 1


def _set_cookie(request: Request, response: Response, visit: Visit) -> None:
    secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, visit.id, path="/", httponly=True, samesite="strict", secure=secure)
