"""What every store promises about memory blocks, run records and recorded calls."""
# ruff: noqa: S101, PLR2004 - these modules' assertions are what they are for

import asyncio
from dataclasses import replace

import pytest

from wisen.errors import RunNotFoundError, StoreError
from wisen.protocols import Blocks, CallLog, KeepsFirst, KeepsWhile, RunLog, SurveysRuns
from wisen.records import AttemptRecord, Injection, RunRecord
from wisen.stores.whole_store import Store
from wisen.testing.material import FullStore, card, run_record


class BlockContract:
    """Tests of `Blocks`; needs a `store` fixture."""

    async def test_a_store_has_these_abilities(self, store: FullStore) -> None:
        """They are asked for by `isinstance`."""
        assert isinstance(store, Blocks)
        assert isinstance(store, RunLog)
        assert isinstance(store, CallLog)
        assert isinstance(store, KeepsFirst)
        assert isinstance(store, SurveysRuns)

    async def test_a_block_is_its_lines_in_order(self, store: Blocks) -> None:
        """An unwritten block is empty; an append is one line."""
        assert await store.block("notes") == ""
        await store.append_block("notes", "first")
        await store.append_block("notes", "second\nhalf")
        assert await store.block("notes") == "first\nsecond half"

    async def test_blocks_are_replaced_whole(self, store: Blocks) -> None:
        """And can be emptied."""
        await store.append_block("notes", "old")
        await store.update_block("notes", "new\nlines")
        await store.append_block("notes", "more")
        assert await store.block("notes") == "new\nlines\nmore"
        await store.update_block("notes", "")
        assert await store.block("notes") == ""

    async def test_blocks_of_tenants_and_names_are_apart(self, store: Blocks) -> None:
        """The same name in another tenant is another block."""
        await store.append_block("notes", "of nobody")
        await store.append_block("notes", "of north", tenant="north")
        await store.append_block("other", "of nobody, other")
        assert await store.block("notes", tenant="north") == "of north"
        assert await store.block("notes") == "of nobody"
        assert await store.block("notes", tenant="south") == ""

    async def test_concurrent_appends_are_all_kept(self, store: Blocks) -> None:
        """Twenty runs that end at the same moment keep twenty lessons."""
        await asyncio.gather(*(store.append_block("notes", f"lesson {number}") for number in range(20)))
        lines = (await store.block("notes")).split("\n")
        assert sorted(lines) == sorted(f"lesson {number}" for number in range(20))

    async def test_past_the_bound_the_oldest_lines_go(self, store: Blocks) -> None:
        """Whole lines go; the newest always stays."""
        lines = [f"{number:04d} {'x' * 95}" for number in range(1_000)]
        await store.update_block("notes", "\n".join(lines))
        await store.append_block("notes", "the newest")
        kept = (await store.block("notes")).split("\n")
        assert kept[-1] == "the newest"
        assert 1 < len(kept) < 1_000
        assert kept[:-1] == lines[len(lines) - len(kept) + 1 :]


