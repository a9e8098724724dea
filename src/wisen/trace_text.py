"""Tells a trace as text that a model can be shown: whole and in parts, or what the agent did in bounded words."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from wisen.json_values import encodable
from wisen.records import Trace, TraceEvent

LONGEST_EVENT = 4_000
"""Characters that one event is shown with; of a longer one, the beginning and the end."""
ACCOUNT = 6_000
"""Characters of an account."""
Clean = Callable[[list[str]], list[str]]
"""Takes out of texts what may not be kept, and gives as many back."""
_LONGEST_IN_ACCOUNT = 1_500
_AROUND = 2_000
"""Characters on both sides of what is cut out of a long text that are read too."""
_GAP_SIZE = 20
"""Characters that are left for saying how much is missing."""
_GAP = "[… {count} more …]"
_BETWEEN = r"""[\s"',;<>(){}\[\]]"""
"""What stands between two words, in prose, JSON and markup."""
_LAST_WORD = re.compile(rf"(?<={_BETWEEN})(?:(?!{_BETWEEN}).){{1,200}}$")
_FIRST_WORD = re.compile(rf"^(?:(?!{_BETWEEN}).){{1,200}}(?={_BETWEEN})")
_TEXTS = ("text", "result", "content", "output", "message")


def events_text(trace: Trace) -> list[str]:
    """The events as one text each, in order; model calls, of which nothing but their cost is known, aren't told."""
    texts: list[str] = []
    step = 0
    for event in trace.events:
        said = clipped("\n".join(_lines(event)), LONGEST_EVENT)
        if said:
            head = f"Step {event.step}\n" if event.step != step else ""
            step = event.step
            texts.append(head + said)
    return texts


def account_of(trace: Trace, longest: int = ACCOUNT, *, clean: Clean = list) -> str:
    """What the agent did in its last attempt: tools called with arguments, what they returned, and errors, in order.

    "" where it called none. Where it is too long, errors are kept first, then the beginning and the end. The agent's
    answer isn't part of it, also where it was given by calling a tool; nor is what workers did, but for their answers.
    `clean` takes out of its texts what may not be kept; it sees more of each than is kept.
    """
    events = _of_last_attempt([event for event in trace.events if "worker" not in event.data])
    if not any(event.kind == "action" for event in events):
        return ""
    most = min(_LONGEST_IN_ACCOUNT, longest // 4)
    whole = [encodable("\n".join(_lines(event))).strip() for event in events]
    kept = _fitting([clipped(text, most) for text in whole], [event.kind == "error" for event in events], longest)
    texts = dict(zip(sorted(kept), _cleaned([whole[at] for at in sorted(kept)], most, clean), strict=True))
    told: list[str] = []
    for at in range(len(whole)):
        if at in kept:
            told.append(texts[at])
        elif at - 1 in kept or at == 0:
            until = next((one for one in range(at, len(whole)) if one in kept), len(whole))
            told.append(_GAP.format(count=until - at))
    return "\n".join(told)


def clipped(text: str, longest: int) -> str:
    """The text, without its middle where it is too long.

    No word is cut in two: a part of a key or an address would be no longer known as one.
    """
    text = text.strip()
    if len(text) <= longest:
        return text
    half = longest // 2
    return _without_middle(text[: half + 1], text[-half - 1 :])


def _without_middle(head: str, tail: str) -> str:
    """The head but for its last character, and the tail but for its first, without words that this cuts in two."""
    if not re.match(_BETWEEN, head[-1:]):
        head = f"{_LAST_WORD.sub('', head[:-1])} "
    if not re.match(_BETWEEN, tail[:1]):
        tail = f" {_FIRST_WORD.sub('', tail[1:])}"
    return f"{head[:-1].rstrip()}\n[…]\n{tail[1:].lstrip()}"


def _cleaned(texts: Sequence[str], longest: int, clean: Clean) -> list[str]:
    """The texts as `clipped` gives them, cleaned before: what names a secret may stand where the middle is cut out."""
    half, window = longest // 2, longest // 2 + _AROUND
    parts = [(text,) if len(text) <= 2 * window else (text[:window], text[-window:]) for text in texts]
    seen = iter(clean([part for some in parts for part in some]))
    cleaned: list[str] = []
    for some in parts:
        if len(some) == 1:
            cleaned.append(clipped(next(seen), longest))
            continue
        head, tail = next(seen)[:-_AROUND], next(seen)[_AROUND:]
        cleaned.append(_without_middle(head[: half + 1], tail[-half - 1 :]))
    return cleaned


def summary(trace: Trace) -> str:
    """How long the run was, and in which mode."""
    said = f"{trace.step_count} step{'' if trace.step_count == 1 else 's'}"
    lasted = f", {trace.duration_s:.1f} seconds" if trace.duration_s else ""
    return f"{said}{lasted}, run mode {trace.run_mode}"


def parts_of(texts: Sequence[str], longest: int) -> list[str]:
    """The texts joined to as few parts as may be, none longer than `longest`; nothing is left out."""
    parts: list[str] = []
    for text in texts:
        for piece in _pieces(text, longest):
            if parts and len(parts[-1]) + 1 + len(piece) <= longest:
                parts[-1] += f"\n{piece}"
            else:
                parts.append(piece)
    return parts


def shared_beginning(one: Sequence[str], other: Sequence[str]) -> int:
    """How many texts two runs begin with alike."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _of_last_attempt(events: Sequence[TraceEvent]) -> list[TraceEvent]:
    """What tools were asked and answered since the attempt before was judged; versions of one attempt aren't parted."""
    ends = [at for at, event in enumerate(events) if event.kind == "score" and "version" not in event.data]
    last_output = max((at for at, event in enumerate(events) if event.kind == "output" or _failed(event)), default=-1)
    began = max((end + 1 for end in ends if end < last_output), default=0)
    answering = _answering(events[began:])
    return [
        event
        for event in events[began:]
        if event.kind in ("action", "observation") or (event.kind == "error" and "name" in event.data)
        if event.data.get("name") not in answering
    ]


def _answering(events: Sequence[TraceEvent]) -> set[object]:
    """The tools that are called to give an answer, as models do that answer in a structure: none is asked after that.

    The call of a tool that does something stays, with its result; the answer may be what it was called with.
    """
    tools, answer = set[object](), None
    for event in reversed(events):
        if event.kind == "output":
            answer = event.data.get("text")
        elif event.kind == "model_call":
            answer = None
        elif event.kind == "action" and answer is not None and _gives(event, answer):
            tools.add(event.data.get("name"))
    return tools


def _failed(event: TraceEvent) -> bool:
    """Whether an attempt ended here without a final answer."""
    return event.kind == "error" and event.data.get("stage") == "attempt"


def _gives(event: TraceEvent, answer: object) -> bool:
    """Whether a tool was called with the answer."""
    params = event.data.get("params")
    try:
        given: object = json.loads(str(answer))
    except ValueError:
        return False
    return given == params or (isinstance(params, Mapping) and params == {"response": given})


def _fitting(texts: Sequence[str], errors: Sequence[bool], longest: int) -> set[int]:
    """The places of what is kept: all if it fits; else errors, the latest first, each with what was asked before it."""
    sizes = [len(text) + 1 for text in texts]
    if sum(sizes) <= longest + 1:
        return set(range(len(texts)))
    left, kept = longest - 2 * _GAP_SIZE, set[int]()
    for at in reversed([at for at, error in enumerate(errors) if error]):
        pair = {at, max(0, at - 1)} - kept
        size = sum(sizes[one] for one in pair) + _GAP_SIZE
        if size <= left:
            kept |= pair
            left -= size
    for pair in zip(range(len(texts)), reversed(range(len(texts))), strict=True):  # from both ends to the middle
        for at in pair:
            if at in kept:
                continue
            if sizes[at] > left:
                return kept
            kept.add(at)
            left -= sizes[at]
    return kept


def _pieces(text: str, longest: int) -> Iterator[str]:
    while len(text) > longest:
        end = text.rfind("\n", longest // 2, longest) + 1 or longest
        yield text[:end].rstrip("\n")
        text = text[end:]
    yield text


def _lines(event: TraceEvent) -> Iterator[str]:
    data = event.data
    match event.kind:
        case "action":
            if thought := _text(data.get("thought")):
                yield f"thought: {thought}"
            yield f"action: {_text(data.get('name')) or '?'}({_plain(data.get('params', {}))})"
        case "observation" | "error":
            who = _text(data.get("name")) or _text(data.get("stage"))
            said = _said(data, "name", "stage")
            if said or event.kind == "error":
                yield f"{event.kind}{f' of {who}' if who else ''}: {said}"
        case "score":
            yield from _score(data)
        case "output" | "note":
            if said := _said(data, "name"):
                yield f"{'answer' if event.kind == 'output' else _text(data.get('name')) or 'note'}: {said}"
        case "model_call":
            return


def _score(data: Mapping[str, object]) -> Iterator[str]:
    before, after, score = data.get("phi_before"), data.get("phi_after"), data.get("score")
    if isinstance(before, int | float) and isinstance(after, int | float):
        yield f"score: {before:.2f} -> {after:.2f} ({after - before:+.2f})"
    elif isinstance(score, int | float):
        yield f"score: {score:.2f}"
    else:
        yield "score: unknown"
    for name in ("evidence", "issues", "suggestions"):
        if said := _text(data.get(name)):
            yield f"{name}: {said}"


def _said(data: Mapping[str, object], *without: str) -> str:
    """The event's text, or all that it holds."""
    said = next((_text(data[name]) for name in _TEXTS if data.get(name) not in (None, "")), "")
    rest = {key: value for key, value in data.items() if key not in (*without, *_TEXTS) and value not in (None, "")}
    return said or (_plain(rest) if rest else "")


def _text(value: object) -> str:
    if value in (None, "", [], (), {}):
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list | tuple):
        return "; ".join(map(_plain, cast("Sequence[object]", value)))
    return _plain(value)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
