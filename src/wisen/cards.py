"""Defines the memory card, the one record of memory: anything from a reflector's sentence to a verified episode.

Cards stand below the stores, which keep them, and below everything that ranks, compiles or tests them.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Literal

from wisen.identity import content_key, same_form
from wisen.records import NEVER
from wisen.trial_records import OpenDraw, Trial


class MemoryKind(StrEnum):
    """What sort of knowledge a card holds."""

    LESSON = "lesson"
    SKILL_CARD = "skill_card"
    FAILURE_PATTERN = "failure_pattern"
    TOOL_POLICY = "tool_policy"
    USER_PREFERENCE = "user_preference"
    EPISODIC_CASE = "episodic_case"
    PRINCIPLE = "principle"
    PROCEDURE = "procedure"
    REFLECTION = "reflection"
    DECISION = "decision"
    PURPOSE_CONTRACT = "purpose_contract"
    CRITIC_CALIBRATION = "critic_calibration"


_READ = 2_000
"""Characters of a prompt's beginning, and of its end, whose content is compared: to read it takes a while."""

REPORT_KINDS = (MemoryKind.REFLECTION, MemoryKind.PROCEDURE, MemoryKind.DECISION)
"""The kinds of cards that reports are kept as: each agent's own, however alike two agents' are."""


