"""Public names go on being importable from where they stood before."""

import subprocess
import sys
from importlib import import_module

import pytest

import wisen
from wisen.moved import MOVED


@pytest.mark.parametrize("old", MOVED)
def test_an_old_path_is_the_module_that_stands_there_now(old: str) -> None:
    assert import_module(old) is import_module(MOVED[old])


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("wisen.architectures.reflexion", "Reflexion"),
        ("wisen.architectures.reflection", "ReflectionPattern"),
        ("wisen.architectures.protocol_guard", "ReflexionProtocol"),
        ("wisen.convergence", "ConvergenceReason"),
        ("wisen.durable.queue", "Queue"),
        ("wisen.durable.worker", "Worker"),
        ("wisen.memory.blocks", "BlockMemory"),
        ("wisen.memory.compiler", "PromptCompiler"),
        ("wisen.reflection.retroformer", "Retroformer"),
        ("wisen.reflection_pattern.records", "ReflectionHistory"),
        ("wisen.stores.markdown", "MarkdownStore"),
        ("wisen.stores.memory", "InMemoryVectorStore"),
        ("wisen.stores.postgres", "PostgresVectorStore"),
        ("wisen.stores.sqlite", "SQLiteVectorStore"),
    ],
)
def test_an_old_path_alone_gives_the_public_name(module: str, name: str) -> None:
    code = f"from {module} import {name}; import wisen; print({name} is wisen.{name})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_a_path_that_never_was_is_no_module() -> None:
    for nowhere in ("wisen.stores.nowhere", "wisen.memory.nowhere"):
        with pytest.raises(ModuleNotFoundError, match=nowhere):
            import_module(nowhere)
    assert wisen.Reflexion.__module__ == "wisen.reflexion.loop"
