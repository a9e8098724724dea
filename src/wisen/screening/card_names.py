"""Names on cards: whose a card is, what it is for and where it is from stand in files and listings as they are.

A text can be redacted and is still a text; a name with a placeholder in it is another name. So names that hold what the
screen takes out are refused, and only a source, which nothing is found by, is redacted.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from wisen.cards import MemoryCard
from wisen.errors import ConfigError
from wisen.protocols import Finding
from wisen.screening.attacks import find_attacks
from wisen.screening.cleaning import cleaned
from wisen.screening.redaction import DETECTORS
from wisen.screening.secrets import find_secrets

LONGEST_NAME = 100
"""Characters of a name, or of an id."""
_LONGEST_SOURCE = 1_000
_LIKE_IDS = "random-value"
_COMPUTED = re.compile(r"[0-9a-f-]{1,64}")
"""Ids as wisen computes them, in which nothing but a random value could be found."""
_REMEMBERED = 2_048
"""Names and ids whose findings are remembered: the same few stand on thousands of cards."""


def clean_agent(agent: str) -> str:
    """An agent's name on one line; raises `ConfigError`, which doesn't quote it, for one that may not be kept."""
    agent = " ".join(agent.split())
    if not agent:
        raise ConfigError("an agent needs a name; it has none")
    _refuse("the agent's name", agent, _rules_of(agent))
    return agent


def with_clean_names(card: MemoryCard) -> tuple[MemoryCard, tuple[Finding, ...]]:
    """The card with its agent's name on one line and its source redacted, and what was found in the source.

    Raises `ConfigError`, which quotes nothing, in three cases. The name of an agent, role, tool or task type holds a
    secret, personal data, an internal address or an order. An id holds a secret. A source holds an order.
    """
    for what, name in _names(card):
        _refuse(what, name, _rules_of(name))
    source = card.provenance
    for what, one in (("the card's id", card.id), ("the run's id", source.run_id), ("the trace's id", source.trace_id)):
        _refuse(what, one, _secrets_in(one))
    said, found = clean_source(source.source)
    agent = clean_agent(source.agent) if source.agent else ""
    if (agent, said) == (source.agent, source.source):
        return card, found
    return replace(card, provenance=replace(source, agent=agent, source=said)), found


def may_be_a_name(name: str) -> bool:
    """Whether a name may stand on a card as it is: `with_clean_names` raises for others."""
    return len(name) <= LONGEST_NAME and not _rules_of(name)


def clean_source(source: str) -> tuple[str, tuple[Finding, ...]]:
    """A source as it is kept, and what was found in it; raises as `with_clean_names` does."""
    if not source:
        return "", ()
    _refuse("the source", source, _orders(source), most=_LONGEST_SOURCE)
    (kept,), found = cleaned([source], DETECTORS)
    return kept, tuple(replace(one, field="provenance.source") for one in found)


def _names(card: MemoryCard) -> Iterator[tuple[str, str]]:
    scope = card.scope
    for what, names in (
        ("a role in the scope", scope.agent_roles),
        ("a tool's name in the scope", scope.tool_names),
        ("a task type in the scope", scope.task_types),
    ):
        yield from ((what, name) for name in names if name)


@lru_cache(maxsize=_REMEMBERED)
def _rules_of(name: str) -> tuple[str, ...]:
    return (*_orders(name), *(one.rule for one in cleaned([name[:LONGEST_NAME]], DETECTORS)[1]))


@lru_cache(maxsize=_REMEMBERED)
def _secrets_in(identity: str) -> tuple[str, ...]:
    if _COMPUTED.fullmatch(identity):
        return ()
    return tuple(found.rule for found in find_secrets(identity) if found.rule != _LIKE_IDS)


def _orders(text: str) -> list[str]:
    return [one.rule for one in find_attacks(text[:_LONGEST_SOURCE]) if one.family == "injection"]


def _refuse(what: str, name: str, rules: Sequence[str], *, most: int = LONGEST_NAME) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ConfigError(f"{what} holds half of a surrogate pair, which can't be kept") from None
    if len(name) > most:
        raise ConfigError(f"{what} has {len(name)} characters; at most {most} are kept")
    if rules:
        said = ", ".join(dict.fromkeys(rules))
        raise ConfigError(f"{what} holds what may not be kept ({said}); nothing was written, choose another one")
