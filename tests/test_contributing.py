"""What contributors are offered agrees with the project: hosted CI, hooks, and what `make` tells its tools."""

import os
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_lines import parse

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
WORKFLOW: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text("utf-8"))
(JOB,) = WORKFLOW["jobs"].values()
HOOKS: dict[str, Any] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
FORMS = ROOT / ".github/ISSUE_TEMPLATE"
VERSION = re.compile(r"Programming Language :: Python :: (3\.\d+)")


def supported() -> list[str]:
    return [found[1] for one in PROJECT["project"]["classifiers"] if (found := VERSION.fullmatch(one))]


def test_hosted_ci_tests_the_versions_that_the_package_names() -> None:
    versions = JOB["strategy"]["matrix"]["python"]
    assert versions == supported()
    assert f">={versions[0]}" == PROJECT["project"]["requires-python"]
    (setup,) = (step for step in JOB["steps"] if step.get("uses", "").startswith("actions/setup-python@"))
    assert setup["with"]["python-version"] == "${{ matrix.python }}"


def test_hosted_ci_runs_what_developers_run_with_the_version_of_its_matrix() -> None:
    (command,) = (shlex.split(step["run"]) for step in JOB["steps"] if "run" in step)
    assert command == ["make", "test", "PYTHON=python"]


def test_hosted_ci_can_only_read_and_runs_nothing_that_moves() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert "permissions" not in JOB
    used = [step["uses"] for step in JOB["steps"] if "uses" in step]
    assert [one for one in used if not re.fullmatch(r"actions/[a-z-]+@v\d+\.\d+\.\d+", one)] == []
    assert used


def test_a_newer_push_ends_the_run_of_an_older_one() -> None:
    assert WORKFLOW["concurrency"]["cancel-in-progress"] is True
    assert "${{ github.ref }}" in WORKFLOW["concurrency"]["group"]


def test_hooks_are_the_gates_of_the_project_from_its_own_environment() -> None:
    (repo,) = HOOKS["repos"]
    assert repo["repo"] == "local"
    assert {hook["language"] for hook in repo["hooks"]} == {"system"}
    commands = [shlex.split(hook["entry"]) for hook in repo["hooks"]]
    assert [" ".join(words[:2]) for words in commands[:2]] == [".venv/bin/ruff format", ".venv/bin/ruff check"]
    assert [words[0] for words in commands[2:]] == [".venv/bin/basedpyright", ".venv/bin/lint-imports"]


def test_the_gate_for_types_sees_what_a_user_writes_and_what_has_to_be_refused() -> None:
    settings = PROJECT["tool"]["basedpyright"]
    user = ROOT / "tests/typing/public_api.py"
    assert "tests" in settings["include"]
    assert not any(user.is_relative_to(ROOT / one) for one in settings["exclude"])
    assert (settings["typeCheckingMode"], settings["reportUnnecessaryTypeIgnoreComment"]) == ("strict", True)
    text = user.read_text("utf-8")
    assert text.count("assert_type(") > 30
    assert text.count("# pyright: ignore[") > 20


@pytest.mark.skipif(shutil.which("make") is None, reason="make isn't installed")
@pytest.mark.parametrize(("set_by_user", "seen"), [({}, "1"), ({"UV_SYSTEM_CERTS": "false"}, "false")])
def test_uv_trusts_the_certificates_that_the_system_trusts_unless_told_otherwise(
    set_by_user: dict[str, str], seen: str
) -> None:
    """Behind a proxy with certificates of its own, pip passes, and uv does only then."""
    env = {name: value for name, value in os.environ.items() if name != "UV_SYSTEM_CERTS"} | set_by_user
    rules = "include Makefile\nshow-certs:\n\t@echo $$UV_SYSTEM_CERTS\n"
    done = subprocess.run(
        ["make", "--no-print-directory", "-f", "-", "show-certs"],  # noqa: S607 - whichever make the developer has
        input=rules,
        env=env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [seen]


def offered() -> list[Path]:
    return [ROOT / "RELEASING.md", *sorted((ROOT / ".github").glob("*.md")), *sorted(FORMS.glob("*.yml"))]


@pytest.mark.parametrize("page", offered(), ids=lambda page: page.name)
def test_commands_in_checklists_and_forms_exist(page: Path) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    for called in re.findall(r"`((?:wisen|make) [^`]+)`", page.read_text("utf-8")):
        program, *arguments = shlex.split(called)
        if program == "make":
            assert arguments[0] in targets
        else:
            parse(arguments)


@pytest.mark.parametrize("form", sorted({*FORMS.glob("*.yml")} - {FORMS / "config.yml"}), ids=lambda form: form.name)
def test_an_issue_form_is_one_that_can_be_filled_in(form: Path) -> None:
    found = yaml.safe_load(form.read_text("utf-8"))
    assert found["name"]
    assert found["description"]
    fields = [field for field in found["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["type"] in ("textarea", "input") and field["attributes"]["label"] for field in fields)
    assert any(field.get("validations", {}).get("required") for field in fields)


def test_each_fragment_of_the_changelog_is_of_a_kind_that_the_changelog_has() -> None:
    kinds = {kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"]}
    fragments = [path.name for path in (ROOT / "changelog.d").glob("*.md")]
    assert [name for name in fragments if not re.fullmatch(rf"\+?[\w-]+\.(?:{'|'.join(kinds)})\.md", name)] == []
