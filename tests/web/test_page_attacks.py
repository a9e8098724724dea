"""Attacks on the page: what strangers, other tenants and other sites ask changes nothing and tells nothing."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from page_client import Visitor, visiting

from wisen.cards import MemoryCard, MemoryScope, MemoryStatus
from wisen.integrations.bearer_tokens import BearerTokens
from wisen.recall import CardFilter
from wisen.stores.markdown.store import MarkdownStore
from wisen.stores.sqlite.store import SQLiteVectorStore
from wisen.testing.material import card, run_record
from wisen.web.application import PageAccess, page_application

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]
NORTH, SOUTH = "token-of-the-north", "token-of-the-south"
TOKENS = BearerTokens({NORTH: "north", SOUTH: "south"})
SECRET = "Northern invoices carry code N7"
VIEWS = ("/", "/lessons", "/lessons?q=invoices", "/lessons/{card}", "/runs", "/runs/{run}", "/runs/{run}/text/task")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SQLiteVectorStore]:
    """A lesson and a run of the north, and one of each of the south."""
    async with SQLiteVectorStore(tmp_path / "lessons.db") as opened:
        for tenant, text in (("north", SECRET), ("south", "Southern parcels weigh less")):
            await opened.add_unscreened([waiting(text, tenant)])
            await opened.save_run(replace(run_record(f"run-{tenant}", tenant=tenant, output=text), agent=text))
        yield opened


def waiting(text: str, tenant: str = "north") -> MemoryCard:
    return card(text, prompt="Which code?", scope=MemoryScope(tenant=tenant), status=MemoryStatus.QUARANTINED)


async def lesson(store: SQLiteVectorStore, tenant: str = "north") -> MemoryCard:
    return (await store.list(CardFilter(tenant=tenant)))[0]


@pytest.fixture
async def visitor(store: SQLiteVectorStore) -> AsyncIterator[Visitor]:
    """A stranger at the page of that store."""
    async with visiting(page_application(store, PageAccess(tokens=TOKENS))) as one:
        yield one


async def logged_in(at: Visitor, token: str = NORTH) -> Visitor:
    """A browser of its own that has logged in."""
    one = Visitor(at.port)
    reply = await one.post("/login", {"token": token})
    assert (reply.status, reply.header("location")) == (303, "/")
    return one


async def form(at: Visitor, card_id: str) -> dict[str, str]:
    """The fields of the form on a lesson's page that decides, filled in."""
    page = (await at.get(f"/lessons/{card_id}")).page
    found = next(one for one in page.forms if "why" in one)
    return {name: value for name, value in found.items() if name not in ("action", "method")} | {"why": "as I say"}


def filled(path: str, one: MemoryCard) -> str:
    return path.format(card=one.id, run="run-north")


async def unchanged(store: SQLiteVectorStore, before: MemoryCard) -> bool:
    return await store.get([before.id]) == [before]


@pytest.mark.parametrize("path", VIEWS)
async def test_a_stranger_sees_nothing(path: str, store: SQLiteVectorStore, visitor: Visitor) -> None:
    reply = await visitor.get(filled(path, await lesson(store)))
    assert (reply.status, reply.header("location")) == (303, "/login")
    assert SECRET.encode() not in reply.body
    assert not visitor.cookies


@pytest.mark.parametrize("path", VIEWS)
async def test_another_tenant_sees_nothing(path: str, store: SQLiteVectorStore, visitor: Visitor) -> None:
    south = await logged_in(visitor, SOUTH)
    reply = await south.get(filled(path, await lesson(store)))
    assert reply.status in (200, 404)
    assert SECRET.encode() not in reply.body
    assert b"run-north" not in reply.body.replace(b"/runs/run-north", b"").replace(b"&#39;run-north&#39;", b"")
    north = await logged_in(visitor)
    assert (await north.get(filled(path, await lesson(store)))).status == 200


async def test_a_beginning_of_another_tenant_s_id_finds_nothing(store: SQLiteVectorStore, visitor: Visitor) -> None:
    south, mine = await logged_in(visitor, SOUTH), await lesson(store)
    for path in (f"/lessons/{mine.id[:6]}", "/runs/run-n", f"/lessons?q={mine.id[:6]}"):
        assert SECRET.encode() not in (await south.get(path)).body


