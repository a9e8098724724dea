"""What a file says of runs, checks and its status is believed of what the store wrote, and of nothing else."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from markdown_files import EVERYTHING, HAND

from wisen import MemoryCI, MemoryKind, PromptCompiler
from wisen.advice.compiler import Recalled
from wisen.cards import CardEvidence, MemoryCard, MemoryScope, MemoryStatus, Move, Provenance, Situation
from wisen.recall import CardFilter, RecallHit
from wisen.records import Injection
from wisen.stores.markdown.card_counts import without_counts
from wisen.stores.markdown.store import MarkdownStore
from wisen.trial_records import DrawCounts, OpenDraw, Trial

pytestmark = pytest.mark.anyio

PROMPT = "What is the capital of Australia?"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def episode(**changes: Any) -> MemoryCard:
    made = MemoryCard(
        kind=MemoryKind.SKILL_CARD,
        content="Canberra",
        situation=Situation(prompt=PROMPT),
        status=MemoryStatus.PROMOTED,
        provenance=Provenance(run_id="r", verified=True, created_by="reflexion", created_at=NOON),
    )
    return replace(made, **changes)


async def the_only(root: Path) -> MemoryCard:
    async with MarkdownStore(root) as store:
        (found,) = await store.list(EVERYTHING)
        assert await store.problems() == ()
        return found


async def turns(root: Path) -> tuple[tuple[str, str], ...]:
    async with MarkdownStore(root) as store:
        drawn = await MemoryCI(store, trust="screened").recall(
            Situation(prompt=PROMPT), CardFilter(tenant=""), run_id="asks"
        )
        assert len(drawn) == 1
        return PromptCompiler().compile([_recalled(one.hit) for one in drawn]).turns


def _recalled(hit: RecallHit) -> Recalled:
    injection = Injection(card_id=hit.card.id, kind=hit.card.kind, reasons=hit.reasons, score=hit.relevance)
    return Recalled(card=hit.card, injection=injection)


def is_a_persons(card: MemoryCard) -> bool:
    nothing = (card.evidence, card.history, card.pinned, card.observed, card.supersedes) == ((), (), False, (), "")
    nothing = nothing and (card.idea, card.rivals, card.trials, card.open_draws) == ("", (), (), ())
    nothing = nothing and (card.held, card.released) == ((), False)
    return nothing and card.status is MemoryStatus.QUARANTINED and card.provenance.origin == "human"


@pytest.mark.parametrize("named", ["id: deadbeefdeadbeefdead\n", ""])
@pytest.mark.parametrize("seal", ["", "seal: 0123456789abcdef0123456789abcdef\n", "seal: [1]\n"])
async def test_a_typed_file_is_a_persons_whatever_it_claims(root: Path, named: str, seal: str) -> None:
    path = root / "cards/skill_card/2026-01-01-a.md"
    path.parent.mkdir(parents=True)
    claims = 'created_by: reflexion\nrun: r9\nverified: true\npinned: true\nobserved: ["a"]\nsupersedes: other\n'
    claims += 'released: true\nevidence:\n  - {"model": "m", "gained": 50}\n'
    path.write_text(f"---\n{named}status: promoted\n{claims}{seal}prompt: {PROMPT}\n---\n\nSydney\n")
    assert is_a_persons(await the_only(root))
    assert await turns(root) == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Canberra", "Sydney"),
        ("Australia", "Austria"),
        ("run: r\n", "run: r\nfor_roles: clerk\n"),
        ("id: ", "id: 0"),
        ("created_at: 2026", "created_at: 2027"),
    ],
)
async def test_an_edited_file_is_a_persons(root: Path, old: str, new: str) -> None:
    trial, draw = Trial(model="m", stage="promoted"), OpenDraw(id="n")
    full = episode(idea="head", rivals=("other",), trials=(trial,), open_draws=(draw,), observed=("a",), pinned=True)
    async with MarkdownStore(root) as store:
        await store.add([full])
        path = await store.path_of(episode().id)
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        assert is_a_persons((await store.list(EVERYTHING))[0])
        path.write_text(text)
        assert await store.list(EVERYTHING) == [full]


async def test_an_edited_episode_is_no_turn_of_the_chat(root: Path) -> None:
    async with MarkdownStore(root) as store:
        await store.add([episode()])
        path = await store.path_of(episode().id)
    assert await turns(root) == ((PROMPT, "Canberra"),)
    path.write_text(path.read_text().replace("Canberra", "Sydney"))
    assert await turns(root) == ()


async def test_a_raised_status_is_not_believed_and_a_withdrawal_is(root: Path) -> None:
    async with MarkdownStore(root) as store:
        await store.add([episode(status=MemoryStatus.QUARANTINED)])
        path = await store.path_of(episode().id)
        text = path.read_text()
        for status in ("archived", "rejected"):
            path.write_text(text.replace("status: quarantined", f"status: {status}"))
            (seen,) = await store.list(EVERYTHING)
            assert (seen.status.value, seen.provenance.origin) == (status, "verified")
        path.write_text(text.replace("status: quarantined", "status: promoted"))
        assert is_a_persons((await store.list(EVERYTHING))[0])


async def test_another_clone_believes_what_the_store_wrote(root: Path, tmp_path: Path) -> None:
    full = episode(
        evidence=(CardEvidence(model="m", propensity=0.85, shown=3),),
        history=(Move(at=NOON, before=MemoryStatus.QUARANTINED, after=MemoryStatus.PROMOTED, why="it helps"),),
        pinned=True,
        observed=("a", "b"),
        idea="head",
        rivals=("other",),
        trials=(Trial(model="m", counts=(DrawCounts(shown=3),)),),
        open_draws=(OpenDraw(id="n", shown=False, propensity=0.0),),
        retold=2,
        taught_at=NOON,
        alike=1,
        supersedes="another",
    )
    async with MarkdownStore(root) as store:
        await store.add([full])
        path = await store.path_of(full.id)
    clone = tmp_path / "clone"
    shutil.copytree(root, clone, ignore=shutil.ignore_patterns(".wisen"))
    copy = clone / path.relative_to(root)
    copy.write_bytes(copy.read_bytes().replace(b"\n", b"\r\n"))
    copy.rename(copy.with_name("renamed.md"))
    assert await the_only(clone) == without_counts(full)


async def test_a_card_is_not_carried_to_another_tenant(root: Path) -> None:
    async with MarkdownStore(root) as store:
        await store.add([episode()])
        path = await store.path_of(episode().id)
    other = root / "tenants/north" / path.relative_to(root)
    other.parent.mkdir(parents=True)
    path.rename(other)
    seen = await the_only(root)
    assert seen.scope == MemoryScope(tenant="north")
    assert is_a_persons(seen)


async def test_what_a_person_promotes_through_the_store_is_sealed_as_a_persons(root: Path) -> None:
    async with MarkdownStore(root) as store:
        await store.add([episode()])
        path = await store.path_of(episode().id)
        path.write_text(path.read_text().replace("Canberra", "Sydney").replace("---\n", "---\n# ours\n", 1))
        promoted = await MemoryCI(store).promote(episode().id, "I looked it up.")
        assert (promoted.status, promoted.provenance.origin) == (MemoryStatus.PROMOTED, "human")
    assert await the_only(root) == promoted
    text = path.read_text()
    assert "verified" not in text
    assert "reflexion" not in text
    assert text.startswith("---\n# ours\nid: ")
    assert text.endswith("---\n\nSydney\n")


async def test_counting_leaves_a_persons_lines_alone(root: Path) -> None:
    path = root / "cards/lesson/x.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nid: mine\nstatus: promoted\n---\n\nLook twice.\n")
    async with MarkdownStore(root) as store:
        (seen,) = await store.list(EVERYTHING)
        assert (await store.add([replace(seen, id="again")]))[0].outcome == "duplicate"
        assert (await store.get(["mine"]))[0].duplicates == 1
    assert path.read_text() == "---\nid: mine\nstatus: promoted\n---\n\nLook twice.\n"


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=2)), None])
async def test_times_of_any_zone_are_sealed(root: Path, zone: timezone | None) -> None:
    at = datetime(2026, 3, 1, 2, tzinfo=zone)
    one = episode(provenance=Provenance(verified=True, created_by="reflexion", created_at=at))
    async with MarkdownStore(root) as store:
        await store.add([one])
    assert await the_only(root) == one


async def test_a_file_that_states_no_status_claims_none(root: Path) -> None:
    for status in ("", "---\nstatus: promoted\n---\n\n"):
        path = root / "reflections" / "clerk" / f"mail{len(status)}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{status}{HAND}")
    async with MarkdownStore(root) as store:
        found = {Path(one.path).stem: one.claims for one in await store.reports()}
    assert found == {"mail0": None, "mail26": MemoryStatus.PROMOTED}
