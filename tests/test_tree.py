"""The tree is one house: no import cycle, and no name of a module or class twice."""

import ast
import gc
import re
import tomllib
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import wisen

ROOT = Path(wisen.__file__).parent


ROLES = {
    "connection": "stores.postgres stores.sqlite",
    "ledger": "stores.in_process stores.markdown stores.postgres stores.sqlite",
    "lexical": "stores.index stores.postgres",
    "local": "embedders models",
    "loop": "reflection_pattern reflexion",
    "names": "embedders models",
    "options": "reflection_pattern reflexion",
    "reindex": "stores.postgres stores.sqlite",
    "schema": "stores.postgres stores.sqlite",
    "search": "stores.index stores.postgres",
    "store": "stores.in_process stores.markdown stores.postgres stores.sqlite",
    "transfer": "stores.postgres stores.sqlite",
    "upgrade": "stores.postgres stores.sqlite",
}
"""Roles that sibling rooms share, and where they are: who knows one of the files knows what the others do."""
KEPT = {"cards": "stores.markdown stores.postgres stores.sqlite"}
"""Nouns of the root, and the rooms that have a file of the same name for how they keep them."""
COMMANDS = {
    "batches": "queue",
    "rollback": "memory_ci",
    "rules": "memory_ci",
    "run": "",
    "store": "stores",
    "worker": "queue",
}
"""Commands in `cli`, and the room of what each commands."""
FRAMEWORKS = {
    "Lessons": {f"wisen.integrations.{name}_lessons" for name in ("langchain", "openai_agents", "pydantic_ai")}
}
"""What has one name in each framework's idiom: nobody imports it from two."""
ALONE = {
    "evaluation.regex_search": "another process imports it",
    "memory_ci.corrections": "a person's corrections, not what runs teach",
    "memory_ci.refusals": "it searches the store, and intake only asks",
    "memory_ci.trust": "the table of policies, which docs and types name",
    "screening.infrastructure": "a detector among detectors",
    "stores.markdown.file_index": "derived, where the store is the truth",
    "stores.postgres.facts": "asked by those who run a store, not by runs",
    "stores.sqlite.upgrade": "the same role as in the other room",
}
"""Modules under 60 lines that one module of their room imports and has room for; and why they stand alone."""


@cache
def modules() -> dict[str, ast.Module]:
    names = {path: ".".join(("wisen", *path.relative_to(ROOT).with_suffix("").parts)) for path in ROOT.rglob("*.py")}
    gc.disable()  # a finalizer that prints a traceback parses too; up to Python 3.11.7 that breaks this parse
    try:
        return {name.removesuffix(".__init__"): ast.parse(path.read_text("utf-8")) for path, name in names.items()}
    finally:
        gc.enable()


def imported(tree: ast.Module, known: set[str]) -> set[str]:
    """What a module imports of the package, in functions and for types too."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {one if (one := f"{node.module}.{alias.name}") in known else node.module for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & known


def test_there_is_no_import_cycle() -> None:
    trees = modules()
    graph = {name: imported(tree, set(trees)) - {name} for name, tree in trees.items() if name != "wisen"}
    assert len(graph) > 300
    TopologicalSorter(graph).prepare()


def test_a_thin_module_that_one_neighbour_uses_is_in_it_or_says_why_not() -> None:
    trees = modules()
    users: dict[str, list[str]] = defaultdict(list)
    for name, tree in trees.items():
        for used in imported(tree, set(trees)):
            users[used].append(name)
    files = {name: ROOT.joinpath(*name.split(".")[1:]).with_suffix(".py") for name in trees}
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in files.items() if path.is_file()}
    found = {
        name.removeprefix("wisen.")
        for name, length in lines.items()
        if length < 60
        and len(users[name]) == 1
        and users[name][0].rpartition(".")[0] == name.rpartition(".")[0]
        and length + lines.get(users[name][0], 400) <= 400
    }
    assert len(lines) > 300
    assert found <= ALONE.keys()
    assert {f"wisen.{name}" for name in ALONE} <= lines.keys()


def test_no_class_name_stands_twice() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for name, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(name)
    assert {name: set(where) for name, where in homes.items() if len(where) > 1} == FRAMEWORKS


def test_no_module_name_stands_twice() -> None:
    homes: dict[str, set[str]] = defaultdict(set)
    for path in ROOT.rglob("*.py"):
        if path.stem != "__init__":
            homes[path.stem].add(".".join(path.relative_to(ROOT).parent.parts))
    allowed = {base: set(rooms.split()) for base, rooms in ROLES.items()}
    assert all(len({room.rpartition(".")[0] for room in rooms}) == 1 for rooms in allowed.values())
    allowed |= {base: {"", *rooms.split()} for base, rooms in KEPT.items()}
    for base, commanded in COMMANDS.items():
        allowed[base] = {"cli", *allowed.get(base, {commanded})}
    assert {base: rooms for base, rooms in homes.items() if len(rooms) > 1} == allowed


def test_the_design_page_lists_the_layers_that_are_checked() -> None:
    root = Path(__file__).parents[1]
    contracts = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    said = (root / "docs" / "understand" / "design.md").read_text("utf-8").split("```text\n")[1].split("```")[0]
    assert [re.split(r"\s{2,}", line)[0] for line in said.splitlines()] == contracts[0]["layers"]


def test_each_package_says_the_way_through_it() -> None:
    silent = [name for name, tree in modules().items() if ast.get_docstring(tree) is None]
    assert silent == []


def test_each_package_has_a_short_readme_that_names_what_is_there() -> None:
    for package in {path.parent for path in ROOT.rglob("__init__.py")} - {ROOT}:
        said = (package / "README.md").read_text("utf-8")
        assert len(said.splitlines()) <= 5, package
        named = re.findall(r"`([^`]+)`", said)
        assert named, package
        missing = [name for name in named if not [*package.glob(name), *package.glob(f"{name}.py")]]
        assert missing == ["retroformer"] * (package.name == "reflection"), package


def test_a_source_s_door_says_what_its_readme_says() -> None:
    for name, tree in modules().items():
        said, readme = ast.get_docstring(tree) or "", ROOT.joinpath(*name.split(".")[1:], "README.md")
        if "\n" in said and name != "wisen" and readme.is_file():
            assert said.split() == readme.read_text("utf-8").split(), name


def test_no_module_takes_the_place_of_a_public_name() -> None:
    beside = {path.stem for path in ROOT.glob("*.py")} | {path.name for path in ROOT.iterdir() if path.is_dir()}
    assert {name for name in dir(wisen) if name in beside} == set()


def test_pydantic_ai_is_imported_in_one_room() -> None:
    def heads(tree: ast.Module) -> set[str]:
        found = {node.module for node in tree.body if isinstance(node, ast.ImportFrom) and node.module}
        return found | {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}

    trees = modules()
    room = {name for name in trees if name.startswith("wisen.models.")}
    needing = {name for name in room if any(one.split(".")[0] == "pydantic_ai" for one in heads(trees[name]))}
    while more := {name for name in room - needing if heads(trees[name]) & needing}:
        needing |= more
    outside = {
        name: sorted(found)
        for name, tree in trees.items()
        if name not in room
        if (found := {one for one in heads(tree) if one in needing or one.split(".")[0] == "pydantic_ai"})
    }
    assert len(needing) > 15
    adapter = "wisen.integrations.pydantic_ai_lessons"
    assert outside.keys() == {"wisen.queue.call_gate", "wisen.queue.worker", adapter}, outside
