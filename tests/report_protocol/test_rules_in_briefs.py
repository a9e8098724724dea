"""Standing rules in the brief of a task."""

from dataclasses import replace

import pytest
from reporting import FAILED, SCRAPING, filed
from ruling import NOON, made, promoted

from wisen import InMemoryVectorStore, MemoryStatus, Situation
from wisen.memory_ci.status import move
from wisen.report_protocol.guard import ReflexionProtocol

pytestmark = pytest.mark.anyio


async def test_a_standing_rule_is_told_once_and_takes_no_report_s_place() -> None:
    """Though no report fits the task as well as the rule does."""
    where = Situation(prompt=SCRAPING.prompt, task_type=SCRAPING.type)
    rule = promoted("Name the unit.", agent="scraper", situation=where)
    report = replace(filed("old", days_old=20), scope=rule.scope)
    report = move(report, MemoryStatus.PROMOTED, note="helps", at=NOON, by="human")
    protocol = ReflexionProtocol(await made(InMemoryVectorStore(), rule, report), last=1)

    begun = await protocol.begin(SCRAPING, "scraper")

    assert begun.brief.count("Name the unit.") == 1
    assert FAILED["what_to_do_differently"] in begun.brief