@pytest.mark.parametrize(
    "sent",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "http://127.0.0.1.evil.example"},
        {"origin": "http://[::1"},
        {"cookie": "none=1"},
        {"cookie": "wisen_session=" + "a" * 43},
        {"host": "evil.example", "origin": "http://evil.example"},
        {"content_type": "text/plain"},
        {"content_type": "application/json"},
        {"content_type": "multipart/form-data; boundary=x"},
        {"content_type": ""},
    ],
    ids=str,
)
async def test_a_form_that_isn_t_the_page_s_own_changes_nothing(
    sent: dict[str, str], store: SQLiteVectorStore, visitor: Visitor
) -> None:
    north, mine = await logged_in(visitor), await lesson(store)
    fields = await form(north, mine.id) | {"act": "promote"}
    reply = await north.post(f"/lessons/{mine.id}", fields, **sent)
    assert reply.status in (400, 403, 421)
    assert await unchanged(store, mine)
    assert (await north.post(f"/lessons/{mine.id}", fields)).status == 303
    assert not await unchanged(store, mine)


@pytest.mark.parametrize("token", [None, "", "forged", "é", "a" * 43, "another visit's"])
async def test_a_form_without_its_token_changes_nothing(
    token: str | None, store: SQLiteVectorStore, visitor: Visitor
) -> None:
    north, mine = await logged_in(visitor), await lesson(store)
    other = await form(await logged_in(visitor), mine.id)
    fields = await form(north, mine.id) | {"act": "promote"}
    hidden = next(name for name, value in other.items() if value not in ("", fields[name], "as I say"))
    assert fields.pop(hidden) != other[hidden]
    if token is not None:
        fields[hidden] = other[hidden] if token == "another visit's" else token
    for path in (f"/lessons/{mine.id}", "/undo"):
        reply = await north.post(path, fields)
        assert reply.status == 403
        assert "Nothing was changed" in reply.page.text
    assert await unchanged(store, mine)


async def test_another_tenant_s_form_changes_nothing(store: SQLiteVectorStore, visitor: Visitor) -> None:
    south, mine = await logged_in(visitor, SOUTH), await lesson(store)
    fields = await form(south, (await lesson(store, "south")).id)
    for act in ("promote", "release", "archive", "reject", "pin", "correct"):
        assert (await south.post(f"/lessons/{mine.id}", fields | {"act": act, "content": "mine now"})).status == 404
    assert await unchanged(store, mine)


async def test_another_tenant_can_t_undo(store: SQLiteVectorStore, visitor: Visitor) -> None:
    north, south, mine = await logged_in(visitor), await logged_in(visitor, SOUTH), await lesson(store)
    fields = await form(south, (await lesson(store, "south")).id)
    assert (await north.post(f"/lessons/{mine.id}", await form(north, mine.id) | {"act": "promote"})).status == 303
    assert (await south.post("/undo", fields)).status == 400
    assert (await store.get([mine.id]))[0].status is MemoryStatus.PROMOTED


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
async def test_nothing_but_a_form_decides(method: str, store: SQLiteVectorStore, visitor: Visitor) -> None:
    north, mine = await logged_in(visitor), await lesson(store)
    fields = await form(north, mine.id) | {"act": "promote"}
    asked = "&".join(f"{name}={value}" for name, value in fields.items()).replace(" ", "+")
    reply = await north.ask(method, f"/lessons/{mine.id}?{asked}", {"origin": north.origin})
    assert reply.status in (200, 400, 405)
    assert await unchanged(store, mine)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example:80", "", "[::1", "a b", "ü"],
)
async def test_a_name_that_leads_here_from_elsewhere_is_refused(
    host: str, store: SQLiteVectorStore, visitor: Visitor
) -> None:
    north, mine = await logged_in(visitor), await lesson(store)
    reply = await north.ask("GET", f"/lessons/{mine.id}", {"host": host.encode().decode("latin-1")})
    assert reply.status in (400, 421)
    assert SECRET.encode() not in reply.body


@pytest.mark.parametrize(
    "path",
    [
        "/static/../application.py",
        "/static/..%2fapplication.py",
        "/static/%2e%2e/application.py",
        "/static/....//application.py",
        "/static/%2fetc%2fpasswd",
        "/static//etc/passwd",
        "/static/..\\application.py",
        "/static/page.css%00.html",
        "/static/../templates/layout.html",
        "/static/",
        "/static",
        "//etc/passwd",
        "/.git/config",
    ],
)
async def test_no_path_leads_out_of_the_static_files(path: str, visitor: Visitor) -> None:
    reply = await visitor.get(path)
    assert reply.status == 404
    assert b"import" not in reply.body
    assert b"root:" not in reply.body


