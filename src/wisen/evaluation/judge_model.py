"""What all evaluators share that ask a model: which one it is in and outside a run, and how its answer is bounded.

It stands apart because the evaluators that ask a model share it, and none builds on another.
"""

import copy
from typing import TYPE_CHECKING, Any, Self

from wisen import models
from wisen.protocols import ModelBinder

if TYPE_CHECKING:
    from pydantic_ai.models import Model


class AsksModel:
    """Mix-in of evaluators that call a model."""

    model: "Model | str | None" = None
    """A pydantic-ai model or a name; `None` is the run's own model, or outside a run the default one."""
    lent: "Model | None" = None
    """The model that a run lends, metered and traced."""

    def bound(self, bind: ModelBinder) -> Self:
        """The same evaluator, with its model lent by a run."""
        evaluator = copy.copy(self)
        evaluator.lent = bind(self.model, "evaluate")
        return evaluator

    def asked_model(self) -> "Model":
        """The model to ask. Raises what `resolve_model` raises."""
        if self.lent is not None:
            return self.lent
        return models.resolve_model(self.model)


def closed(schema: dict[str, Any]) -> None:
    """Make a JSON schema ask for all its properties and no other, or a constrained small model invents more and more.

    It is for `json_schema_extra` of pydantic's types, which go on reading answers that are less exact.
    """
    schema["required"] = list(schema["properties"])
    schema["additionalProperties"] = False
