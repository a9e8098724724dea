"""Every call is admitted, booked, traced and shown; failures come out as one kind of error."""

import asyncio
from collections.abc import Callable

import pytest
from dirty_equals import IsFloat
from inline_snapshot import snapshot
from pydantic_ai import Agent
from pydantic_ai.exceptions import (
    ContentFilterError,
    FallbackExceptionGroup,
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

from wisen.errors import BudgetExceededError, ModelError
from wisen.events import Event, ModelCalled
from wisen.models.advised import AdvisedModel
from wisen.models.calls import ask
from wisen.models.failures import key_refused, model_error
from wisen.models.metered import MeteredModel, used
from wisen.models.scripted import Reply, ScriptedCall, ScriptedModel
from wisen.records import Advice, Budget, Clockwork, TokenUsage
from wisen.session import Meter, Recorder

pytestmark = pytest.mark.anyio

CLOCK = Clockwork.seeded(1).monotonic


class Run:
    """One run's meter, trace and watcher around a scripted model."""

    def __init__(self, model: ScriptedModel, budget: Budget | None = None) -> None:
        self.seen: list[Event] = []
        self.meter = Meter(budget or Budget(), CLOCK)
        self.recorder = Recorder("t1", "a task", CLOCK)
        watch: Callable[[Event], None] = self.seen.append
        self.model = MeteredModel(model, meter=self.meter, recorder=self.recorder, purpose="attempt", watch=watch)


async def test_a_call_is_booked_traced_and_shown() -> None:
    run = Run(ScriptedModel(["two words"]))
    await ask(run.model, system="a secret plan", prompt="go on")
    usage = TokenUsage(requests=1, input_tokens=5, output_tokens=2)
    assert run.meter.spent == usage
    assert run.seen == [ModelCalled(model="scripted", purpose="attempt", usage=usage, seconds=0.0, advised=False)]
    (event,) = run.recorder.trace().events
    assert (event.kind, dict(event.data)) == snapshot(
        (
            "model_call",
            {"model": "scripted", "purpose": "attempt", "input_tokens": 5, "output_tokens": 2, "seconds": 0.0},
        )
    )
    assert "secret" not in repr(run.recorder.trace().events)


async def test_it_says_whether_the_request_carried_advice() -> None:
    run = Run(ScriptedModel(["ok"]))
    await ask(AdvisedModel(run.model, Advice(section="Beware."), lambda: None), system="", prompt="p")
    assert [event.advised for event in run.seen if isinstance(event, ModelCalled)] == [True]


async def test_no_watcher_is_fine() -> None:
    recorder = Recorder("t1", "a task", CLOCK)
    model = MeteredModel(ScriptedModel(["x"]), meter=Meter(Budget(), CLOCK), recorder=recorder, purpose="judge")
    assert await ask(model, system="", prompt="p") == "x"


async def test_a_used_up_budget_stops_before_the_call() -> None:
    scripted = ScriptedModel(["one", "two"])
    run = Run(scripted, Budget(requests=1))
    await ask(run.model, system="", prompt="p")
    with pytest.raises(BudgetExceededError):
        await ask(run.model, system="", prompt="p")
    with pytest.raises(BudgetExceededError):
        async with Agent(run.model).run_stream("p"):
            pass
    assert len(scripted.calls) == 1
    assert run.meter.spent.requests == 1


async def test_a_stream_is_booked_when_it_is_left() -> None:
    run = Run(ScriptedModel(["good morning"]))
    async with Agent(run.model).run_stream("greet me") as stream:
        assert run.meter.spent.requests == 0
        assert await stream.get_output() == "good morning"
    assert run.meter.spent == TokenUsage(requests=1, input_tokens=2, output_tokens=2)
    assert [event.name for event in run.seen] == ["model.called"]


async def test_a_cancelled_call_is_booked() -> None:
    begun = asyncio.Event()

    async def forever(messages: list[ModelMessage], call: ScriptedCall) -> Reply:
        del messages, call
        begun.set()
        await asyncio.Event().wait()
        return "never"

    run = Run(ScriptedModel(forever), Budget(requests=1))
    calling = asyncio.create_task(ask(run.model, system="", prompt="p"))
    await begun.wait()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert run.meter.spent == TokenUsage(requests=1)
    assert run.seen == []


FAILURES: list[tuple[Exception, str]] = [
    (ModelHTTPError(401, "m", {"error": "SECRET"}), "the provider refused the API key; check the key and its rights"),
    (ModelHTTPError(404, "m", {"error": "SECRET"}), "the provider doesn't know this model; check the name"),
    (ModelHTTPError(429, "m", {"error": "SECRET"}), "the provider's rate limit is reached; wait, or lower"),
    (ModelHTTPError(500, "m", {"error": "SECRET"}), "the provider failed; try again later"),
    (ModelHTTPError(418, "m", {"error": "SECRET"}), "the provider refused the call (HTTP 418)"),
    (ModelConnectionError("m", "SECRET"), "the provider can't be reached; check the network and the address"),
    (ConnectionResetError("SECRET"), "the provider can't be reached; check the network and the address"),
    (TimeoutError("SECRET"), "the provider didn't answer in time; try again, or raise the timeout"),
    (ModelAPIError("m", "SECRET"), "the provider refused the call"),
    (ContentFilterError("SECRET"), "the provider's content filter stopped the answer"),
    (UnexpectedModelBehavior("SECRET"), "the answer can't be used (UnexpectedModelBehavior)"),
    (UserError("Set the `X_KEY`\nvariable"), "Set the `X_KEY` variable"),
    (FallbackExceptionGroup("SECRET", [ModelAPIError("m", "SECRET")]), "every model of the fallback failed"),
]


@pytest.mark.parametrize(("error", "says"), FAILURES, ids=range(len(FAILURES)))
async def test_failures_are_model_errors_without_the_providers_text(error: Exception, says: str) -> None:
    run = Run(ScriptedModel([error], name="actor"))
    with pytest.raises(ModelError) as caught:
        await ask(run.model, system="", prompt="p")
    assert caught.value.model == "actor"
    assert caught.value.__cause__ is error
    assert says in str(caught.value)
    assert "SECRET" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert run.meter.spent == TokenUsage(requests=1)


def test_a_refused_key_is_told_by_whatever_it_led_to_and_in_nobody_elses_words() -> None:
    refused, other = ModelHTTPError(401, "m", {"error": "SECRET"}), ModelHTTPError(500, "m")
    assert key_refused(refused) == key_refused(chained(RuntimeError("SECRET"), refused))
    assert key_refused(refused) == "a provider refused the API key"
    said = model_error("judge", refused)
    assert key_refused(chained(RuntimeError("SECRET"), chained(said, refused))) == str(said)
    assert key_refused(chained(model_error("m", other), other)) == ""
    own = ValueError()
    assert key_refused(chained(own, own)) == key_refused(own) == ""


def chained(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


async def test_a_failing_stream_is_a_model_error_too() -> None:
    run = Run(ScriptedModel([ModelHTTPError(503, "m")]))
    with pytest.raises(ModelError):
        async with Agent(run.model).run_stream("p"):
            pass
    assert run.meter.spent == TokenUsage(requests=1)


async def test_other_errors_pass_through() -> None:
    run = Run(ScriptedModel([ZeroDivisionError()]))
    with pytest.raises(ZeroDivisionError):
        await ask(run.model, system="", prompt="p")
    assert run.meter.spent == TokenUsage(requests=1)


async def test_a_bare_call_reports_failures_alike() -> None:
    with pytest.raises(ModelError):
        await ask(ScriptedModel([ModelHTTPError(500, "m")]), system="", prompt="p")


def test_cost_is_known_for_priced_models_and_0_for_others() -> None:
    usage = RequestUsage(input_tokens=1_000_000, output_tokens=1_000_000)
    priced = ModelResponse(parts=[TextPart("x")], model_name="gpt-4o", provider_name="openai", usage=usage)
    unpriced = ModelResponse(parts=[TextPart("x")], model_name="nobody-9000", usage=usage)
    assert used(priced).cost_usd == IsFloat(gt=1)
    assert used(unpriced).cost_usd == 0
    assert used(ModelResponse(parts=[])).cost_usd == 0
