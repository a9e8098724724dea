"""The prompt compiler: what of the recalled cards reaches the model, in a fixed frame and within a bound."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from wisen.advice.diversity import Likeness, MarginalRelevance, best_of_equals_first, said
from wisen.advice.frame import BULLET, RIVAL, RULES_HEADING, Note, OwnRun, note, section
from wisen.advice.grown_blocks import GrownBlocks
from wisen.advice.token_bound import TokenBound
from wisen.advice.token_counts import TokenCounter, at_most, counter_of, estimated, ready
from wisen.cards import MemoryCard, MemoryKind, MemoryStatus
from wisen.errors import ConfigError, ModelError, RecallBlockedError
from wisen.identity import same_form
from wisen.protocols import Screen
from wisen.records import Advice, Blocked, Injection, LeftOut
from wisen.screening.screens import DefaultScreen, admitted, verdict_of
from wisen.threads import in_thread

_LONGEST_ANSWER = 600
_MARGIN = 2_000
_MOST_OWN = 10
_ANSWER = "Answer:\n"
"""What an answer is screened behind: a number that is all of a text is taken for a postcode, for example."""
_LABELS = 200
_INDENT = 8
"""More characters than the labels and the frame around a text, and the indent of each of its lines, take."""
_NEVER_SHOWN = (MemoryStatus.REJECTED, MemoryStatus.ARCHIVED)
_NO_ROOM = "no room"
_NO_ROOM_FOR_RULE = "no room among the standing rules"
_HELD = "held until a person decides"
_HELD_OUT = "held out by the trial"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A card on its way into a prompt, with what is to be logged of it."""

    card: MemoryCard
    injection: Injection
    barred: str = ""
    """Why it may not be shown, however well it fits: "hurts (evidence)"."""
    rivals: tuple[str, ...] = ()
    """Ideas that can't be right beside it."""
    contradicted: bool = False
    """Whether the prompt holds one of them besides what is recalled, such as the run's own words."""
    fit: int = 0
    """As `RecallHit.fit` has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A card as the prompt would have it."""

    card: MemoryCard
    """As the screen lets it pass."""
    injection: Injection
    turn: tuple[str, str] | None
    note: Note | None
    rivals: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        return self.turn or ((self.note.sample,) if self.note else ())


