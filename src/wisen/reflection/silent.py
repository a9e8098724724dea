"""A reflector that writes nothing: for models too small to use prose, and as a control."""

from wisen.cards import MemoryCard
from wisen.protocols import ModelBinder
from wisen.records import ReflectionEvaluation, Task, Trace


class NoReflection:
    """Makes no lesson of a failed attempt; verified successes are still kept, and rejected answers still ruled out."""

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> list[MemoryCard]:
        """No cards."""
        del task, output, evaluation, trace
        return []

    def bound(self, bind: ModelBinder) -> "NoReflection":
        """Itself: it calls no model."""
        del bind
        return self
