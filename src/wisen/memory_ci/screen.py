"""The screen in front of every store: what may not enter memory, and what enters without its secrets.

Screening is partial by nature: instructions worded as ordinary advice pass. It is the first of several guards;
provenance, quarantine, the quoted frame in the prompt and trials are the others.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace

from wisen.cards import MemoryCard, MemoryKind, Situation
from wisen.protocols import ScreenVerdict

_SECRETS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "private-key",
        re.compile(r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[\s\S]{0,8000}?(?:-----END [A-Z ]{0,20}KEY-----|\Z)"),
    ),
    ("api-key", re.compile(r"\b(?:sk|pk|rk)[-_](?:[a-z]{2,10}[-_])?[A-Za-z0-9_-]{16,200}")),
    ("access-token", re.compile(r"\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-)[A-Za-z0-9_-]{16,200}")),
    ("cloud-key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{35}")),
    ("json-web-token", re.compile(r"\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{0,1000}")),
    ("bearer-token", re.compile(r"(?i)(?<=bearer )[A-Za-z0-9._~+/-]{16,2000}=*")),
    ("url-credentials", re.compile(r"(?<=://)[^\s/:@]{1,200}:[^\s/@]{1,200}(?=@)")),
    (
        "password",
        re.compile(
            r"(?i)\b(?:password|passwd|pwd|secret|token|api[_ -]?key)"
            r"(?:\s{0,3}[:=]\s{0,3}|\s+is\s+)[\"']?([^\s\"',;]{6,200})"
        ),
    ),
    ("e-mail", re.compile(r"\b[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}\b")),
)
_MARKS = (
    *("-----begin", "sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "ghp_", "gho_", "ghu_", "ghs_"),
    *("ghr_", "github_pat_", "glpat-", "xox", "akia", "asia", "aiza", "eyj"),
    *("bearer", "://", "passw", "pwd", "secret", "token", "api", "@"),
)
"""What a text has to contain, in lower case, for any of the rules above to find something: most lessons have none."""
_HIJACK: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "overrides-instructions",
        re.compile(
            r"(?i)\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:previous|prior|above|earlier|all|your|system)\b"
            r".{0,30}\b(?:instruction|prompt|rule|guideline|direction)s?\b"
        ),
    ),
    (
        "poses-as-a-role",
        re.compile(
            r"(?im)^[ \t>*#_-]{0,40}(?:<\|?)?(?:system|assistant|developer)(?:\|?>|[*_]{0,3}[ \t]{0,9}:)"
            r"|<\|im_(?:start|end)\|>|\[/?INST\]"
        ),
    ),
    (
        "steers-the-score",
        re.compile(
            r"(?i)\b(?:always|must)\b.{0,30}\b(?:score|grade|rate|mark)\b.{0,40}\b(?:1\.0|100|perfect|full|passed)"
        ),
    ),
)
_HIDDEN = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_UNSEEN = (("hidden-characters", _HIDDEN), ("control-characters", _CONTROL))


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicScreen:
    """Rejects texts that give orders to the model or aren't lessons; takes well-known secrets out of the others."""

    max_characters: int = 8_000
    """Cards that would show a prompt more than that are rejected: they aren't lessons."""
    name: str = "basic"

    def check(self, card: MemoryCard) -> ScreenVerdict:
        """Judge one card; see `Screen.check`."""
        whole = f"{card.text}\n{card.situation.text}"
        shown = f"{card.text}\n{card.situation.prompt}" if card.kind is MemoryKind.SKILL_CARD else card.text
        if len(shown) > self.max_characters:
            return ScreenVerdict(outcome="rejected", card=None, findings=("too-long",))
        if not card.text.strip():
            return ScreenVerdict(outcome="rejected", card=None, findings=("empty",))
        read_as = unicodedata.normalize("NFKC", "\n".join(_visible(shown).splitlines()))
        flat = " ".join(read_as.split())  # an order is one however its lines are broken
        hijacks = tuple(name for name, rule in _HIJACK if rule.search(read_as) or rule.search(flat))
        if hijacks:
            return ScreenVerdict(outcome="rejected", card=None, findings=hijacks)
        findings = _findings(whole)
        if not findings:
            return ScreenVerdict(outcome="pass", card=card)
        return ScreenVerdict(outcome="redacted", card=_without(findings, card), findings=findings)


def _visible(text: str) -> str:
    return _CONTROL.sub(" ", _HIDDEN.sub("", text))


def _findings(text: str) -> tuple[str, ...]:
    """Which rules find something, also under hidden characters."""
    hidden = tuple(name for name, rule in _UNSEEN if rule.search(text))
    seen = _visible(text) if hidden else text
    folded = seen.lower()
    if not any(mark in folded for mark in _MARKS):
        return hidden
    return (*hidden, *(name for name, rule in _SECRETS if rule.search(seen)))


def _without(findings: tuple[str, ...], card: MemoryCard) -> MemoryCard:
    removed = [(rule, _placeholder(name)) for name, rule in _SECRETS if name in findings]

    def clean(text: str) -> str:
        text = _visible(text)
        for rule, placeholder in removed:
            text = rule.sub(placeholder, text)
        return text

    situation = card.situation
    return replace(
        card,
        content=clean(card.content),
        pattern=clean(card.pattern),
        strategy=clean(card.strategy),
        steps=tuple(clean(step) for step in card.steps),
        situation=Situation(
            prompt=clean(situation.prompt),
            task_type=clean(situation.task_type),
            tools=tuple(clean(tool) for tool in situation.tools),
            error=clean(situation.error),
        ),
    )


def _placeholder(name: str) -> Callable[[re.Match[str]], str]:
    def write(match: re.Match[str]) -> str:
        mark = f"<the {name}>"
        if not match.re.groups:
            return mark
        start, end = match.start(1) - match.start(), match.end(1) - match.start()
        whole = match.group()
        return whole[:start] + mark + whole[end:]

    return write