@dataclass(slots=True, kw_only=True)
class _Draft:
    """Advice while it is made."""

    own: OwnRun = field(default_factory=OwnRun)
    block: str = ""
    rules: list[_Piece] = field(default_factory=list[_Piece])
    """Standing rules, in their order."""
    taken: list[_Piece] = field(default_factory=list[_Piece])
    """What goes in or is held out, in the order in which it was chosen."""
    blocked: list[Blocked] = field(default_factory=list[Blocked])
    left_out: list[LeftOut] = field(default_factory=list[LeftOut])

    def leave_out(self, card: MemoryCard, why: str) -> None:
        self.left_out.append(LeftOut(card_id=card.id, why=why))

    def said(self) -> dict[str, str]:
        """What the standing rules, the own run's words and the block say, and which of them."""
        lines = {line.removeprefix(BULLET): "a line of the block" for line in self.block.split("\n") if line.strip()}
        lines |= dict.fromkeys(self.own.lessons, "a lesson of this run")
        rules = {said(one.card): f"standing rule {one.card.id}" for one in self.rules}
        return {same_form(text): where for text, where in lines.items()} | rules

    def drop(self) -> None:
        """Take out what is worth least: the last card, the block, the oldest of the own run's words, the last rule."""
        if self.taken:
            self.leave_out(self.taken.pop().card, _NO_ROOM)
        elif self.block:
            self.block = ""
        elif self.own.lessons or self.own.rejected:
            self.own = replace(self.own, lessons=self.own.lessons[1:], rejected=self.own.rejected[1:])
        elif self.rules and self.own == OwnRun():
            self.leave_out(self.rules.pop().card, _NO_ROOM_FOR_RULE)
        else:
            self.own = OwnRun()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCompiler:
    """Turns cards into advice.

    Verified episodes of the agent's own runs become example turns of the chat (with `episodes="turns"`), the nearest
    last. Everything else is quoted in a section of the system prompt. The agent's standing rules come first, in their
    order. Promoted and pinned cards follow, then the other cards, oldest first in both. What this run has learned
    itself comes last. An answer that this run's evaluator expects is the last turn. So the prompts of one run's
    attempts begin alike, and so do those of different tasks that the same cards fit. The same input gives the same
    bytes.
    """

    max_tokens: int = 1_500
    """Bound on section and turns together, but for standing rules; the marks that a model's chat template puts around
    turns aren't counted.

    What this run has learned itself takes its room first: the last ten of each sort, and the beginning of each. The
    block comes next, and loses its oldest lines. Cards come last, and those that don't fit are left out."""
    rule_tokens: int = 500
    """Bound on the standing rules, beside `max_tokens`, so that they take no other card's place. The oldest come first,
    and one that doesn't fit is left out. With 0 there are none, and their cards are recalled as others are."""
    episodes: str = "turns"
    """"turns" or "section"."""
    own_characters: int = 600
    """The most characters of a lesson that this run learned itself."""
    diversity: float = 0.3
    """From 0 to 1: how much a note loses by being like one that is shown already. With 0 relevance alone decides, and
    notes that say the same are shown side by side. No note loses its place to one whose situation fits less
    (`RecallHit.fit`). Of episodes, the nearest are always the best."""
    screen: Screen = field(default_factory=DefaultScreen, compare=False)
    """Every text passes this screen again, no matter who put it into memory."""
    _blocks: GrownBlocks = field(default_factory=GrownBlocks, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a layout that doesn't exist with `ConfigError`."""
        if self.episodes not in ("turns", "section"):
            raise ConfigError(f"PromptCompiler(episodes={self.episodes!r}): must be 'turns' or 'section'")
        for name in ("max_tokens", "own_characters"):
            if getattr(self, name) < 1:
                raise ConfigError(f"PromptCompiler({name}={getattr(self, name)!r}): must be 1 or more")
        if self.rule_tokens < 0:
            raise ConfigError(f"PromptCompiler(rule_tokens={self.rule_tokens!r}): must be 0 or more")
        if not 0.0 <= self.diversity <= 1.0:
            raise ConfigError(f"PromptCompiler(diversity={self.diversity!r}): must be in [0, 1]")

    @property
    def layout(self) -> str:
        """Names the layout, as evidence is kept for it."""
        return f"episodes-as-{self.episodes}"

    async def compile_for(
        self,
        model: object,
        recalled: Sequence[Recalled],
        *,
        own: OwnRun | None = None,
        block: str = "",
        most: int | None = None,
    ) -> Advice:
        """Compile as `compile` does, with the model's own tokenizer where it has one and there may be too much."""
        fits = self._surely_fits(recalled, own, block)
        compiled = partial(self.compile, recalled, own=own, block=block, most=most, model=_name(model))
        # Rules have a bound of their own, and what is held out has to take its room.
        if fits and all(one.injection.shown and not one.injection.rule for one in recalled):
            advice = compiled(count=_uncounted)
            if _size(advice, at_most) <= self.max_tokens:  # what stands for a secret may be longer than it
                return advice
        count = None if fits else await counter_of(model)
        if count is not None:
            with suppress(ModelError):  # a tokenizer may fail, and may take its time
                return await in_thread(compiled, count=count)
        await ready()
        return compiled()

    def compile(
        self,
        recalled: Sequence[Recalled],
        *,
        own: OwnRun | None = None,
        block: str = "",
        most: int | None = None,
        count: TokenCounter = estimated,
        model: str = "",
    ) -> Advice:
        """Compile recalled cards (best first), a shared memory block, and what this run has learned itself.

        Nothing is shown twice. Of cards that say the same, the best is taken (`best_of_equals_first`, by the evidence
        for `model`), and none that says what a standing rule, the run's own words or the block say. What comes with an
        injection that names a version of rules stands as a rule, in the order given.

        `most` bounds the number of cards, those held out among them and rules not. Each card that isn't shown is named
        with the reason. A card that is held out is taken in as any other, and taken out at the end; its room stays
        empty. So no draw decides which cards are logged, or why one is left out: only which of those logged the model
        sees.

        Raises `RecallBlockedError` for a rejected or archived card.
        """
        room, draft = TokenBound(self.max_tokens, count), _Draft()
        eligible = self._eligible(recalled, draft)
        bound = self.max_tokens + self._stand([one for one in eligible if one.injection.rule], draft, count)
        draft.own = room.own(self._own(own)) if own is not None else OwnRun()
        draft.block = room.block(_lines_once(self._blocks.admitted(self.screen, block)))
        self._choose([one for one in eligible if not one.injection.rule], draft, room, most, model)
        whole = _advice(draft, draft.taken)
        # A tokenizer may count more for the whole than for its parts.
        while whole and _size(whole, count) > bound:
            draft.drop()
            whole = _advice(draft, draft.taken)
        shown = [one for one in draft.taken if one.injection.shown]
        if len(shown) == len(draft.taken):
            return whole
        for piece in draft.taken:
            if not piece.injection.shown:
                draft.leave_out(piece.card, _HELD_OUT)
        return _advice(draft, shown)

    def _eligible(self, recalled: Sequence[Recalled], draft: _Draft) -> list[Recalled]:
        """What may be shown, as far as evidence and corrections say; each card once."""
        corrections = {one.card.supersedes: one.card.id for one in recalled if one.card.supersedes}
        seen, eligible = set[str](), list[Recalled]()
        for one in recalled:
            card = one.card
            if card.id in seen:
                continue
            seen.add(card.id)
            if card.status in _NEVER_SHOWN:
                raise RecallBlockedError(f"card {card.id!r} is {card.status.value}: it may not reach a prompt")
            if correction := card.superseded_by or corrections.get(card.id):
                draft.leave_out(card, f"superseded by card {correction}")
            elif card.held:
                draft.leave_out(card, _HELD)
            elif one.barred:
                draft.leave_out(card, one.barred)
            else:
                eligible.append(one)
        return eligible

    def _piece(self, one: Recalled, draft: _Draft) -> _Piece | None:
        """The card as the prompt would have it; `None` where the screen keeps it out."""
        card, injection = self._screened(one.card, draft), one.injection
        if card is None:
            return None
        if self.episodes == "turns" and card.is_episode:
            return _Piece(card=card, injection=injection, turn=(card.situation.prompt, card.content), note=None)
        quoted = replace(note(card), aside=RIVAL) if one.contradicted else note(card)
        return _Piece(card=card, injection=injection, turn=None, note=quoted, rivals=one.rivals)

    def _screened(self, card: MemoryCard, draft: _Draft) -> MemoryCard | None:
        verdict = verdict_of(self.screen, card)
        if verdict.card is None:
            rules = dict.fromkeys(finding.rule for finding in verdict.findings)
            draft.blocked.append(Blocked(card_id=card.id, rules=tuple(rules)))
        return verdict.card

    def _stand(self, rules: Sequence[Recalled], draft: _Draft, count: TokenCounter) -> int:
        """Take the standing rules as far as there is room for them; says how much they have."""
        room = TokenBound(self.rule_tokens, count)
        for one in rules:
            piece = self._piece(one, draft)
            if piece is not None and room.fits(*(() if draft.rules else (RULES_HEADING,)), *piece.texts, framed=True):
                draft.rules.append(piece)
            elif piece is not None:
                draft.leave_out(one.card, _NO_ROOM_FOR_RULE)
        return self.rule_tokens if draft.rules else 0

    def _choose(self, given: list[Recalled], draft: _Draft, room: TokenBound, most: int | None, model: str) -> None:
        """Take cards as long as there is room: examples in their order, and notes also by what they add to those taken.

        The order given says when it is the turn of an example, and when that of a note.
        """
        places = best_of_equals_first([one.card for one in given], model=model, layout=self.layout)
        cards = [given[place] for place in places]
        there = draft.said()
        order = MarginalRelevance(
            [one.injection.score for one in given],
            Likeness([one.card for one in cards]),
            kinds=[(one.card.is_episode, one.fit) for one in given],
            diversity=self.diversity,
        )
        taken: list[int] = []
        for place in order:
            one = cards[place]
            _, nearest = order.nearest(place)
            crowded = most is not None and len(taken) >= most
            if same := there.get(said(one.card)):
                draft.leave_out(one.card, f"says the same as {same}")
            elif crowded and nearest >= 0 and any(place < other for other in taken):
                draft.leave_out(one.card, f"like card {cards[nearest].card.id}, and there are {most} already")
            elif crowded:
                draft.leave_out(one.card, f"not among the best {most}")
            elif (piece := self._piece(one, draft)) is None:
                continue
            elif not room.fits(*piece.texts, framed=piece.turn is None):
                draft.leave_out(one.card, _NO_ROOM)
            else:
                taken.append(place)
                draft.taken.append(piece)
                there[said(one.card)] = f"card {one.card.id}"
                order.take(place)

    def _own(self, own: OwnRun) -> OwnRun:
        """What of the last few passes the screen, and of each the beginning: enough to know a wrong answer by."""
        return OwnRun(
            lessons=tuple(dict.fromkeys(self._beginnings(own.lessons, self.own_characters, MemoryKind.LESSON))),
            rejected=self._beginnings(own.rejected, _LONGEST_ANSWER, MemoryKind.SKILL_CARD, before=_ANSWER),
            corrected=tuple(turn for turn in own.corrected if self._passes(turn[1])),
        )

    def _passes(self, answer: str) -> bool:
        """Whether an answer may be shown as it is: a half of it wouldn't be what is expected."""
        text = f"{_ANSWER}{answer}"
        return admitted(self.screen, text, kind=MemoryKind.SKILL_CARD) == text

    def _beginnings(self, texts: Sequence[str], most: int, kind: MemoryKind, before: str = "") -> tuple[str, ...]:
        # The screen sees more of a text than is shown, so that no secret is cut to a half that it doesn't know.
        seen = (
            admitted(self.screen, f"{before}{text[: most + _MARGIN]}", kind=kind)
            for text in texts[-_MOST_OWN:]
            if text.strip()
        )
        left = ("" if text == before.strip() else text.removeprefix(before) for text in seen)
        return tuple(text if len(text) <= most else f"{text[:most]} …" for text in left if text.strip())

    def _surely_fits(self, recalled: Sequence[Recalled], own: OwnRun | None, block: str) -> bool:
        """Whether there is room for everything, however a tokenizer counts."""
        texts = [block, *(text for one in recalled for text in (one.card.text, one.card.situation.prompt))]
        if own is not None:
            texts += (*own.lessons, *own.rejected, *(text for turn in own.corrected for text in turn))
        return sum(at_most(text) + _LABELS + _INDENT * text.count("\n") for text in texts) <= self.max_tokens


def _name(model: object) -> str:
    name: str = getattr(model, "model_name", "")
    return name


def _uncounted(_text: str) -> int:
    """For texts of which all fit, however they are counted."""
    return 0


def _advice(draft: _Draft, shown: Sequence[_Piece]) -> Advice:
    pieces = sorted((one for one in shown if one.note is not None), key=_place)
    ideas = {one.injection.idea for one in (*draft.rules, *pieces)}
    rules, notes = (
        [
            replace(one.note, aside=RIVAL) if ideas.intersection(one.rivals) else one.note
            for one in some
            if one.note is not None
        ]
        for some in (draft.rules, pieces)
    )
    return Advice(
        section=section(notes, draft.block, draft.own, rules),
        turns=(*(one.turn for one in reversed(shown) if one.turn is not None), *draft.own.corrected),
        injections=tuple(one.injection for one in (*draft.rules, *draft.taken)),
        blocked=tuple(draft.blocked),
        left_out=tuple(draft.left_out),
    )


def _lines_once(block: str) -> str:
    """The block without lessons that it has had before: those who write at once may write the same."""
    seen, lines = set[str](), list[str]()
    for line in block.split("\n"):
        if line not in seen or not line.startswith(BULLET):
            lines.append(line)
        seen.add(line)
    return "\n".join(lines)


def _size(advice: Advice, count: TokenCounter) -> int:
    """Tokens of what an advice adds to a prompt."""
    return count(advice.section) + sum(count(text) for turn in advice.turns for text in turn)


def _place(piece: _Piece) -> tuple[bool, datetime, str]:
    """Where a note stands among others: what will be shown for many tasks to come first, then the oldest."""
    card, at = piece.card, piece.card.provenance.created_at
    lasting = card.pinned or card.status is MemoryStatus.PROMOTED
    return not lasting, at if at.tzinfo is not None else at.replace(tzinfo=UTC), card.id
