"""Reports without a model: the facts alone, and the barest one that says nothing but that a task went wrong."""

from collections.abc import Mapping

from wisen.records import ReflectionEvaluation, Task, Trace
from wisen.reports import FailedReport, PartialReport, Report

_LONGEST_SUMMARY = 80
_LONGEST_TASK = 400
_LONGEST_REMARK = 300
_MOST_REMARKS = 5
_UNKNOWN = "Nothing is known of it beyond that."
_FIND_OUT = "Find out why the last attempt failed before trying the same way again."


def brief(prompt: str) -> str:
    """The beginning of a task's prompt, as the summary of its report: one line, cut at a word."""
    line = " ".join(prompt.split())
    if len(line) <= _LONGEST_SUMMARY:
        return line or "a task without words"
    return f"{line[:_LONGEST_SUMMARY].rpartition(' ')[0] or line[:_LONGEST_SUMMARY]} …"


def factual_report(
    kind: type[Report],
    signature: Mapping[str, object],
    task: Task,
    evaluation: ReflectionEvaluation,
    trace: Trace,
    why: str,
) -> Report:
    """What task, evaluation and trace show, in the form of a failed or partial report.

    Args:
        kind: `FailedReport` or `PartialReport`.
        signature: Agent, date and summary.
        task: The task.
        evaluation: Its issues and suggestions are what went wrong, and what to do.
        trace: Its errors are what went wrong, too.
        why: Why nothing was analysed, in a few words.
    """
    issues = _remarks(evaluation.issues)
    errors = _remarks(_errors(trace))
    wrong = "\n".join(f"- {said}" for said in (*issues, *errors)) or _UNKNOWN
    suggestions = _remarks(evaluation.suggestions)
    instead = "\n".join(f"- {said}" for said in suggestions) or (
        f"Before the next try, see to this: {issues[0]}" if issues else _FIND_OUT
    )
    score = evaluation.overall_score
    by = f" ({evaluation.evaluator})" if evaluation.evaluator else ""
    judged = "" if score is None else f" It scored {score:.2f}{by}."
    ended = "failed" if kind is FailedReport else "was done only in part"
    asked = _line(task.prompt, _LONGEST_TASK)
    texts = {
        "what_happened": f"The task {ended}{f': {asked}' if asked else '.'}{judged}",
        "what_went_wrong": wrong,
        "what_to_do_differently": instead,
    }
    return _made(kind, signature, texts, f"The cause was not analysed ({why}).", suggestions[0] if suggestions else "")


def bare_report(kind: type[Report], signature: Mapping[str, object]) -> Report:
    """A report without a word of the task, for one whose every word the screen refuses."""
    texts = {
        "what_happened": "A task failed." if kind is FailedReport else "A task was done only in part.",
        "what_went_wrong": "What is known of it did not pass the screen, and is not kept.",
        "what_to_do_differently": "Look at the run's record before trying the same task again.",
    }
    signed = {**signature, "summary": "a task that cannot be described"}
    return _made(kind, signed, texts, "The cause was not analysed.", "")


def _made(
    kind: type[Report], signature: Mapping[str, object], texts: Mapping[str, str], cause: str, rule: str
) -> Report:
    who = dict(signature)
    if kind is PartialReport:
        return PartialReport(**who, **texts)  # pyright: ignore[reportArgumentType] - agent, date and summary
    return FailedReport(
        **who,  # pyright: ignore[reportArgumentType] - as above
        **texts,
        why_it_went_wrong=cause,
        tactical_rule=rule or _FIND_OUT,
    )


def _errors(trace: Trace) -> tuple[str, ...]:
    """What tools and stages failed at, the last ones."""
    said: list[str] = []
    for event in trace.events:
        if event.kind == "error":
            where, what = (
                event.data.get("name") or event.data.get("stage"),
                event.data.get("text") or event.data.get("error"),
            )
            said.append(f"{where or 'a step'} failed: {what}" if what else f"{where or 'a step'} failed")
    return tuple(said[-_MOST_REMARKS:])


def _remarks(texts: tuple[str, ...]) -> tuple[str, ...]:
    lines = (_line(text, _LONGEST_REMARK) for text in texts[:_MOST_REMARKS])
    return tuple(dict.fromkeys(line for line in lines if line))


def _line(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[:longest]} …"
