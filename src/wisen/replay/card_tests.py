"""The replay test: measures what a card changes, on the same tasks with and without it, before it is trusted.

A small budget goes first to what tells most, in three steps. Does the card fix the task it came from? Does it break
neighbours that were solved? Does it help tasks that it hasn't seen? The first two decide which card is tested next.
Only the third counts as evidence. A task chosen because it failed can only be gained, and one chosen because it was
solved can only be lost; related tasks are chosen by similarity alone.

Beside the card, "with" and "without" show the cards in use, as recall would find them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from wisen.cards import MemoryCard, MemoryStatus
from wisen.errors import ConfigError
from wisen.events import CardMoved
from wisen.memory_ci.ideas import is_example, wordings_of
from wisen.memory_ci.pipeline import MemoryCI
from wisen.memory_ci.verdicts import DEFAULT_RULE, Rule, promoted_for
from wisen.recall import CardFilter
from wisen.records import Clockwork, Task
from wisen.replay.attempts import Attempt, Condition, Conditioned, Fitting
from wisen.replay.clusters import fewest_clusters
from wisen.replay.log import Counts, Release, ReplayLog, call_log
from wisen.replay.pairs import ReplayBudget, Replays
from wisen.replay.replay_options import ReplayOptions
from wisen.replay.rule_tests import RuleOutcome
from wisen.replay.stages import Replayed, ReplaySession
from wisen.replay.tested_card import Bench, CardUnderTest, OwnTask
from wisen.replay.trial_evidence import TrialEvidence
from wisen.stores.paging import every_card


@dataclass(frozen=True, slots=True, kw_only=True)
class CardOutcome:
    """What the test has to say of one card."""

    card_id: str
    status: MemoryStatus
    why: str
    own: OwnTask
    kept: int
    broken: int
    counts: Counts
    unknown: int
    helps: float
    """The e-value for "helps"."""
    hurts: float
    """The e-value for "hurts"."""
    tasks: int
    """On how many tasks it could be tested."""
    clusters: int = 0
    """How many clusters of near-copies these are, each of which counts once."""
    needed: int = 0
    """How many clusters it takes for a verdict at least."""
    too_few: str = ""
    """That there are too few clusters for a verdict, in words; "" where there may be enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport:
    """What a replay test came to."""

    cards: tuple[CardOutcome, ...]
    releases: tuple[Release, ...]
    attempts: int
    """Made now; attempts that were known from before cost nothing."""
    tokens: int
    seconds: float
    exhausted: str = ""
    """Why it stopped before everything was tried; "" where it didn't."""
    problems: dict[str, int] = field(default_factory=dict[str, int])
    """Attempts without a score, by reason."""
    rules: tuple[RuleOutcome, ...] = ()
    """Of standing rules, where they were tested before the cards."""
    moved: tuple[CardMoved, ...] = ()
    """What the live trial's rule has moved, on runs and replays together; rivals of what was promoted, too."""


