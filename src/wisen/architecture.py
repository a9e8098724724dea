"""The architectures under one roof: `from wisen.architecture import Reflexion, Supervisor`."""

from wisen.architectures.react import ReAct
from wisen.architectures.reflection import ReflectionPattern
from wisen.architectures.reflexion import Reflexion
from wisen.architectures.supervisor import Supervisor
from wisen.architectures.wrapped import Wrapped

__all__ = ["ReAct", "ReflectionPattern", "Reflexion", "Supervisor", "Wrapped"]
