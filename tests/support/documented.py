"""What tests of tables in the docs share: whether the code and the test that a row names are there."""

import ast
from importlib import import_module
from pathlib import Path

_TESTS = Path(__file__).parents[1]


def found(path: str) -> object:
    """What a dotted path names."""
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        try:
            thing: object = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for name in parts[end:]:
            thing = getattr(thing, name)
        return thing
    raise ImportError(path)


def is_test(reference: str) -> bool:
    """Whether a `path::name` below `tests` names a test."""
    path, _, name = reference.partition("::")
    source = ast.parse((_TESTS / path).read_text("utf-8"))
    return name in {node.name for node in ast.walk(source) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def node_of(reference: str) -> str:
    """The node by which pytest knows the test that a `path::name` names, its class included."""
    path, _, name = reference.partition("::")
    source = ast.parse((_TESTS / path).read_text("utf-8"))
    for node in source.body:
        inside = [name] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name else []
        if isinstance(node, ast.ClassDef):
            own = (one.name for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
            inside = [node.name, name] if name in own else []
        if inside:
            return "::".join((str(_TESTS / path), *inside))
    raise LookupError(reference)
