"""Tells a trace as text that a model can be shown: whole, in order, and in parts where it is long."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from wisen.records import Trace, TraceEvent
from wisen.reflection.report_forms import clipped

LONGEST_EVENT = 4_000
"""Characters that one event is shown with; of a longer one, the beginning and the end."""
_TEXTS = ("text", "result", "content", "output", "message")


def told_events(trace: Trace) -> list[str]:
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


def summary(trace: Trace) -> str:
    """How long the run was."""
    said = f"{trace.step_count} step{'' if trace.step_count == 1 else 's'}"
    lasted = f", {trace.duration_s:.1f} seconds" if trace.duration_s else ""
    return said + lasted + ("" if trace.run_mode == "live" else f", run mode {trace.run_mode}")


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
