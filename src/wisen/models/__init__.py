"""Kinds of pydantic-ai's Model, and the one door to pydantic-ai. `names` finds a model.

What needs models only while it runs imports this package, and pydantic-ai comes with the first thing that it asks for.
`local` runs in this process; `scripted` and `recorded` are for tests. Wrappers: `advised` adds advice, `metered`
counts, `overheard` listens, `timed` ends what hangs, `journaled` answers from what was kept. `dialogue` is what ReAct
does.
"""

from typing import TYPE_CHECKING

from wisen.moved import lent

if TYPE_CHECKING:
    from pydantic_ai.models import Model as Model
    from pydantic_ai.settings import ModelSettings as ModelSettings

    from wisen.models.advised import AdvisedModel as AdvisedModel
    from wisen.models.advised import with_advice as with_advice
    from wisen.models.advised import with_bound_advice as with_bound_advice
    from wisen.models.calls import ask as ask
    from wisen.models.capped import CappedModel as CappedModel
    from wisen.models.conversation import turns_in as turns_in
    from wisen.models.dialogue import Conversation as Conversation
    from wisen.models.failures import ends_run as ends_run
    from wisen.models.failures import key_refused as key_refused
    from wisen.models.journal_values import read_as as read_as
    from wisen.models.journal_values import written as written
    from wisen.models.journaled import JournaledModel as JournaledModel
    from wisen.models.local import LocalModel as LocalModel
    from wisen.models.metered import MeteredModel as MeteredModel
    from wisen.models.names import resolve_model as resolve_model
    from wisen.models.overheard import Overheard as Overheard
    from wisen.models.overheard import OverheardModel as OverheardModel
    from wisen.models.scripted import ScriptedModel as ScriptedModel
    from wisen.models.seeded import SeededModel as SeededModel
    from wisen.models.steered import SteeredModel as SteeredModel
    from wisen.models.steered import anchor as anchor
    from wisen.models.steered import failures_in as failures_in
    from wisen.models.steered import results_in as results_in
    from wisen.models.steered import steps_in as steps_in
    from wisen.models.steered import with_notes as with_notes
    from wisen.models.structured import ask_for as ask_for
    from wisen.models.structured import constrained_settings as constrained_settings
    from wisen.models.threaded import using_threads as using_threads

__getattr__ = lent(
    __name__,
    Model="pydantic_ai.models",
    ModelSettings="pydantic_ai.settings",
    AdvisedModel="wisen.models.advised",
    with_advice="wisen.models.advised",
    with_bound_advice="wisen.models.advised",
    ask="wisen.models.calls",
    CappedModel="wisen.models.capped",
    turns_in="wisen.models.conversation",
    Conversation="wisen.models.dialogue",
    ends_run="wisen.models.failures",
    key_refused="wisen.models.failures",
    JournaledModel="wisen.models.journaled",
    read_as="wisen.models.journal_values",
    written="wisen.models.journal_values",
    LocalModel="wisen.models.local",
    MeteredModel="wisen.models.metered",
    resolve_model="wisen.models.names",
    Overheard="wisen.models.overheard",
    OverheardModel="wisen.models.overheard",
    ScriptedModel="wisen.models.scripted",
    SeededModel="wisen.models.seeded",
    SteeredModel="wisen.models.steered",
    anchor="wisen.models.steered",
    failures_in="wisen.models.steered",
    results_in="wisen.models.steered",
    steps_in="wisen.models.steered",
    with_notes="wisen.models.steered",
    ask_for="wisen.models.structured",
    constrained_settings="wisen.models.structured",
    using_threads="wisen.models.threaded",
)