@pytest.mark.parametrize(
    "query",
    [
        "q=" + "a" * 50_000,
        "q=" + "%F0%9F%92%A5" * 5_000,
        "q=%00%FF%ED%A0%80",
        "q=%22%27%3Cb%3E&status=%3Cb%3E&kind=%3Cb%3E&awaits=%3Cb%3E",
        "page=" + "9" * 19,
        "page=" + "9" * 5_000,
        "page=-1",
        "page=1e9",
        "page=%D9%A3",
        "page=0x10",
        "from=" + "9" * 30,
        "&".join(f"a{number}=1" for number in range(5_000)),
        "status=promoted&status=rejected&awaits=release&awaits=choice",
        ";&=&&%",
    ],
    ids=lambda query: f"{query[:20]}, {len(query)} characters",
)
async def test_no_query_breaks_a_view(query: str, store: SQLiteVectorStore, visitor: Visitor) -> None:
    north, mine = await logged_in(visitor), await lesson(store)
    for path in (
        "/",
        "/lessons",
        f"/lessons/{mine.id}",
        f"/lessons/{mine.id}/text/content",
        "/runs",
        "/runs/run-north",
    ):
        reply = await north.get(f"{path}?{query}")
        assert reply.status in (200, 400, 404, 414, 431), path
        assert len(reply.body) < 100_000


@pytest.mark.parametrize(
    "wanted", ["%00", "%ED%A0%80", "%25", "%FF", "a" * 20_000, "..%2f..", "%0d%0aSet-Cookie:%20a=1", "%3Cb%3E"]
)
async def test_no_id_breaks_a_view(wanted: str, visitor: Visitor) -> None:
    north = await logged_in(visitor)
    for path in (
        f"/lessons/{wanted}",
        f"/runs/{wanted}",
        f"/lessons/{wanted}/text/content",
        f"/runs/{wanted}/text/task",
    ):
        reply = await north.get(path)
        assert reply.status in (400, 404, 414), path
        assert ("set-cookie", "a=1") not in reply.headers
        assert len(reply.body) < 100_000


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"act=promote",
        b"\xff\xfe\x00",
        b"why=" + b"x" * 300_000,
        b"&".join(b"a%d=1" % number for number in range(1_000)),
        b"act=promote&why=%ED%A0%80",
        b"{}",
    ],
    ids=lambda body: repr(body[:12]),
)
async def test_no_body_breaks_a_form(body: bytes, store: SQLiteVectorStore, visitor: Visitor) -> None:
    north, mine = await logged_in(visitor), await lesson(store)
    headers = {"origin": north.origin, "content-type": "application/x-www-form-urlencoded"}
    for path in (f"/lessons/{mine.id}", "/undo", "/login", "/logout"):
        assert (await north.ask("POST", path, headers, body)).status in (400, 403, 413)
    assert await unchanged(store, mine)


async def test_a_reason_is_required(store: SQLiteVectorStore, visitor: Visitor) -> None:
    north, mine = await logged_in(visitor), await lesson(store)
    for why in ("", " \n\t ", "\u200b"):
        reply = await north.post(f"/lessons/{mine.id}", await form(north, mine.id) | {"act": "promote", "why": why})
        assert reply.status == 400, repr(why)
    assert await unchanged(store, mine)


async def test_decisions_at_once_leave_one_history(store: SQLiteVectorStore, visitor: Visitor) -> None:
    north, mine = await logged_in(visitor), await lesson(store)
    fields = await form(north, mine.id)
    acts = ("promote", "archive", "reject", "promote", "archive", "pin", "release", "reject")
    replies = await asyncio.gather(*(north.post(f"/lessons/{mine.id}", fields | {"act": act}) for act in acts))
    assert {reply.status for reply in replies} <= {303, 400, 409}
    after = (await store.get([mine.id]))[0]
    moves = [*after.history]
    assert all(one.after is other.before for one, other in pairwise(moves))
    assert moves[-1].after is after.status
    assert sum(reply.status == 303 for reply in replies) == len(moves)


