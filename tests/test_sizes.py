"""Modules and functions stay small enough to be read in one go."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "src").rglob("*.py"))
MAX_LINES = 400
MAX_FUNCTION_LINES = 60
"""Forty of code, with docstring and signature on top."""


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_and_its_functions_are_small(module: Path) -> None:
    source = module.read_text()
    assert len(source.splitlines()) <= MAX_LINES
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert code_lines(node) <= 40, f"{node.name} at line {node.lineno}"


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the body, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body and body[-1].end_lineno else 0


def test_modules_begin_with_why_they_exist() -> None:
    missing = [str(path) for path in MODULES if not ast.get_docstring(ast.parse(path.read_text()))]
    assert not missing