class RunContract:
    """Tests of `RunLog`; needs a `store` fixture."""

    async def test_a_run_comes_back_as_it_was(self, store: RunLog) -> None:
        """The task's metadata too."""
        record = run_record("r1", tenant="north")
        await store.save_run(record)
        assert await store.run("r1") == record

    async def test_an_unknown_run_raises(self, store: RunLog) -> None:
        """The error names it."""
        with pytest.raises(RunNotFoundError) as caught:
            await store.run("nowhere")
        assert caught.value.run_id == "nowhere"

    async def test_saving_a_run_again_replaces_it(self, store: RunLog) -> None:
        """There is one record per run."""
        await store.save_run(run_record("r1", output="first"))
        await store.save_run(run_record("r1", output="second"))
        assert [record.output for record in await store.runs()] == ["second"]

    async def test_runs_are_listed_newest_first(self, store: RunLog) -> None:
        """In pages, of one tenant or of all; the last saved first where they began together."""
        for run_id, tenant, minute in (("a", "", 1), ("b", "north", 3), ("c", "", 2), ("d", "", 2)):
            await store.save_run(run_record(run_id, tenant=tenant, minute=minute))
        assert [record.run_id for record in await store.runs()] == ["b", "d", "c", "a"]
        assert [record.run_id for record in await store.runs(tenant="")] == ["d", "c", "a"]
        assert [record.run_id for record in await store.runs(limit=2, offset=1)] == ["d", "c"]
        assert await store.runs(tenant="south") == []

    async def test_ids_are_found_by_their_beginnings(self, store: Store) -> None:
        """In the order of listings: cards oldest first, runs newest first; none for an empty beginning."""
        for run_id, minute in (("ab1", 1), ("ab2", 3), ("b", 2), ("ab3", 2)):
            await store.save_run(run_record(run_id, minute=minute))
        cards = [replace(card(one, minute=9 - at), id=one) for at, one in enumerate(("ab1", "ab2", "b"))]
        await store.add(cards)
        assert list(await store.ids_beginning("run", "ab")) == ["ab2", "ab3", "ab1"]
        assert list(await store.ids_beginning("card", "ab")) == ["ab2", "ab1"]
        for what in ("card", "run"):
            assert list(await store.ids_beginning(what, "")) == list(await store.ids_beginning(what, "abc")) == []

    async def test_a_survey_tells_which_judged_runs_had_lessons_and_were_good_at_once(self, store: SurveysRuns) -> None:
        """As each record's own `mark` does, oldest first, of one tenant or of all."""
        assert isinstance(store, RunLog)
        tried, told = AttemptRecord(attempt=1, output="7"), AttemptRecord(attempt=1, output="8", advice_delivered=True)
        prompt = 'say "status":"satisfied","attempts":[] and \\'
        runs = [
            replace(run_record("good", minute=4), status="satisfied", attempts=(told,)),
            replace(run_record("bad", minute=1), status="unsatisfied", attempts=(tried, tried)),
            replace(run_record("late", minute=3), status="satisfied", attempts=(tried, told)),
            replace(run_record("died", minute=2, output=prompt), status="failed"),
            replace(run_record("open", minute=5), status="unfinished", attempts=(told,)),
            replace(run_record("nobody judged", minute=6), attempts=(told,)),
            replace(run_record("other", tenant="north", minute=9), status="satisfied", attempts=(told,)),
        ]
        for record in runs:
            await store.save_run(record)
        marks = await store.run_marks(tenant="")
        assert marks == [runs[at].mark for at in (1, 3, 2, 0)]
        assert [(mark.advised, mark.good) for mark in marks] == [
            (False, False),
            (False, False),
            (False, False),
            (True, True),
        ]
        assert await store.run_marks() == [*marks, runs[6].mark]
        assert await store.run_marks(tenant="south") == []

    async def test_runs_with_a_card_are_found_newest_first(self, store: SurveysRuns) -> None:
        """Those that recalled it, shown or held out, or another wording of it, and the one that taught it."""
        assert isinstance(store, RunLog)

        def recalling(run_id: str, minute: int, card_id: str, *, idea: str = "", tenant: str = "") -> RunRecord:
            shown = minute % 2 > 0
            injection = Injection(card_id=card_id, idea=idea, kind="lesson", reasons=(), score=0.5, shown=shown)
            attempt = AttemptRecord(attempt=1, output="7", injections=(injection,))
            return replace(run_record(run_id, tenant=tenant, minute=minute), attempts=(attempt,))

        taught = AttemptRecord(attempt=1, output="7", lesson_ids=("card",))
        runs = [
            recalling("shown", 1, "card"),
            recalling("other wording", 4, "wording", idea="card"),
            recalling("another card", 3, "cards", idea="cards"),
            replace(run_record("taught it", minute=2), attempts=(taught,)),
            run_record("speaks of it", minute=6, output='"card"'),
            recalling("of others", 5, "card", tenant="north"),
        ]
        for record in runs:
            await store.save_run(record)
        found = await store.runs_with("card", tenant="")
        assert [record.run_id for record in found] == ["other wording", "taught it", "shown"]
        assert found[0] == runs[1]
        assert [record.run_id for record in await store.runs_with("card", limit=2)] == ["of others", "other wording"]
        assert await store.runs_with("nothing") == []


class CallContract:
    """Tests of `CallLog`, and of closing; needs a `store` fixture."""

    async def test_calls_come_back_by_scope_key_and_ordinal(self, store: CallLog) -> None:
        """What wasn't kept is `None`."""
        await store.save_call("run", "key", 0, b"first")
        await store.save_call("run", "key", 1, b"\x00second\xff")
        assert await store.call("run", "key", 0) == b"first"
        assert await store.call("run", "key", 1) == b"\x00second\xff"
        for missing in (("run", "key", 2), ("run", "other", 0), ("other", "key", 0)):
            assert await store.call(*missing) is None

    async def test_a_call_that_is_kept_stays(self, store: KeepsFirst) -> None:
        """A later caller gets what was kept first, and hears that it did."""
        assert await store.keep_call("run", "key", 0, b"\x00first\xff") == b"\x00first\xff"
        assert await store.keep_call("run", "key", 0, b"second") == b"\x00first\xff"
        assert await store.keep_call("run", "key", 1, b"second") == b"second"
        assert isinstance(store, CallLog)
        assert await store.call("run", "key", 0) == b"\x00first\xff"

    async def test_a_call_is_kept_while_its_head_is(self, store: FullStore) -> None:
        """In the same one write: nothing comes after what was dropped."""
        if not isinstance(store, KeepsWhile):
            return  # it needn't be: then the head is asked for
        assert await store.keep_call_while("run", "key", 0, b"early", head="begun") is None
        await store.save_call("run", "begun", 0, b"")
        assert await store.keep_call_while("run", "key", 0, b"\x00first\xff", head="begun") == b"\x00first\xff"
        assert await store.keep_call_while("run", "key", 0, b"second", head="begun") == b"\x00first\xff"
        assert await store.call("run", "key", 0) == b"\x00first\xff"
        assert await store.keep_call_while("other", "key", 0, b"other", head="begun") is None
        assert await store.call("other", "key", 0) is None

    async def test_of_many_who_keep_a_call_at_once_one_wins(self, store: KeepsFirst) -> None:
        """All of them are given the same."""
        given = await asyncio.gather(*(store.keep_call("run", "key", 0, b"%d" % number) for number in range(20)))
        assert len(set(given)) == 1
        assert isinstance(store, CallLog)
        assert await store.call("run", "key", 0) == given[0]

    async def test_a_closed_store_keeps_no_notes(self, store: FullStore) -> None:
        """Blocks, runs and calls are refused too."""
        await store.close()
        for attempt in (
            store.append_block("notes", "line"),
            store.block("notes"),
            store.update_block("notes", "text"),
            store.save_run(run_record("r1")),
            store.run("r1"),
            store.runs(),
            store.save_call("run", "key", 0, b""),
            store.keep_call("run", "key", 0, b""),
            store.call("run", "key", 0),
        ):
            with pytest.raises(StoreError, match="closed"):
                await attempt