async def test_strangers_leave_nothing_that_could_log_a_person_out(store: SQLiteVectorStore) -> None:
    async with visiting(page_application(store, PageAccess(tenant="north"))) as person:
        mine = await lesson(store)
        assert [(await person.get(filled(path, mine))).header("set-cookie") for path in VIEWS] == [""] * len(VIEWS)
        fields = await form(person, mine.id)
        stranger = Visitor(person.port)
        assert (
            await stranger.post(f"/lessons/{mine.id}", fields | {"act": "promote", "form_token": "x"})
        ).status == 403
        assert (await stranger.post("/logout", fields)).status == 303
        assert (await person.post(f"/lessons/{mine.id}", fields | {"act": "promote"})).status == 303


async def test_an_older_page_undoes_no_later_decision(store: SQLiteVectorStore, visitor: Visitor) -> None:
    one, other, mine = await logged_in(visitor), await logged_in(visitor), await lesson(store)
    assert (await one.post(f"/lessons/{mine.id}", await form(one, mine.id) | {"act": "pin"})).status == 303
    page = (await one.get("/")).page
    undo = next(found for found in page.forms if found["action"] == "/undo")
    assert (await other.post(f"/lessons/{mine.id}", await form(other, mine.id) | {"act": "promote"})).status == 303
    reply = await one.post("/undo", undo)
    assert reply.status == 400
    assert "Nothing was changed" in reply.page.text
    assert (await store.get([mine.id]))[0].status is MemoryStatus.PROMOTED


async def test_a_store_that_breaks_while_it_is_served_is_said_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "lessons.db"
    async with SQLiteVectorStore(path) as opened, visiting(page_application(opened)) as person:
        await opened.add_unscreened([waiting(SECRET, "")])
        mine = await lesson(opened, "")
        fields = await form(person, mine.id)
        with sqlite3.connect(path) as other:
            for table in ("cards", "runs"):
                other.execute(f"ALTER TABLE {table} RENAME TO gone_{table}")
        replies = [await person.get(view) for view in ("/lessons", f"/lessons/{mine.id}", "/runs")]
        replies.append(await person.post(f"/lessons/{mine.id}", fields | {"act": "promote"}))
        for reply in replies:
            assert reply.status == 503
            assert "The store can't be asked" in reply.page.text
            assert "Traceback" not in reply.page.text
        with sqlite3.connect(path) as other:
            for table in ("cards", "runs"):
                other.execute(f"ALTER TABLE gone_{table} RENAME TO {table}")
        assert (await person.get(f"/lessons/{mine.id}")).status == 200
        assert await unchanged(opened, mine)


async def test_a_store_that_is_closed_is_said_in_a_sentence(tmp_path: Path) -> None:
    opened = SQLiteVectorStore(tmp_path / "lessons.db")
    async with visiting(page_application(opened)) as person:
        assert (await person.get("/lessons")).status == 200
        await opened.close()
        for view in ("/lessons", "/runs", "/lessons/none"):
            reply = await person.get(view)
            assert reply.status == 503
            assert "The store can't be asked" in reply.page.text


async def test_every_answer_is_guarded(store: SQLiteVectorStore, visitor: Visitor) -> None:
    north, mine = await logged_in(visitor), await lesson(store)
    paths = [filled(path, mine) for path in VIEWS]
    replies = [await north.get(path) for path in (*paths, "/none", "/lessons/none", "/login", "/static/page.css")]
    replies += [await visitor.get("/"), await visitor.post("/undo", {}), await visitor.get("/", host="evil.example")]
    for reply in replies:
        policy = reply.header("content-security-policy")
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert reply.header("x-content-type-options") == "nosniff"
        assert reply.header("x-frame-options") == "DENY"
        assert not reply.header("access-control-allow-origin")


async def test_the_cookie_is_kept_from_scripts_and_other_sites(visitor: Visitor) -> None:
    reply = await visitor.post("/login", {"token": NORTH})
    (cookie,) = (value.lower() for name, value in reply.headers if name == "set-cookie")
    assert {"httponly", "samesite=strict", "path=/"} <= {part.strip() for part in cookie.split(";")}
    assert NORTH not in cookie