class MemoryStatus(StrEnum):
    """How far a card has come towards other runs' prompts."""

    CANDIDATE = "candidate"
    QUARANTINED = "quarantined"
    PROMOTED = "promoted"
    ARCHIVED = "archived"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryScope:
    """The runs for which a card may be recalled.

    An empty `agent_roles`, `tool_names` or `task_types` means "any". The tenant has no "any": it must be equal.
    """

    tenant: str = ""
    agent_roles: tuple[str, ...] = ()
    tool_names: tuple[str, ...] = ()
    task_types: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Take lists, too."""
        for name in ("agent_roles", "tool_names", "task_types"):
            given = getattr(self, name)
            if not isinstance(given, tuple):
                object.__setattr__(self, name, tuple(given))

    @property
    def text(self) -> str:
        """The scope as one text, for hashes."""
        lists = (self.agent_roles, self.tool_names, self.task_types)
        return "\x1e".join((self.tenant, *("\x1d".join(names) for names in lists)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The situation in which a lesson was learned. Recall finds it by this and by its own text."""

    prompt: str = ""
    task_type: str = ""
    tools: tuple[str, ...] = ()
    error: str = ""

    @property
    def text(self) -> str:
        """The situation as one text, for embedding and for word search."""
        return "\n".join(part for part in (self.prompt, self.task_type, " ".join(self.tools), self.error) if part)

    @property
    def key(self) -> str:
        """Equal for prompts that are the same, as `identity.same_form` has it; "" without a prompt."""
        return _digest(same_form(self.prompt)) if self.prompt else ""

    @property
    def asked(self) -> str:
        """What of the prompt is compared: of a long one its beginning and its end, where tasks say what is asked."""
        long = len(self.prompt) > 2 * _READ
        return f"{self.prompt[:_READ]}\n{self.prompt[-_READ:]}" if long else self.prompt

    @property
    def content(self) -> str:
        """Equal for prompts with the same numbers, names and other hard content; "" for one without any."""
        key = content_key(self.asked) if self.prompt else ""
        return _digest(key) if key else ""

    @property
    def form(self) -> str:
        """Equal for situations that are the same, part by part."""
        return _form((self.prompt, self.task_type, " ".join(self.tools), self.error))


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a card comes from."""

    run_id: str = ""
    attempt: int = 0
    trace_id: str = ""
    created_by: str = ""
    """"reflexion", "retroformer", "human", "import" …"""
    model: str = ""
    evaluator: str = ""
    verified: bool = False
    """Whether execution or an exact check, rather than a model's opinion, decided on its run."""
    created_at: datetime = NEVER
    agent: str = ""
    """Whose run it was."""
    owner: str = ""
    """The person or project whose task the run worked on, as `Task.owner` has it."""
    tainted: bool = False
    """Whether the run had read more than its task and the checks' verdicts: tools' results, pages, others' text."""
    source: str = ""
    """Its source, if that isn't a run: a file's name, an address, a person."""

    @property
    def origin(self) -> Literal["verified", "judged", "imported", "human"]:
        """How far it can be trusted: an own run judged by a check or by a model, others' text, or a person's word."""
        match self.created_by:
            case "human":
                return "human"
            case "import":
                return "imported"
            case _:
                return "verified" if self.verified else "judged"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardEvidence:
    """The counted uses of a card, for one model and prompt layout, under one trial's conditions."""

    model: str = ""
    layout: str = ""
    propensity: float = 0.0
    """The probability with which these runs showed the card; 0 if nothing was drawn, as in replays."""
    judged: bool = False
    """Whether a model's opinion, rather than a check, decided on these runs."""
    terms: str = ""
    """Of replays: from which score they were good, and against what; counts of other terms stand apart."""
    shown: int = 0
    shown_successes: int = 0
    shown_unknown: int = 0
    """Of `shown`, those without a score; none of them is a success."""
    held_out: int = 0
    held_out_successes: int = 0
    held_out_unknown: int = 0
    """Of `held_out`, those without a score."""
    gained: int = 0
    """Pairs of replays that were solved with the card only."""
    lost: int = 0
    """Pairs of replays that were solved without the card only."""
    ties: int = 0
    """Pairs of replays in which the card made no difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Records a change of a card's status: by whom, why, and on which evidence.

    If a person pinned or unpinned the card, `before` and `after` are the same.
    """

    at: datetime
    before: MemoryStatus
    after: MemoryStatus
    why: str
    by: str = ""
    """"human", "screen", "trial", "replay", "rollback" …"""
    evidence: CardEvidence | None = None
    """The counts at that time, if counts decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCard:
    """One piece of memory.

    `id` follows from tenant, run, attempt and content, so that writing the same card twice is one card. Leave it empty
    to have it computed.
    """

    kind: MemoryKind
    content: str = ""
    """What it says: the lesson's sentence, an observation's meaning, or the accepted answer of a verified episode."""
    pattern: str = ""
    """When it applies, in words."""
    strategy: str = ""
    steps: tuple[str, ...] = ()
    situation: Situation = Situation()
    scope: MemoryScope = MemoryScope()
    status: MemoryStatus = MemoryStatus.CANDIDATE
    provenance: Provenance = Provenance()
    evidence: tuple[CardEvidence, ...] = ()
    version: int = 1
    """Grows by one with each stored change."""
    duplicates: int = 0
    """How many cards with the same meaning were counted instead of stored."""
    alike: int = 0
    """Of `duplicates`, those that an earlier version may have counted by spelling; what they said isn't kept."""
    idea: str = ""
    """The id of the card that stands for the idea; "" if this card does."""
    retold: int = 0
    """On a card that stands for an idea: how often the idea was taught in other words."""
    rivals: tuple[str, ...] = ()
    """On a card that stands for an idea: the ids of cards whose ideas contradict it."""
    taught_at: datetime | None = None
    """On a card that stands for an idea with rivals: when a check taught it again last; `None` if none has since."""
    trials: tuple[Trial, ...] = ()
    """On a card that stands for an idea: its live trials, one per model and prompt layout."""
    open_draws: tuple[OpenDraw, ...] = ()
    """On a card that stands for an idea: runs that drew whether to show it, and whose outcome isn't known yet."""
    note: str = ""
    """Why a rule or a person gave it this status; never a rejected text."""
    history: tuple[Move, ...] = ()
    """Its moves between statuses since it was stored, oldest first; written by `memory_ci.status.move`."""
    pinned: bool = False
    """Whether only people may change its status."""
    observed: tuple[str, ...] = ()
    """Short ids of the last draws whose outcome came: a second process at the same run may write them again."""
    held: tuple[str, ...] = ()
    """Phrases of its text that keep it from every run until a person decides: see `screening.sinks`."""
    released: bool = False
    """Whether a person let all of its tenant's runs try it, whatever its origin."""
    refused: str = ""
    """On a card that a person or a test rejected: its `refusal_key`, by which the same lesson is recognised."""
    supersedes: str = ""
    superseded_by: str = ""
    id: str = ""

    def __post_init__(self) -> None:
        """Compute the id if none is given."""
        if not self.id:
            identity = "\x1f".join(
                (self.scope.tenant, self.provenance.run_id, str(self.provenance.attempt), self.content_hash)
            )
            object.__setattr__(self, "id", hashlib.sha256(identity.encode()).hexdigest()[:20])

    @property
    def text(self) -> str:
        """The card's own words as one text: pattern, content, strategy and steps."""
        return "\n".join(part for part in (self.pattern, self.content, self.strategy, *self.steps) if part)

    @property
    def content_hash(self) -> str:
        """A hash of kind, scope, own text and situation as they are, hexadecimal."""
        return _digest(self.kind.value, self.scope.text, self.text, self.situation.text)

    @property
    def circle(self) -> str:
        """The `circle_key` of the runs that may try it while it is in quarantine.

        `ANYONE` for what a person wrote or released; "" if no run may: it is held, imported, or comes from no run.
        """
        source = self.provenance
        if self.released or (source.origin == "human" and not self.held):
            return ANYONE
        if self.held or source.origin == "imported" or not source.run_id:
            return ""
        return circle_key(self.scope.tenant, source.agent, source.owner)

    @property
    def duplicate_key(self) -> str:
        """Equal for cards of one kind, scope and circle that say the same about the same situation, whatever the judge.

        Reports are the same only if they are the same agent's. A rejected card keeps no text to compare, so it equals
        no other.
        """
        if self.status is MemoryStatus.REJECTED:
            return _digest(self.scope.tenant, self.status.value, self.id)
        return _digest(self.kind.value, self.reporter, self.circle, self.scope.text, self.form, self.situation.form)

    @property
    def form(self) -> str:
        """Equal for cards whose own texts are the same, part by part; "" for one without a text."""
        return _form((self.pattern, self.content, self.strategy, *self.steps))

    @property
    def refusal_key(self) -> str:
        """Equal for cards of one tenant and kind that say the same.

        Which run taught them doesn't matter, nor in which situation, except where the text is an answer to it.
        """
        if not self.form:
            return ""
        asked = self.situation.key if self.kind is MemoryKind.SKILL_CARD and not self.strategy else ""
        tools = "\x1d".join(self.scope.tool_names)
        return _digest("refused", self.scope.tenant, self.kind.value, self.reporter, tools, self.form, asked)

    @property
    def reporter(self) -> str:
        """The agent whose report it is; "" for other kinds of cards, which are compared across agents."""
        return self.provenance.agent if self.kind in REPORT_KINDS else ""

    @property
    def is_episode(self) -> bool:
        """Whether it is a task with its accepted answer from an own verified run: only these become chat turns."""
        own = self.provenance.origin == "verified"
        return self.kind is MemoryKind.SKILL_CARD and own and bool(self.situation.prompt)

    def with_status(self, status: MemoryStatus) -> "MemoryCard":
        """The same card one version later, in another status, as a store may be told to keep it.

        No more than that: what moves cards for a reason uses `memory_ci.status.move`, which records it.
        """
        return replace(self, status=status, version=self.version + 1)

    def without_text(self, *, refused: str = "") -> "MemoryCard":
        """What is kept of a rejected card: id, scope, provenance, note, links and history, and none of its text."""
        return MemoryCard(
            kind=self.kind,
            scope=self.scope,
            status=self.status,
            provenance=self.provenance,
            note=self.note,
            history=self.history,
            pinned=self.pinned,
            refused=refused,
            supersedes=self.supersedes,
            superseded_by=self.superseded_by,
            id=self.id,
            version=self.version,
        )


def circle_key(tenant: str, agent: str, owner: str) -> str:
    """Names the circle of one agent's runs for one owner. A lesson is tried there before others see it."""
    return _digest("circle", tenant, agent, owner)


def _form(parts: Iterable[str]) -> str:
    return "\x1e".join(form for form in map(same_form, parts) if form)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


ANYONE = _digest("circle of all")
"""The circle of what every run of the tenant may try."""