class ReplayTest:
    """Tests cards in quarantine: those that help are promoted, those that hurt archived, the others stay.

    After every pair the card holds the evidence so far, which you may look at (see `wisen.memory_ci.verdicts`). Cards
    are promoted together by e-BH: on average at most `1 / rule.promote_at` of those promoted don't help. A test that
    was killed goes on where it stopped: see `wisen.replay.log`.

    Args:
        ci: Whose store's cards are tested, and whose ranker says which tasks a card would be shown for.
        attempt: Makes one attempt; `agent_attempt(agent)` for a real agent.
        rule: How much evidence decides.
        budget: What the test may use. When it is used up, cards stay undecided, and nothing is lost.
        parallel: Most attempts at a time.
        options: Finer choices.
        watch: Called after every pair.
        clockwork: The clock; by default that of `ci`.
    """

    def __init__(  # noqa: PLR0913 - two say what is tested, the others how much may be spent on it
        self,
        ci: MemoryCI,
        attempt: Attempt,
        *,
        rule: Rule = DEFAULT_RULE,
        budget: ReplayBudget | None = None,
        parallel: int = 1,
        options: ReplayOptions | None = None,
        watch: Callable[[Replayed], None] | None = None,
        clockwork: Clockwork | None = None,
    ) -> None:
        if parallel < 1:
            raise ConfigError(f"ReplayTest(parallel={parallel!r}): must be 1 or more")
        self._ci = ci
        self._attempt = attempt
        self._rule = rule
        self._budget = budget or ReplayBudget()
        self._parallel = parallel
        self._options = options or ReplayOptions()
        self._watch = watch or _nobody
        self._clockwork = clockwork or Clockwork(now=ci.now)
        known = attempt.condition if isinstance(attempt, Conditioned) else Condition()
        self._condition = self._options.condition or known

    async def run(self, tasks: Sequence[Task], cards: Sequence[str] | None = None) -> ReplayReport:
        """Test the cards with these ids, by default all that `untestable` has nothing against, on these tasks.

        Others are left as they are. A card that another model's evidence promoted gets evidence for this one, and
        stays. Raises `StoreError` where the store fails or keeps no calls, `CardNotFoundError`, and `ConfigError` of
        the agent. Where a model is gone it raises `UnreachableModelError`, and where workers are, `QueueError`. What
        was bought is kept, and the next test goes on.
        """
        store, options = self._ci.store, self._options
        judged_by = self._attempt.judged_by if isinstance(self._attempt, Fitting) else None
        log = ReplayLog(call_log(store), self._condition, terms=options.terms, judged_by=judged_by)
        replays = Replays(
            self._attempt,
            log,
            budget=self._budget,
            parallel=self._parallel,
            clockwork=self._clockwork,
            store=store,
        )
        bench = Bench(
            store,
            log,
            self._condition,
            threshold=options.threshold,
            control=options.control,
            terms=options.terms,
        )
        needed = fewest_clusters(self._rule)
        cases = [CardUnderTest(card=card, needed=needed) for card in await self._cards(cards)]
        for case in cases:
            others = [] if is_example(case.card) else await wordings_of(store, case.card)
            case.learned_from = tuple(card.situation.prompt for card in (case.card, *others))
        session = self._session(bench, replays, log, cases)
        await session.run(tasks)
        return ReplayReport(
            cards=tuple(map(_outcome, cases)),
            releases=tuple(session.releases),
            attempts=replays.made,
            tokens=replays.tokens,
            seconds=replays.seconds,
            exhausted=session.exhausted,
            problems=dict(replays.problems),
            moved=tuple(session.trial.moved),
        )

    def _session(self, bench: Bench, replays: Replays, log: ReplayLog, cases: list[CardUnderTest]) -> ReplaySession:
        condition, now = self._condition, self._clockwork.now
        return ReplaySession(
            ci=self._ci,
            options=self._options,
            rule=self._rule,
            parallel=self._parallel,
            watch=self._watch,
            now=now,
            condition=condition,
            bench=bench,
            replays=replays,
            log=log,
            cases=cases,
            trial=TrialEvidence(self._ci, model=condition.model, layout=condition.layout, now=now),
        )

    async def _cards(self, ids: Sequence[str] | None) -> list[MemoryCard]:
        store = self._ci.store
        if ids is not None:
            found = await store.get(list(dict.fromkeys(ids)))
        else:
            where = CardFilter(statuses=(MemoryStatus.QUARANTINED, MemoryStatus.PROMOTED))
            found = [card async for card in every_card(store, where)]
        return [card for card in found if not untestable(card, self._condition)]


def untestable(card: MemoryCard, condition: Condition) -> str:
    """Why a card isn't tested under this condition; "" where it is."""
    if card.pinned or card.held:
        return "it is pinned" if card.pinned else "it is held; see `wisen lessons review`"
    if card.idea and not is_example(card):
        return f"it puts card {card.idea} in other words, which is tested for both"
    if card.superseded_by:
        return f"card {card.superseded_by} corrects it"
    if card.status is MemoryStatus.QUARANTINED:
        return ""
    if card.status is not MemoryStatus.PROMOTED:
        return f"it is {card.status.value}"
    here = promoted_for(card, model=condition.model, layout=condition.layout)
    return "it is promoted; put it back into quarantine to test it again" if here else ""


def _outcome(case: CardUnderTest) -> CardOutcome:
    return CardOutcome(
        card_id=case.card.id,
        status=case.card.status,
        why=case.why(),
        own=case.own,
        kept=case.kept,
        broken=case.broken,
        counts=case.counts,
        unknown=case.unknown,
        helps=case.helps,
        hurts=case.hurts,
        tasks=case.tasks,
        clusters=case.clusters,
        needed=case.needed,
        too_few=case.too_few,
    )


def _nobody(_: Replayed) -> None:
    """Hear of a pair."""