async def test_who_has_logged_out_has_to_log_in_again(store: SQLiteVectorStore, visitor: Visitor) -> None:
    north, mine = await logged_in(visitor), await lesson(store)
    cookies, fields = dict(north.cookies), await form(north, mine.id)
    assert (await north.post("/logout", fields)).status == 303
    stale = Visitor(north.port, cookies)
    assert (await stale.get("/")).status == 303
    assert (await stale.post(f"/lessons/{mine.id}", fields | {"act": "promote"})).status == 403
    assert await unchanged(store, mine)


@pytest.mark.parametrize("token", ["", "wrong", NORTH[:-1], NORTH + "x", NORTH.upper(), "é" * 20, "x" * 100_000])
async def test_a_wrong_token_opens_nothing(token: str, visitor: Visitor) -> None:
    reply = await visitor.post("/login", {"token": token})
    assert reply.status == 403
    assert not visitor.cookies
    assert NORTH.encode() not in reply.body


async def test_a_page_from_before_a_move_decides_nothing(store: SQLiteVectorStore, visitor: Visitor) -> None:
    north, mine = await logged_in(visitor), await lesson(store)
    other = await form(north, mine.id)
    assert (await north.post(f"/lessons/{mine.id}", await form(north, mine.id) | {"act": "promote"})).status == 303
    before = await lesson(store)
    for act in ("reject", "pin", "correct"):
        reply = await north.post(f"/lessons/{mine.id}", other | {"act": act, "content": "Another."})
        assert reply.status == 400
        assert "was moved after its page was made" in reply.page.text
    assert await unchanged(store, before)
    assert (await north.post(f"/lessons/{mine.id}", await form(north, mine.id) | {"act": "reject"})).status == 303


@pytest.mark.parametrize("name", ["why", "content", "strategy", "act"])
async def test_a_refused_form_of_any_length_is_a_small_page(
    name: str, store: SQLiteVectorStore, visitor: Visitor
) -> None:
    north, mine = await logged_in(visitor), await lesson(store)
    for length in (11_000, 50_000):
        fields = await form(north, mine.id) | {"act": "none", name: "&" * length}
        reply = await north.post(f"/lessons/{mine.id}", fields)
        assert reply.status == 400
        assert len(reply.body) < 100_000


@pytest.mark.parametrize(("path", "method"), [("/", "OPTIONS"), ("/runs", "POST"), ("/undo", "GET")])
async def test_a_method_that_an_address_does_not_take(path: str, method: str, visitor: Visitor) -> None:
    reply = await visitor.ask(method, path)
    assert reply.status == 405
    assert reply.header("allow")
    assert f"doesn't take {method}" in reply.page.text


async def test_a_folder_that_goes_away_and_comes_back(tmp_path: Path) -> None:
    """Such as by a change of branch: the page shows what the files say, now."""
    async with MarkdownStore(tmp_path / "lessons") as opened, visiting(page_application(opened)) as person:
        await opened.add_unscreened([waiting("Keep rule one.", "")])
        assert "Keep rule one." in (await person.get("/lessons")).page.text
        (tmp_path / "lessons").rename(tmp_path / "elsewhere")
        gone = await person.get("/lessons")
        assert gone.status == 200
        assert "Keep rule one." not in gone.page.text
        (tmp_path / "elsewhere").rename(tmp_path / "lessons")
        assert "Keep rule one." in (await person.get("/lessons")).page.text


async def test_a_store_that_nobody_may_write_says_so(tmp_path: Path) -> None:
    async with SQLiteVectorStore(tmp_path / "lessons.db") as opened:
        await opened.add_unscreened([waiting(SECRET, "")])
    async with (
        SQLiteVectorStore(tmp_path / "lessons.db", read_only=True) as opened,
        visiting(page_application(opened)) as person,
    ):
        mine = await lesson(opened, "")
        reply = await person.post(f"/lessons/{mine.id}", await form(person, mine.id) | {"act": "promote"})
        assert reply.status == 503
        assert "read-only" in reply.page.text or "read only" in reply.page.text
        assert await unchanged(opened, mine)


async def test_a_hundred_requests_at_once(store: SQLiteVectorStore) -> None:
    async with visiting(page_application(store, PageAccess(tenant="north"))) as person:
        mine = await lesson(store)
        paths = ["/", f"/lessons/{mine.id}", "/lessons?q=invoices", "/runs/run-north"] * 25
        replies = await asyncio.gather(*(person.get(path) for path in paths))
        assert {reply.status for reply in replies} == {200}
